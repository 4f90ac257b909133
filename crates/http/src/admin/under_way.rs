//! Operations that are under way, so that a server that ends lets them come to their end: whatever an operator
//! has begun is done as a whole and written down, also when nobody waits for its answer any more.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// More than there ever are at once.
const PLACES: u32 = 1 << 20;

/// The operations of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct UnderWay(Arc<Semaphore>);

impl Default for UnderWay {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(PLACES as usize)))
    }
}

impl UnderWay {
    /// Begins one, which goes on until what this gives is dropped; `None` when there are to be no more.
    pub(super) async fn begin(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().acquire_owned().await.ok()
    }

    /// Lets none begin any more and waits until there is none, at most for so long; whether there is none.
    pub async fn end(&self, limit: Duration) -> bool {
        // Those that come now are behind this one, and it ends with a refusal for all of them.
        let all = tokio::time::timeout(limit, self.0.acquire_many(PLACES)).await;
        self.0.close();
        all.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_what_has_begun_and_nothing_begins_after_it() {
        let under_way = UnderWay::default();
        let first = under_way.begin().await.expect("a place");
        let end = tokio::spawn({
            let under_way = under_way.clone();
            async move { under_way.end(LIMIT).await }
        });
        tokio::task::yield_now().await;
        let late = tokio::spawn({
            let under_way = under_way.clone();
            async move { under_way.begin().await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!end.is_finished() && !late.is_finished());
        drop(first);
        assert!(end.await.expect("no panic"));
        assert!(!late.await.expect("no panic"));
        assert!(under_way.begin().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_so_long_and_no_longer() {
        let under_way = UnderWay::default();
        let _stuck = under_way.begin().await.expect("a place");
        let start = tokio::time::Instant::now();
        assert!(!under_way.end(LIMIT).await);
        assert_eq!(start.elapsed(), LIMIT);
        assert!(under_way.begin().await.is_none());
    }
}
