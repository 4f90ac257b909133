//! Reads the one credential that a request shows.

use super::{Authenticator, Caller, ClientSubject, Scheme, Unauthenticated};
use async_trait::async_trait;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use std::sync::Arc;

/// Knows callers by one kind of credential.
#[async_trait]
pub trait Method: Send + Sync {
    /// The kind.
    fn scheme(&self) -> Scheme;

    /// Who shows this credential: the value of the scheme's header, without the scheme's name, or the subject
    /// of a certificate.
    async fn caller(&self, credential: &str) -> Option<Caller>;
}

/// Takes a credential of any of its kinds.
pub struct AnyOf {
    methods: Vec<Arc<dyn Method>>,
    schemes: Vec<Scheme>,
}

impl AnyOf {
    /// Takes what any of these methods takes.
    #[must_use]
    pub fn new(methods: Vec<Arc<dyn Method>>) -> Self {
        let schemes = methods.iter().map(|method| method.scheme()).collect();
        Self { methods, schemes }
    }
}

#[async_trait]
impl Authenticator for AnyOf {
    fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    /// A request that shows two credentials is refused, whatever they are: nothing here has to decide which
    /// of them counts, so no proxy in front can have decided otherwise.
    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated> {
        let subject = head.extensions.get::<ClientSubject>();
        let shows = |method: &&Arc<dyn Method>| match header(method.scheme()) {
            Some(header) => head.headers.contains_key(header),
            None => subject.is_some(),
        };
        let mut methods = self.methods.iter().filter(shows);
        let (Some(method), None) = (methods.next(), methods.next()) else {
            return Err(Unauthenticated);
        };
        let scheme = method.scheme();
        let credential = match header(scheme) {
            Some(header) => shown_in(&head.headers, header, scheme),
            None => subject.map(ClientSubject::as_str),
        };
        method.caller(credential.ok_or(Unauthenticated)?).await.ok_or(Unauthenticated)
    }
}

/// The header that a credential of this kind is in; `None` where the connection shows it.
fn header(scheme: Scheme) -> Option<HeaderName> {
    match scheme {
        Scheme::Key => Some(HeaderName::from_static(super::scheme::KEY_HEADER)),
        Scheme::Bearer | Scheme::Jwt => Some(AUTHORIZATION),
        Scheme::Mtls => None,
    }
}

/// The key that a request shows.
pub(crate) fn key_in(headers: &HeaderMap) -> Option<&str> {
    shown_in(headers, HeaderName::from_static(super::scheme::KEY_HEADER), Scheme::Key)
}

/// The credential, when there is exactly one and it is a single word of visible ASCII.
fn shown_in(headers: &HeaderMap, header: HeaderName, scheme: Scheme) -> Option<&str> {
    let mut values = headers.get_all(header).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let value = value.to_str().ok()?;
    let credential = match scheme {
        Scheme::Key | Scheme::Mtls => value,
        Scheme::Bearer | Scheme::Jwt => {
            // Names of schemes have no case (RFC 9110 §11.1).
            let (name, token) = value.split_once(' ')?;
            name.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))?
        }
    };
    let word = !credential.is_empty() && credential.bytes().all(|byte| byte.is_ascii_graphic());
    word.then_some(credential)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn shown(scheme: Scheme, values: &[&[u8]]) -> Option<String> {
        let header = header(scheme).expect("a header");
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(&header, HeaderValue::from_bytes(value).expect("a value"));
        }
        shown_in(&headers, header, scheme).map(str::to_owned)
    }

    #[test]
    fn a_credential_is_one_word_in_one_header() {
        for (scheme, values, word) in [
            (Scheme::Key, &[&b"abc"[..]][..], Some("abc")),
            (Scheme::Key, &[b""], None),
            (Scheme::Key, &[b"a bc"], None),
            (Scheme::Key, &[b"a\tbc"], None),
            (Scheme::Key, &[b"\xc3\xa9"], None),
            (Scheme::Key, &[b"abc", b"abc"], None),
            (Scheme::Jwt, &[b"Bearer abc"], Some("abc")),
            (Scheme::Jwt, &[b"bearer abc"], Some("abc")),
            (Scheme::Jwt, &[b"BEARER  abc"], Some("abc")),
            (Scheme::Jwt, &[b"Bearer"], None),
            (Scheme::Jwt, &[b"Bearer "], None),
            (Scheme::Jwt, &[b"Bearer a bc"], None),
            (Scheme::Jwt, &[b"Bearerabc"], None),
            (Scheme::Jwt, &[b"Basic abc"], None),
            (Scheme::Jwt, &[b"Bearer abc", b"Bearer abc"], None),
        ] {
            let seen = shown(scheme, values);
            assert_eq!(seen.as_deref(), word, "{scheme:?} {values:?}");
        }
    }
}
