//! The server as a whole: where it listens, how it is reached, and how long it waits for whom.

use super::units::{Size, Span};
use a2ad_domain::service::Limits;
use a2ad_http::Cors;
use ipnet::IpNet;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The server as a whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Where callers reach the server, if that is not the address it listens on.
    pub public_url: Option<String>,
    /// The longest body that is read.
    pub max_body: Size,
    /// How long a send waits at most.
    pub wait_limit: Span,
    /// How long runs may go on after the server was told to stop.
    pub drain: Span,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Span,
    /// How long a request's head may take, and a connection may idle.
    pub head_timeout: Span,
    /// The longest head of a request.
    pub max_head: Size,
    /// How long a client may pause within a body.
    pub body_pause: Span,
    /// How long a whole body may take.
    pub body_timeout: Span,
    /// How long a client may take nothing of its answer.
    pub write_timeout: Span,
    /// How many connections are open at once.
    pub max_connections: usize,
    /// How many runs go on at once, of all agents together.
    pub max_running: usize,
    /// What happens to a method of the 1.0 line in a request that names no version.
    pub version_policy: VersionPolicyConfig,
    /// The proxies whose word on where callers reach the server counts, unless `public_url` says it.
    pub trusted_proxies: Vec<IpNet>,
    /// How long cards may be kept by caches.
    pub card_max_age: Span,
    /// The certificate; without it connections are not encrypted.
    pub tls: Option<TlsConfig>,
    /// Which pages in browsers may call.
    pub cors: CorsConfig,
}

/// See [`a2ad_http::VersionPolicy`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionPolicyConfig {
    /// It is refused.
    #[default]
    Strict,
    /// It is served.
    Lenient,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            public_url: None,
            max_body: Size(16 << 20),
            wait_limit: Span(Limits::default().wait),
            drain: Span(Duration::from_secs(30)),
            keep_alive: Span(Duration::from_secs(15)),
            head_timeout: Span(Duration::from_secs(75)),
            max_head: Size(64 << 10),
            body_pause: Span(Duration::from_secs(30)),
            body_timeout: Span(Duration::from_secs(300)),
            write_timeout: Span(Duration::from_secs(120)),
            max_connections: 16_384,
            max_running: 4096,
            version_policy: VersionPolicyConfig::default(),
            trusted_proxies: Vec::new(),
            card_max_age: Span(Duration::from_secs(300)),
            tls: None,
            cors: CorsConfig::default(),
        }
    }
}

/// The server's certificate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// The file of the certificate.
    pub certificate: PathBuf,
    /// The file of its private key.
    pub key: PathBuf,
    /// How long a handshake may take.
    #[serde(default = "handshake_timeout")]
    pub handshake_timeout: Span,
}

const fn handshake_timeout() -> Span {
    Span(Duration::from_secs(10))
}

/// Which pages in browsers may call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorsConfig {
    /// The origins of such pages.
    pub origins: Vec<String>,
}

/// The smallest head that may be asked for: what the parser needs to begin.
const LEAST_HEAD: usize = 8192;

/// Whether paths can be put behind a URL: everybody is shown what comes of that.
fn base(url: &str) -> Result<(), String> {
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err("must begin with https:// or http://".to_owned());
    }
    let read = Url::parse(url).map_err(|error| format!("is no URL: {error}"))?;
    if !read.username().is_empty() || read.password().is_some() {
        return Err("holds a user, whom everybody would be shown".to_owned());
    }
    if read.query().is_some() || read.fragment().is_some() || url.contains(char::is_whitespace) {
        return Err(
            "must end with its path: nothing can be put behind a query or a fragment".to_owned()
        );
    }
    Ok(())
}

impl ServerConfig {
    /// What makes no sense: the table, the key and the reason.
    pub(super) fn check(&self) -> Result<(), (&'static str, &'static str, String)> {
        let wrong = |key, problem: String| Err(("[server]", key, problem));
        if let Some(url) = &self.public_url {
            if let Err(problem) = base(url) {
                return wrong("public_url", format!("{url:?} {problem}"));
            }
            if self.tls.is_some() && !url.starts_with("https://") {
                let problem = format!("{url:?} must begin with https://, as [server.tls] is set");
                return wrong("public_url", problem);
            }
        }
        for (key, value, least) in [
            ("max_body", self.max_body.0, 1),
            ("max_head", self.max_head.0, LEAST_HEAD),
            ("max_connections", self.max_connections, 1),
            ("max_running", self.max_running, 1),
        ] {
            if value < least {
                return wrong(key, format!("must be at least {least}"));
            }
        }
        for (key, span) in [
            ("keep_alive", self.keep_alive),
            ("head_timeout", self.head_timeout),
            ("body_pause", self.body_pause),
            ("body_timeout", self.body_timeout),
            ("write_timeout", self.write_timeout),
        ] {
            if span.0.is_zero() {
                return wrong(key, "must be longer than 0s".to_owned());
            }
        }
        if self.tls.as_ref().is_some_and(|tls| tls.handshake_timeout.0.is_zero()) {
            let problem = "must be longer than 0s".to_owned();
            return Err(("[server.tls]", "handshake_timeout", problem));
        }
        match Cors::new(&self.cors.origins) {
            Ok(_) => Ok(()),
            Err(problem) => Err(("[server.cors]", "origins", problem)),
        }
    }

    /// The pages that may call; `None` where none may.
    pub(crate) fn cors(&self) -> Option<Cors> {
        let some = !self.cors.origins.is_empty();
        some.then(|| Cors::new(&self.cors.origins).ok()).flatten()
    }

    /// Where callers reach the server, which listens on this address: without a slash at the end.
    pub(crate) fn base_url(&self, address: SocketAddr) -> String {
        self.public_url.as_deref().map_or_else(
            || format!("{}://{address}", self.scheme()),
            |url| url.trim_end_matches('/').to_owned(),
        )
    }

    /// How addresses of the server begin.
    pub(crate) const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn paths_can_be_put_behind_the_url_of_a_server() {
        for url in [
            "http://a.example",
            "https://a.example:8443/",
            "https://a.example/x/y",
            "http://[::1]:1",
        ] {
            assert_eq!(base(url), Ok(()), "{url}");
        }
        for (url, why) in [
            ("ftp://a.example", "must begin with"),
            ("a.example", "must begin with"),
            ("https://", "is no URL"),
            ("https://a.example:99999", "is no URL"),
            ("https://a b", "is no URL"),
            ("https://u@a.example", "holds a user"),
            ("https://u:p@a.example", "holds a user"),
            ("https://:p@a.example", "holds a user"),
            ("https://a.example/x?y=1", "must end with its path"),
            ("https://a.example/?", "must end with its path"),
            ("https://a.example#f", "must end with its path"),
            ("https://a.example/x ", "must end with its path"),
            ("https://a.example/\nx", "must end with its path"),
        ] {
            let problem = base(url).expect_err(url);
            assert!(problem.contains(why), "{url}: {problem}");
        }
    }
}
