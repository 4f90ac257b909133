//! The keys that an issuer publishes: kept for a while, fetched again when they are old or when a token names
//! one that is not among them.

use super::fetch::{Fetch, JwksUrl};
use super::key_set::KeySet;
use a2ad_domain::Timestamp;
use a2ad_domain::ports::Clock;
use jsonwebtoken::{Algorithm, DecodingKey};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The keys at an address.
pub(super) struct Published {
    clock: Arc<dyn Clock>,
    max_age: Duration,
    pause: Duration,
    at: Arc<Place>,
    /// Held while keys are fetched, so that one fetch serves everybody who waits. The fetch itself holds it
    /// and not the request that began it: a caller who leaves must not keep others from the keys.
    turn: Arc<tokio::sync::Mutex<()>>,
}

struct Place {
    fetch: Fetch,
    /// Nothing panics while it is locked, and nobody waits for anything else.
    known: Mutex<Known>,
}

struct Known {
    keys: Arc<KeySet>,
    fetched: Option<Timestamp>,
    tried: Option<Timestamp>,
}

impl Published {
    /// Keys that are at most `max_age` old while the address answers, with a `pause` between two fetches.
    pub(super) fn new(
        url: JwksUrl,
        max_age: Duration,
        pause: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let known = Known { keys: Arc::new(KeySet::empty()), fetched: None, tried: None };
        let at = Arc::new(Place { fetch: Fetch::new(url)?, known: Mutex::new(known) });
        Ok(Self { clock, max_age, pause, at, turn: Arc::default() })
    }

    /// The key that a token names. While the address does not answer, the keys that are known are good, and
    /// only those.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        if let Some(key) = self.fresh(id, algorithm) {
            return Some(key);
        }
        let turn = self.turn.clone().lock_owned().await;
        // Somebody else may have fetched them in the meantime.
        if let Some(key) = self.fresh(id, algorithm) {
            return Some(key);
        }
        if self.may_try() {
            let (at, clock) = (self.at.clone(), self.clock.clone());
            let fetch = tokio::spawn(async move {
                let _turn = turn;
                at.fetch(&*clock).await;
            });
            let _ = fetch.await;
        }
        self.at.known().keys.find(id, algorithm)
    }

    /// The key, if what is known is not too old.
    fn fresh(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let known = self.at.known();
        let fresh = known.fetched.is_some_and(|at| !passed(at, self.max_age, self.clock.now()));
        fresh.then(|| known.keys.find(id, algorithm)).flatten()
    }

    /// Whether enough time has passed since the last attempt; then this is one.
    fn may_try(&self) -> bool {
        let now = self.clock.now();
        let mut known = self.at.known();
        let may = known.tried.is_none_or(|at| passed(at, self.pause, now));
        if may {
            known.tried = Some(now);
        }
        may
    }
}

/// Whether a time is over. A clock that was set back says nothing about that, so then it is.
fn passed(since: Timestamp, time: Duration, now: Timestamp) -> bool {
    now < since || now >= since.after(time)
}

impl Place {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, clock: &dyn Clock) {
        match self.fetch.keys().await {
            Ok(keys) => {
                tracing::debug!(keys = keys.len(), "the keys of the issuer of tokens were fetched");
                let mut known = self.known();
                known.keys = Arc::new(keys);
                known.fetched = Some(clock.now());
            }
            Err(problem) => {
                tracing::warn!(problem, "the keys of the issuer of tokens cannot be fetched");
            }
        }
    }
}
