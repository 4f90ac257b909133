//! How many webhooks are called at once: some in all, and few of one host, so that a host that is slow
//! takes its own places and nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// How many hosts are remembered before those that nobody calls are forgotten.
const HOSTS: usize = 1024;

pub(super) struct Places {
    all: Arc<Semaphore>,
    of_a_host: usize,
    /// The lock is held to look a host up, and never while somebody waits.
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place; dropping it gives it back.
pub(super) struct Place {
    _host: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new(all: usize, of_a_host: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_a_host, hosts: Mutex::default() }
    }

    /// Waits for a place. Who waits for its host has no place among all.
    pub(super) async fn take(&self, host: &str) -> Result<Place, AcquireError> {
        let _host = self.host(host).acquire_owned().await?;
        let _all = self.all.clone().acquire_owned().await?;
        Ok(Place { _host, _all })
    }

    fn host(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HOSTS {
            hosts.retain(|_, known| Arc::strong_count(known) > 1);
        }
        let known = hosts.entry(host.to_owned());
        known.or_insert_with(|| Arc::new(Semaphore::new(self.of_a_host))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2ad_domain::testing::poll_now;

    #[tokio::test]
    async fn a_host_that_is_slow_takes_its_own_places_only() {
        let places = Places::new(3, 2);
        let slow = [places.take("slow").await.unwrap(), places.take("slow").await.unwrap()];
        assert!(poll_now(places.take("slow")).await.is_none());
        let other = places.take("other").await.unwrap();
        assert!(poll_now(places.take("third")).await.is_none(), "three in all");
        drop(other);
        assert!(poll_now(places.take("third")).await.is_some());
        drop(slow);
        assert!(poll_now(places.take("slow")).await.is_some());
    }

    #[tokio::test]
    async fn hosts_that_nobody_calls_are_forgotten() {
        let places = Places::new(3, 2);
        let held = places.take("held").await.unwrap();
        for number in 0..3 * HOSTS {
            places.take(&number.to_string()).await.unwrap();
        }
        let hosts = places.hosts.lock().unwrap();
        assert!(hosts.len() <= HOSTS && hosts.contains_key("held"), "{}", hosts.len());
        drop(held);
    }
}
