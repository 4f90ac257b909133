//! Where callers reach the server, as cards say it: never an address that a caller invented.

use crate::routes::Settings;
use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;
use std::net::IpAddr;

/// The other end of the connection that a request came over.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Whose word counts on where callers reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proxies {
    /// Nobody's: the address is configured.
    Fixed,
    /// That of the proxies at these addresses.
    Trusted(Vec<IpNet>),
}

impl Proxies {
    /// Whether requests have to say over which connection they came.
    #[must_use]
    pub fn need_peers(&self) -> bool {
        matches!(self, Self::Trusted(trusted) if !trusted.is_empty())
    }

    fn trust(&self, extensions: &Extensions) -> bool {
        let Self::Trusted(trusted) = self else { return false };
        let peer = extensions.get::<Peer>();
        peer.is_some_and(|Peer(address)| trusted.iter().any(|net| net.contains(address)))
    }
}

/// The address that a card names. What the headers of a request say counts only when it comes from a
/// trusted proxy, as its extensions tell.
pub(crate) fn base_url(
    settings: &Settings,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> String {
    if settings.proxies.trust(extensions)
        && let Some(url) = forwarded(headers)
    {
        return url;
    }
    settings.base_url.clone()
}

/// What a proxy says: scheme, host and the path in front of ours.
pub(crate) fn forwarded(headers: &HeaderMap) -> Option<String> {
    let said = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some(value.split(',').next().unwrap_or("").trim())
    };
    let scheme = said("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme))?;
    let host = said("x-forwarded-host").or_else(|| said("host")).filter(|host| is_host(host))?;
    let prefix = said("x-forwarded-prefix").unwrap_or("").trim_end_matches('/');
    let prefix = Some(prefix).filter(|prefix| prefix.is_empty() || is_path(prefix))?;
    Some(format!("{scheme}://{host}{prefix}"))
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b))
}

fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.contains("//")
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.-_~".contains(&b))
}
