//! What an operator allows callers' URLs to be.

use super::public::is_public;
use super::refused::Refused;
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// Names that lead to machines nearby, wherever they are looked up.
const NEARBY: [&str; 9] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "lan",
    "home.arpa",
];

/// Where deliveries may go, and how long one may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// For development: private addresses, names nearby, any port, and plain HTTP.
    pub allow_private: bool,
    /// Plain HTTP, with its own port 80 beside those of `ports`.
    pub allow_http: bool,
    /// The ports that may be called.
    pub ports: Vec<u16>,
    /// How long a delivery may take, from looking up the name to the end of the answer.
    pub timeout: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            allow_private: false,
            allow_http: false,
            ports: vec![443, 8443],
            timeout: Duration::from_secs(10),
        }
    }
}

impl Rules {
    /// Whether a URL that could be read may be called, as far as it can be told without looking up its name.
    pub(super) fn check(&self, url: &Url) -> Result<(), Refused> {
        let plain = url.scheme() == "http";
        if !(url.scheme() == "https" || plain && self.takes_plain()) {
            return Err(if self.takes_plain() { Refused::SchemeOfWeb } else { Refused::Scheme });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::Credentials);
        }
        if url.fragment().is_some() {
            return Err(Refused::Fragment);
        }
        let port = url.port_or_known_default().ok_or(Refused::Port)?;
        if !(self.allow_private || self.ports.contains(&port) || plain && port == 80) {
            return Err(Refused::Port);
        }
        match url.host().ok_or(Refused::Unreadable)? {
            Host::Domain(name) => self.check_name(name),
            Host::Ipv4(address) => self.check_address(address.into()),
            Host::Ipv6(address) => self.check_address(address.into()),
        }
    }

    /// Whether an address may be connected to.
    pub(super) fn check_address(&self, address: IpAddr) -> Result<(), Refused> {
        if self.allow_private || is_public(address) { Ok(()) } else { Err(Refused::NotPublic) }
    }

    /// Whether plain HTTP is spoken at all.
    pub(super) fn takes_plain(&self) -> bool {
        self.allow_private || self.allow_http
    }

    /// Whether a name may be looked up. What it leads to is checked then; this only spares the look-up.
    fn check_name(&self, name: &str) -> Result<(), Refused> {
        let sound = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        if !name.bytes().all(sound) {
            return Err(Refused::Unreadable);
        }
        let name = name.trim_end_matches('.');
        let ends_in = |end: &str| {
            name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        // A name without a dot is completed by the machine's own search list.
        if !self.allow_private && (!name.contains('.') || NEARBY.into_iter().any(ends_in)) {
            return Err(Refused::NotPublic);
        }
        Ok(())
    }
}
