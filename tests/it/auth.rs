//! Who is let in: keys and tokens, and who may call what.

mod addresses;
mod bad_tokens;
mod command;
mod issuer;
mod keys;
mod matrix;
mod published;
mod sentinels;
mod tokens;
