//! The 1.0 line over JSON-RPC and HTTP+JSON, HTTP+JSON of the 0.3 line, and what lies between the lines:
//! versions, extensions, and tasks that are opened in one and ended in the other.

mod alike;
mod bad_input;
mod callers;
mod cards;
mod client;
mod conformance;
mod cross_lines;
mod errors;
mod extensions;
mod golden;
mod input;
mod list;
mod negotiation;
mod output;
mod rest;
pub(crate) mod schema;
mod streams;

pub(crate) use conformance::tests;
