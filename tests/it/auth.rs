//! Who is let in: keys, and who may call what.

mod addresses;
mod command;
mod keys;
