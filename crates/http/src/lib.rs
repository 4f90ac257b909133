//! The A2A wire. Raw bytes come in, a dialect turns them into a call, the domain answers, and the dialect
//! writes bytes. Only this crate knows JSON-RPC, HTTP and the shapes of the wire.
//!
//! Open `rpc/mod.rs` first, then `call/mod.rs`: every call goes through it, whatever it came over.

pub mod admin;
mod auth;
mod body;
mod call;
mod card;
mod dialect;
mod edge;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod greeting;
mod json;
mod live;
mod paging;
mod probes;
mod reply;
mod rest;
mod routes;
mod rpc;
mod serve;
mod signing;
mod tls;
pub mod webhook;

pub use auth::{
    Access, Algorithm, AnyOf, Authenticator, Caller, Certificates, IssuerKeys, JwksUrl, Key,
    KeyFile, KeyRecord, Keys, Method, Scheme, TokenSettings, Tokens, Unauthenticated,
};
pub use axum::Router;
/// The head of a request, which an [`Authenticator`] reads.
pub use axum::http::request::Parts;
pub use body::BodyLimits;
pub use call::MessageLimits;
pub use card::{CardMode, CardSigner, Peer, Proxies};
pub use edge::{Allowance, Cors, Limit, Rate, Tally};
pub use greeting::first_call;
pub use live::Live;
pub use probes::Vitals;
pub use routes::{Front, Settings, router};
pub use rpc::VersionPolicy;
pub use serve::{Connections, serve};
pub use signing::{PublicKeys, SigningAlgorithm, SigningKey};
pub use tls::{Tls, TlsFiles};
