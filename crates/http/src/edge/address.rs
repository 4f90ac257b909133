//! Which address a request comes from, for limits where callers do not say who they are.

use crate::card::Peer;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr};

/// How much of an address of version 6 tells networks apart; what follows, a network gives out as it likes.
const NETWORK: u32 = 64;

/// The address that counts: that of the other end of the connection, or, where that is a trusted proxy, the
/// last one in its list that is none.
pub(super) fn of(head: &Parts, trusted: &[IpNet]) -> Option<IpAddr> {
    let Peer(peer) = head.extensions.get::<Peer>()?;
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    if !is_trusted(peer) {
        return Some(network(*peer));
    }
    // Proxies add to the end, so what is before an address that nobody vouches for may be invented.
    let mut behind = *peer;
    for address in forwarded(&head.headers).into_iter().rev() {
        let Some(address) = address else { break };
        behind = address;
        if !is_trusted(&address) {
            break;
        }
    }
    Some(network(behind))
}

fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let values = headers.get_all("x-forwarded-for").into_iter();
    let values = values.map(|value| value.to_str().unwrap_or("?")).flat_map(|it| it.split(','));
    values.map(|text| text.trim().parse().ok().map(|it: IpAddr| it.to_canonical())).collect()
}

fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let kept = u128::MAX << (Ipv6Addr::BITS - NETWORK);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & kept))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn address(peer: &str, said: &[&str]) -> String {
        let trusted = ["10.0.0.0/8", "fd00::/8"].map(|net| net.parse().expect("a network"));
        let mut request = Request::new(());
        request.extensions_mut().insert(Peer(peer.parse().expect("an address")));
        for one in said {
            let value = one.parse().expect("a value");
            request.headers_mut().append("x-forwarded-for", value);
        }
        of(&request.into_parts().0, &trusted).expect("an address").to_string()
    }

    #[test]
    fn only_a_trusted_proxy_says_whose_request_it_passes_on() {
        for (peer, said, counts) in [
            ("192.0.2.1", &[][..], "192.0.2.1"),
            ("192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", &["198.51.100.7, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("fd00::1", &["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::"),
            ("2001:db8:1:2::99", &[], "2001:db8:1:2::"),
        ] {
            assert_eq!(address(peer, said), counts, "{peer} {said:?}");
        }
    }
}
