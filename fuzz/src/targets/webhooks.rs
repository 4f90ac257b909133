//! URLs and header values that callers give: what is taken leads to a public place and is read the same by
//! everybody.

use a2ad_http::webhook::{HeaderText, MOST_URL, Rules, Target};
use std::net::IpAddr;
use url::{Host, Url};

/// The first line is a URL, the second a token, the third a scheme and credentials.
pub(super) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut lines = text.split('\n');
    let (url, token, rest) = (lines.next(), lines.next(), lines.next());
    target(url.unwrap_or(""));
    if let Some(token) = token
        && let Ok(value) = HeaderText::token(token)
    {
        assert_eq!(value.value().as_bytes(), token.as_bytes());
    }
    let Some((scheme, credentials)) = rest.map(|line| line.split_once(' ').unwrap_or((line, "")))
    else {
        return;
    };
    if let Ok(value) = HeaderText::authorization(scheme, Some(credentials)) {
        assert_eq!(value.value().as_bytes(), format!("{scheme} {credentials}").as_bytes());
    }
}

fn target(text: &str) {
    let strict = Rules::default();
    let loose = Rules { allow_private: true, ..Rules::default() };
    let Ok(target) = Target::parse(text, &strict) else {
        // What is taken nearby only is refused for where it leads.
        let _ = Target::parse(text, &loose);
        return;
    };
    assert!(Target::parse(text, &loose).is_ok(), "what is taken strictly is taken loosely");
    assert!(text.len() <= MOST_URL);
    let shown = target.as_str();
    assert_eq!(Target::parse(shown, &strict).as_ref(), Ok(&target), "{shown}");
    assert!(!shown.contains(['#', ' ', '\n']), "{shown}");
    let rest = shown.strip_prefix("https://").unwrap_or_else(|| panic!("no HTTPS: {shown}"));
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    assert!(!authority.contains(['@', '\\', '%']), "{shown}");
    assert!(shown.starts_with(&target.origin()));
    assert!(!format!("{target:?}").contains('?'), "a secret of the receiver");
    let url = Url::parse(shown).expect("a URL");
    assert!([Some(443), Some(8443)].contains(&url.port_or_known_default()), "{shown}");
    match url.host().expect("a host") {
        Host::Domain(name) => {
            assert!(name.contains('.'), "{shown}");
            let name = name.trim_matches(['[', ']', '.']);
            assert!(name.parse::<IpAddr>().is_err(), "an address that is a name: {shown}");
        }
        Host::Ipv4(address) => {
            let inside = address.is_private() || address.is_loopback() || address.is_link_local();
            assert!(!inside && !address.is_multicast() && !address.is_unspecified(), "{shown}");
        }
        Host::Ipv6(address) => {
            assert!(!address.is_loopback() && !address.is_unspecified(), "{shown}");
            assert!(!address.is_unicast_link_local() && !address.is_unique_local(), "{shown}");
            assert!(!address.is_multicast() && address.to_ipv4().is_none(), "{shown}");
        }
    }
}
