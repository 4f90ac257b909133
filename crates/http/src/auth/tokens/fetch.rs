//! Fetches an issuer's keys.

use super::key_set::KeySet;
use reqwest::Url;
use std::sync::Once;
use std::time::Duration;

/// How long a fetch may take: somebody is waiting for it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may be. Issuers have a handful of keys.
const MAX_BYTES: usize = 1 << 20;

/// Where an issuer's keys are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JwksUrl(Url);

impl JwksUrl {
    /// Checks an address. It must be encrypted, since whoever can change the answer decides who is let in;
    /// a service on the same machine need not be.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url: Url = text.parse().map_err(|error| format!("{text:?} is no URL ({error})"))?;
        let host = url.host_str().unwrap_or("");
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        let near = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        if !(url.scheme() == "https" || url.scheme() == "http" && near) {
            return Err("must begin with https://; http:// is for this machine only".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a name or a password".to_owned());
        }
        Ok(Self(url))
    }
}

/// A client for one address.
pub(super) struct Fetch {
    client: reqwest::Client,
    url: JwksUrl,
}

impl Fetch {
    /// A client that follows no redirects and uses no proxy of the environment: what was configured is what
    /// decides who is let in.
    pub(super) fn new(url: JwksUrl) -> Result<Self, String> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build();
        let client = client.map_err(|error| format!("there can be no HTTP client: {error}"))?;
        Ok(Self { client, url })
    }

    /// The keys as they are now.
    pub(super) async fn keys(&self) -> Result<KeySet, String> {
        let said = |error: reqwest::Error| error.without_url().to_string();
        let mut answer = self.client.get(self.url.0.clone()).send().await.map_err(said)?;
        if !answer.status().is_success() {
            return Err(format!("the answer has status {}", answer.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(said)? {
            if body.len() + piece.len() > MAX_BYTES {
                return Err(format!("the answer is longer than {MAX_BYTES} bytes"));
            }
            body.extend_from_slice(&piece);
        }
        KeySet::from_json(&body).map_err(|problem| format!("the answer {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_an_encrypted_connection_or_from_the_same_machine() {
        for good in [
            "https://issuer.example/keys",
            "http://127.0.0.1:8080/keys",
            "http://[::1]/keys",
            "http://localhost/keys",
        ] {
            assert!(JwksUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://issuer.example/keys",
            "http://10.0.0.1/keys",
            "http://localhost.example/keys",
            "http://127.0.0.1.example/keys",
            "https://me:secret@issuer.example/keys",
            "file:///keys",
            "keys",
            "",
        ] {
            assert!(JwksUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
