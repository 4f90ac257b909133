//! The edge of the server: what connections, heads and pages in browsers may do before a call is read.

mod announced;
mod answers;
mod callers;
mod certificates;
mod client_certificates;
pub(crate) mod connections;
mod pages;
mod sizes;
mod tls;
