//! Which pages in browsers may call (Fetch standard §3.2). Callers show who they are in headers that a page
//! sets itself, never by what a browser adds, so pages are not allowed to have credentials added.

use crate::reply::Reply;
use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

/// What calls need to send: what they are, who sends them, in which version, and from where a stream goes on.
const SENT: &str = "content-type, accept, authorization, x-api-key, a2a-version, a2a-extensions, \
                    x-a2a-extensions, last-event-id";

/// What callers need to read: how to be let in, when to come again, which extensions are in force, and which
/// form of a card this is.
const READ: &str = "www-authenticate, retry-after, a2a-extensions, x-a2a-extensions, etag";

/// The pages that may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cors {
    /// Whether they are all pages.
    any: bool,
    origins: Vec<HeaderValue>,
}

impl Cors {
    /// Pages of these origins: `https://app.example`, with a port where it is not the usual one; `*` for all.
    ///
    /// # Errors
    /// What is no origin, and why.
    pub fn new(origins: &[String]) -> Result<Self, String> {
        let mut cors = Self { any: false, origins: Vec::new() };
        for origin in origins {
            if origin == "*" {
                cors.any = true;
            } else {
                cors.origins.push(checked(origin)?);
            }
        }
        Ok(cors)
    }

    /// The origin of a request, if its pages may call.
    pub(super) fn origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut said = headers.get_all(ORIGIN).iter();
        let (Some(origin), None) = (said.next(), said.next()) else { return None };
        (self.any || self.origins.contains(origin)).then(|| origin.clone())
    }

    /// Whether a browser asks what a page may do before it lets the page do it.
    pub(super) fn asks_first(method: &Method, headers: &HeaderMap) -> bool {
        method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
    }

    /// The answer to such a question.
    pub(super) fn permission() -> Reply {
        const PERMISSION: [(HeaderName, &str); 3] = [
            (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, DELETE"),
            (ACCESS_CONTROL_ALLOW_HEADERS, SENT),
            (ACCESS_CONTROL_MAX_AGE, "600"),
        ];
        let mut reply = Response::new(Body::empty());
        *reply.status_mut() = StatusCode::NO_CONTENT;
        for (name, value) in PERMISSION {
            reply.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        reply
    }

    /// Says on an answer whether the page may read it. That it depends on the page is said to caches in any
    /// case, or a page would be given what was kept for another one.
    pub(super) fn mark(origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
        }
    }
}

/// An origin as browsers write it (RFC 6454 §6.2): compared to the letter, so it has to be written so.
fn checked(origin: &str) -> Result<HeaderValue, String> {
    let fix = "write it as browsers do, for example \"https://app.example\"";
    let wrong = || format!("{origin:?} is no origin; {fix}");
    let url: url::Url = origin.parse().map_err(|_| wrong())?;
    let known = ["http", "https"].contains(&url.scheme());
    // A star within an origin is not a pattern to browsers, and must not look like one here.
    if !known || origin.contains('*') || url.origin().ascii_serialization() != origin {
        return Err(wrong());
    }
    HeaderValue::from_str(origin).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for good in ["https://app.example", "http://localhost:3000", "https://[::1]:8443", "*"] {
            assert!(Cors::new(&[good.to_owned()]).is_ok(), "{good}");
        }
        for bad in [
            "app.example",
            "https://app.example/",
            "https://App.example",
            "https://app.example:443",
            "https://*.example",
            "https://me@app.example",
            "null",
            "file:///x",
            "",
        ] {
            let problem = Cors::new(&[bad.to_owned()]).expect_err(bad);
            assert!(problem.contains("https://app.example"), "{problem}");
        }
    }

    #[test]
    fn only_a_listed_origin_counts_and_only_when_it_is_the_only_one() {
        let listed = ["https://app.example".to_owned(), "http://localhost:3000".to_owned()];
        let cors = Cors::new(&listed).expect("origins");
        let origin = |said: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for one in said {
                headers.append(ORIGIN, HeaderValue::from_static(one));
            }
            cors.origin(&headers)
        };
        assert_eq!(origin(&["https://app.example"]).expect("listed"), "https://app.example");
        for other in [
            &[][..],
            &["null"],
            &["*"],
            &["https://app.example."],
            &["https://app.example.evil.example"],
            &["http://app.example"],
            &["https://app.example:8443"],
            &["https://app.example", "https://evil.example"],
        ] {
            assert_eq!(origin(other), None, "{other:?}");
        }
    }
}
