//! Who is let in to do what operators do: somebody who shows a key, on this machine unless said otherwise.

use crate::auth::{Digest, Refused, Scheme, key_in};
use crate::card::Peer;
use crate::reply::{self, Reply};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use std::net::IpAddr;
use std::time::Duration;

/// The shortest key that counts, in characters: one that people make up can be guessed, and guessing is slowed
/// down only where a rate is set.
pub const MIN_KEY: usize = 32;

/// Somebody who may do everything here.
pub struct Operator {
    /// What is written down of who it was.
    pub name: String,
    /// The key as it is now; `None` while it cannot be read.
    pub key: Box<dyn Fn() -> Option<String> + Send + Sync>,
}

/// Lets operators in.
pub struct Gate {
    /// Those that there are.
    pub operators: Vec<Operator>,
    /// Whether they may come from other machines.
    pub remote: bool,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barred {
    Remote,
    NoKey,
    /// And there may be one more attempt only after so long.
    TooOften(Duration),
}

/// What a proxy adds to what it passes on. Who comes over a proxy on this machine is not on this machine.
const FORWARDED: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

impl Gate {
    /// The name of whoever sends a request with these headers. All keys are compared, each in a time that does
    /// not depend on where it differs.
    pub(super) fn admit(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Result<&str, Barred> {
        let near = peer.is_some_and(|peer| peer.to_canonical().is_loopback())
            && !FORWARDED.iter().any(|name| headers.contains_key(*name));
        if !self.remote && !near {
            return Err(Barred::Remote);
        }
        let shown = key_in(headers).ok_or(Barred::NoKey)?;
        let shown = Digest::of(shown);
        let mut found = None;
        for operator in &self.operators {
            let key = (operator.key)().filter(|key| key.chars().count() >= MIN_KEY);
            if key.is_some_and(|key| Digest::of(&key) == shown) {
                found = Some(operator.name.as_str());
            }
        }
        found.ok_or(Barred::NoKey)
    }
}

/// The other end of the connection.
pub(super) fn peer(head: &Parts) -> Option<IpAddr> {
    head.extensions.get::<Peer>().map(|Peer(address)| *address)
}

pub(super) fn refuse(barred: Barred) -> Reply {
    match barred {
        Barred::NoKey => reply::refused(Refused::Unauthenticated, &[Scheme::Key]),
        Barred::Remote => {
            let message = "Operators are let in from this machine only; see admin.remote";
            reply::failure(StatusCode::FORBIDDEN, "PERMISSION_DENIED", message)
        }
        Barred::TooOften(pause) => reply::refused(Refused::TooOften(pause), &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn gate(remote: bool) -> Gate {
        let operator = |name: &str, key: Option<&'static str>| Operator {
            name: name.to_owned(),
            key: Box::new(move || key.map(str::to_owned)),
        };
        let operators =
            vec![operator("ann", Some(KEY)), operator("bob", None), operator("eve", Some("short"))];
        Gate { operators, remote }
    }

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (axum::http::HeaderName::from_static(name), value.parse().expect("a value"))
        };
        lines.iter().map(pair).collect()
    }

    #[test]
    fn a_key_lets_its_operator_in_and_nothing_else_does() {
        let peer = "127.0.0.1".parse().ok();
        for (lines, admitted) in [
            (&[("x-api-key", KEY)][..], Ok("ann")),
            (&[], Err(Barred::NoKey)),
            (&[("x-api-key", "0123456789abcdef0123456789abcdeF")], Err(Barred::NoKey)),
            (&[("x-api-key", "short")], Err(Barred::NoKey)),
            (&[("x-api-key", "")], Err(Barred::NoKey)),
            (&[("authorization", KEY)], Err(Barred::NoKey)),
        ] {
            assert_eq!(gate(false).admit(peer, &headers(lines)), admitted, "{lines:?}");
        }
    }

    #[test]
    fn who_comes_from_elsewhere_or_over_a_proxy_is_not_let_in_unless_that_is_meant() {
        for (peer, line, near) in [
            (Some("127.0.0.1"), None, true),
            (Some("127.8.0.1"), None, true),
            (Some("::1"), None, true),
            (Some("::ffff:127.0.0.1"), None, true),
            (Some("192.0.2.7"), None, false),
            (Some("::ffff:192.0.2.7"), None, false),
            (Some("2001:db8::1"), None, false),
            (None, None, false),
            (Some("127.0.0.1"), Some("x-forwarded-for"), false),
            (Some("127.0.0.1"), Some("forwarded"), false),
            (Some("::1"), Some("via"), false),
        ] {
            let address = peer.map(|peer| peer.parse().expect("an address"));
            let mut lines = vec![("x-api-key", KEY)];
            lines.extend(line.map(|name| (name, "x")));
            let expected = if near { Ok("ann") } else { Err(Barred::Remote) };
            let lines = headers(&lines);
            assert_eq!(gate(false).admit(address, &lines), expected, "{peer:?} {line:?}");
            assert_eq!(gate(true).admit(address, &lines), Ok("ann"), "{peer:?} {line:?}");
        }
    }
}
