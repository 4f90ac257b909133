//! Starts servers, talks to them, and makes sure that nothing is left when a test ends.

pub(crate) mod agents;
pub(crate) mod binding;
pub(crate) mod caller;
pub(crate) mod chance;
mod events;
mod folder;
mod place;
mod raw;
pub(crate) mod receiver;
pub(crate) mod rpc;
mod server;
pub(crate) mod template;

/// A client without proxies. The server's own client has set the process's cryptography, or this does.
pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

pub(crate) use events::{Event, Events};
pub(crate) use folder::Folder;
pub(crate) use place::Place;
pub(crate) use raw::{Answer, Raw};
pub(crate) use server::{HeaderOwner, Reply, TestServer};
