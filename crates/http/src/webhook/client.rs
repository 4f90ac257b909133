//! The client that calls what callers name.

use super::failure::DeliveryError;
use super::lookup::{Guarded, Lookup, Unresolved};
use super::refused::Refused;
use super::rules::Rules;
use super::target::Target;
use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;
use tokio::time::timeout;

/// How much of an answer is read, so that the connection can be used again. Nobody looks at it.
const MOST_ANSWER: usize = 64 << 10;
/// How long making a connection may take, where the rules do not give less to the whole delivery.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a connection is kept for the next delivery. What was checked about it was checked long ago then.
const IDLE: Duration = Duration::from_secs(15);
/// How long a caller who names a webhook waits for the name to be looked up.
const PATIENCE: Duration = Duration::from_secs(2);

/// TLS needs a provider of cryptography, once in a process. A program that embeds the server may have set
/// another one before; then that one stays.
static PROVIDER: Once = Once::new();

/// The one client for callers' URLs. It follows no redirect, uses no proxy, keeps no cookie and says nothing
/// of where it comes from; it connects to addresses that its rules allow and to no others.
#[derive(Clone)]
pub struct Client {
    client: Arc<OnceLock<reqwest::Client>>,
    guarded: Guarded,
    rules: Arc<Rules>,
}

impl Client {
    /// A client with these rules, for names that `lookup` knows.
    #[must_use]
    pub fn new(rules: Rules, lookup: Arc<dyn Lookup>) -> Self {
        let rules = Arc::new(rules);
        let guarded = Guarded::new(lookup, Arc::clone(&rules));
        Self { client: Arc::default(), guarded, rules }
    }

    /// The client behind it, made when there is something to deliver for the first time: reading the
    /// certificates of the machine takes longer than all else that a start of the server does.
    fn client(&self) -> Result<&reqwest::Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let client = reqwest::Client::builder()
            .dns_resolver(self.guarded.clone())
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .https_only(!self.rules.takes_plain())
            .http1_only()
            .timeout(self.rules.timeout)
            .connect_timeout(self.rules.timeout.min(CONNECT))
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(1)
            .user_agent(concat!("a2ad/", env!("CARGO_PKG_VERSION")))
            .build()?;
        // Of two that were made at once one stays.
        Ok(self.client.get_or_init(|| client))
    }

    /// What it may call.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes a URL as a webhook: reads it, and looks its name up so that a caller hears of a private address
    /// at once. A name that cannot be looked up is taken, since it may be known by the time it is needed;
    /// what it leads to then is checked again for each connection.
    ///
    /// # Errors
    /// Why it is refused, for the caller.
    pub async fn admit(&self, text: &str) -> Result<Target, Refused> {
        let target = Target::parse(text, &self.rules)?;
        if let Some(name) = target.url().domain() {
            match timeout(PATIENCE, self.guarded.addresses(name)).await {
                Ok(Err(Unresolved::Refused(refused))) => return Err(refused),
                Ok(Ok(_) | Err(Unresolved::Failed(_))) | Err(_) => {}
            }
        }
        Ok(target)
    }

    /// Posts a body. It has arrived when the receiver answers with success, whatever else it says.
    ///
    /// # Errors
    /// Why it has not, and with that whether to try again.
    pub async fn deliver(
        &self,
        target: &Target,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<StatusCode, DeliveryError> {
        // A target may have been read under other rules. An address in it passes by the look-up of names.
        self.rules.check(target.url()).map_err(DeliveryError::Refused)?;
        let client = self.client().map_err(DeliveryError::unanswered)?;
        let request = client.post(target.url().clone()).headers(headers).body(body);
        let response = request.send().await.map_err(DeliveryError::unanswered)?;
        let status = response.status();
        if !status.is_success() {
            return Err(DeliveryError::declined(&response));
        }
        drain(response).await;
        Ok(status)
    }
}

impl Debug for Client {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Client").field(&self.rules).finish()
    }
}

/// Reads what else is said, up to the limit and within the time of the delivery. Where that is not the end
/// of it, the connection is closed.
async fn drain(mut response: Response) {
    let mut left = MOST_ANSWER;
    while let Ok(Some(piece)) = response.chunk().await {
        match left.checked_sub(piece.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
