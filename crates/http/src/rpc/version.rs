//! Which line of the protocol a request is in (specification 1.0 §3.6). The names of the lines' methods
//! have nothing in common, so the method says; the version has to agree.

use crate::call::Fault;
use crate::dialect::v1::V1;
use crate::dialect::v03::{self, V03};
use crate::dialect::{Dialect, Method};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};

/// What happens to a method of the 1.0 line in a request that names no version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionPolicy {
    /// It is refused: no version means 0.3 (specification 1.0 §3.6.2).
    #[default]
    Strict,
    /// It is served.
    Lenient,
}

/// The version that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// None, which means 0.3.
    Nothing,
    Line03,
    Line1,
    /// One that is not served.
    Other(String),
}

/// A line of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// 0.3
    Old,
    /// 1.0
    New,
}

const NAME: &str = "a2a-version";

impl Asked {
    /// The version by the header, and without one by the query.
    pub(crate) fn by(head: &Parts) -> Self {
        Self::of_headers(&head.headers, &head.uri)
    }

    /// The version by these headers, and without one by the query of this address.
    pub(crate) fn of_headers(headers: &HeaderMap, uri: &Uri) -> Self {
        let header = headers.get(NAME).map(|value| value.to_str().unwrap_or("?").trim());
        // An empty header says as little as none.
        let header = header.filter(|text| !text.is_empty());
        let query = || {
            let pairs = uri.query().unwrap_or("").split('&');
            pairs
                .filter_map(|pair| pair.split_once('='))
                .find_map(|(name, value)| name.eq_ignore_ascii_case(NAME).then_some(value))
        };
        Self::of(header.or_else(query).unwrap_or("").trim())
    }

    fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self::Nothing;
        }
        let numbers: Vec<Option<u32>> = text.split('.').map(|number| number.parse().ok()).collect();
        // The patch does not count.
        match numbers[..] {
            [Some(0), Some(3)] | [Some(0), Some(3), Some(_)] => Self::Line03,
            [Some(1), Some(0)] | [Some(1), Some(0), Some(_)] => Self::Line1,
            _ => Self::Other(text.chars().take(64).collect()),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Line03 => "0.3".to_owned(),
            Self::Line1 => "1.0".to_owned(),
            Self::Other(text) => text.clone(),
        }
    }
}

/// The line and the method of a request.
pub(super) fn choose(
    asked: &Asked,
    name: &str,
    policy: VersionPolicy,
) -> Result<(Line, Method), Fault> {
    let version = || Err(Fault::Version { requested: asked.text() });
    let lenient = *asked == Asked::Nothing && policy == VersionPolicy::Lenient;
    match (asked, V03.method(name), V1.method(name)) {
        (Asked::Other(_), _, _) => version(),
        (Asked::Nothing | Asked::Line03, Some(method), _) => Ok((Line::Old, method)),
        (Asked::Line1, _, Some(method)) => Ok((Line::New, method)),
        (_, None, Some(method)) if lenient => Ok((Line::New, method)),
        (Asked::Line1, Some(_), None) | (Asked::Nothing | Asked::Line03, None, Some(_)) => {
            version()
        }
        (_, None, None) => Err(Fault::UnknownMethod { successor: v03::successor(name) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_major_and_minor_count() {
        for (text, asked) in [
            ("", Asked::Nothing),
            ("1.0", Asked::Line1),
            ("1.0.7", Asked::Line1),
            ("0.3", Asked::Line03),
            ("0.3.0", Asked::Line03),
            ("1", Asked::Other("1".to_owned())),
            ("1.1", Asked::Other("1.1".to_owned())),
            ("1.0.x", Asked::Other("1.0.x".to_owned())),
            ("99.0", Asked::Other("99.0".to_owned())),
        ] {
            assert_eq!(Asked::of(text), asked, "{text}");
        }
    }
}
