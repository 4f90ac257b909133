//! Starts servers, talks to them, and makes sure that nothing is left when a test ends.

pub(crate) mod agents;
pub(crate) mod caller;
mod events;
mod raw;
pub(crate) mod rpc;
mod server;
pub(crate) mod template;

pub(crate) use events::{Event, Events};
pub(crate) use raw::{Answer, Raw};
pub(crate) use server::{HeaderOwner, Reply, TestServer};
