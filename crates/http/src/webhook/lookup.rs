//! From a name to addresses that may be connected to. The client is handed the very addresses that were
//! checked here, so a name that leads elsewhere a moment later leads nobody there.

use super::refused::Refused;
use super::rules::Rules;
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::{Semaphore, oneshot};

/// How many names are looked up at once.
const LOOKUPS: usize = 32;

/// Where addresses of names come from.
pub trait Lookup: Send + Sync {
    /// All addresses of a name, in the order in which they are to be tried.
    fn addresses<'l>(&'l self, name: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver.
#[derive(Debug)]
pub struct SystemLookup {
    /// Names belong to callers, and their servers may be slow on purpose: there are only so many look-ups.
    places: Arc<Semaphore>,
}

impl Default for SystemLookup {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(LOOKUPS)) }
    }
}

impl Lookup for SystemLookup {
    fn addresses<'l>(&'l self, name: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>> {
        let places = Arc::clone(&self.places);
        let name = name.to_owned();
        Box::pin(async move {
            let place = places.acquire_owned().await.map_err(io::Error::other)?;
            let (found, finding) = oneshot::channel();
            // A thread of its own and none of the runtime's: the runtime waits for those at its end, and the
            // system takes its time with a server that does not answer. The place is the thread's, since the
            // look-up goes on when nobody waits for it any more.
            std::thread::Builder::new().name("lookup".to_owned()).spawn(move || {
                let addresses = (name.as_str(), 0).to_socket_addrs();
                let _ = found.send(addresses.map(|all| all.map(|one| one.ip()).collect()));
                drop(place);
            })?;
            finding.await.map_err(io::Error::other)?
        })
    }
}

/// Looks up names for the client, and lets through what the rules allow.
#[derive(Clone)]
pub(super) struct Guarded {
    lookup: Arc<dyn Lookup>,
    rules: Arc<Rules>,
}

/// Why there is no address to connect to.
#[derive(Debug)]
pub(super) enum Unresolved {
    Refused(Refused),
    Failed(io::Error),
}

impl Guarded {
    pub(super) fn new(lookup: Arc<dyn Lookup>, rules: Arc<Rules>) -> Self {
        Self { lookup, rules }
    }

    /// The addresses of a name. One that may not be connected to spoils them all: whoever owns the name mixes
    /// them on purpose, so that a client that tries one after the other ends up there.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Unresolved> {
        let addresses = self.lookup.addresses(name).await.map_err(Unresolved::Failed)?;
        if addresses.is_empty() {
            return Err(Unresolved::Failed(io::Error::other("the name has no address")));
        }
        for address in &addresses {
            self.rules.check_address(*address).map_err(Unresolved::Refused)?;
        }
        Ok(addresses)
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guarded = self.clone();
        Box::pin(async move {
            let addresses = guarded.addresses(name.as_str()).await?;
            // The client puts the port of the URL in.
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

impl Display for Unresolved {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(formatter),
            Self::Failed(error) => write!(formatter, "the name cannot be looked up: {error}"),
        }
    }
}

/// It has no source: its text says all of it, once.
impl std::error::Error for Unresolved {}
