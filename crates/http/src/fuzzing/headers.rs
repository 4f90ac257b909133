//! The headers that are read for what they say: the version, the last event, media types, forwarded addresses.

use crate::call::last_event;
use crate::card::origin::forwarded;
use crate::dialect::shape::{LINE_1, PLAIN};
use crate::rpc::{Asked, is_json};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use url::Url;

/// Lines of headers as they come, and among them perhaps one that is an address: `/path?query`.
pub fn headers(input: &[u8]) {
    let (mut headers, mut uri) = (HeaderMap::new(), Uri::from_static("/"));
    for line in input.split(|byte| *byte == b'\n') {
        if let Ok(address) = Uri::try_from(line)
            && line.starts_with(b"/")
        {
            uri = address;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    version(&headers, &uri);
    event(&headers);
    is_json(&headers);
    assert!(headers.contains_key(CONTENT_TYPE) || is_json(&headers), "no type is JSON");
    if let Some(base) = forwarded(&headers) {
        address(&base);
    }
}

/// A version is understood when it begins with the numbers of a line.
fn version(headers: &HeaderMap, uri: &Uri) {
    let asked = Asked::of_headers(headers, uri);
    let text = asked.text();
    assert!(text.chars().count() <= 64, "the answer tells it back");
    // What is told back means the same, unless it was cut.
    let mut told = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&text)
        && value.to_str().is_ok()
        && text.chars().count() < 64
    {
        told.insert("a2a-version", value);
        assert_eq!(Asked::of_headers(&told, &Uri::from_static("/")), asked);
    }
}

/// The last event is a number, and the 1.0 line opens with the task all the same.
fn event(headers: &HeaderMap) {
    let old = last_event(headers, &PLAIN);
    let new = last_event(headers, &LINE_1);
    assert_eq!(old.map(|resume| resume.seen), new.map(|resume| resume.seen));
    assert!(old.is_none_or(|resume| !resume.snapshot) && new.is_none_or(|resume| resume.snapshot));
    let said = headers.get("last-event-id").map(HeaderValue::as_bytes).unwrap_or_default();
    let digits = said.trim_ascii();
    if let Some(resume) = old {
        let digits = digits.strip_prefix(b"+").unwrap_or(digits);
        let number = std::str::from_utf8(digits).expect("digits");
        let number = number.trim_start_matches('0');
        let seen = resume.seen.0.to_string();
        assert_eq!(if number.is_empty() { "0" } else { number }, seen);
    } else {
        let plain = !digits.is_empty() && digits.len() < 19;
        assert!(!(plain && digits.iter().all(u8::is_ascii_digit)), "{digits:?} is a number");
    }
}

/// What a card says is an address that its readers understand, of the host that was named.
fn address(base: &str) {
    assert!(base.starts_with("http://") || base.starts_with("https://"), "{base}");
    assert!(!base.contains(['"', '<', '>', '\\', ' ', '?', '#', '@']), "{base}");
    if let Ok(url) = Url::parse(base) {
        assert!(url.username().is_empty() && url.password().is_none(), "{base}");
        assert!(url.query().is_none() && url.fragment().is_none(), "{base}");
    }
}
