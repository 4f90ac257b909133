//! How often a caller may call, where that is limited.

use super::Who;
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// After how many requests those who have not been there for long are forgotten.
const FORGET_AFTER: u32 = 4096;

/// How many requests there may be in a time: so many at once, and after that one more in each equal part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub requests: NonZeroU32,
    /// In which time.
    pub per: Duration,
}

/// Counts requests.
pub(super) struct Requests<C: Clock = DefaultClock> {
    limiter: RateLimiter<Who, HashMapStateStore<Who>, C, NoOpMiddleware<C::Instant>>,
    clock: C,
    since_forgotten: AtomicU32,
}

impl Requests {
    pub(super) fn new(rate: Rate) -> Option<Self> {
        Self::with_clock(rate, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Requests<C> {
    fn with_clock(rate: Rate, clock: C) -> Option<Self> {
        let quota = Quota::with_period(rate.per / rate.requests.get())?;
        let quota = quota.allow_burst(rate.requests);
        let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone());
        Some(Self { limiter, clock, since_forgotten: AtomicU32::new(0) })
    }

    /// Counts one; an error says when there may be another.
    pub(super) fn count(&self, who: &Who) -> Result<(), Duration> {
        if self.since_forgotten.fetch_add(1, Ordering::Relaxed) == FORGET_AFTER {
            self.since_forgotten.store(0, Ordering::Relaxed);
            self.limiter.retain_recent();
        }
        let counted = self.limiter.check_key(who);
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2ad_domain::Owner;
    use governor::clock::FakeRelativeClock;

    fn owner(name: &str) -> Who {
        Who::Owner(Owner::new(name).expect("a name"))
    }

    #[test]
    fn so_many_requests_are_taken_at_once_and_then_one_in_each_part_of_the_time() {
        let clock = FakeRelativeClock::default();
        let rate =
            Rate { requests: NonZeroU32::MIN.saturating_add(9), per: Duration::from_secs(60) };
        let requests = Requests::with_clock(rate, clock.clone()).expect("a rate");
        for _ in 0..10 {
            assert_eq!(requests.count(&owner("ann")), Ok(()));
        }
        assert_eq!(requests.count(&owner("ann")), Err(Duration::from_secs(6)));
        assert_eq!(requests.count(&owner("bob")), Ok(()), "everybody has their own");
        clock.advance(Duration::from_secs(6));
        assert_eq!(requests.count(&owner("ann")), Ok(()));
        assert!(requests.count(&owner("ann")).is_err());
        clock.advance(Duration::from_secs(60));
        let taken = (0..20).filter(|_| requests.count(&owner("ann")).is_ok()).count();
        assert_eq!(taken, 10, "what was not used is not saved up");
    }

    #[test]
    fn callers_who_are_gone_are_forgotten() {
        let clock = FakeRelativeClock::default();
        let rate = Rate { requests: NonZeroU32::MIN, per: Duration::from_secs(1) };
        let requests = Requests::with_clock(rate, clock.clone()).expect("a rate");
        for number in 0..FORGET_AFTER {
            let _ = requests.count(&owner(&number.to_string()));
        }
        assert_eq!(requests.limiter.len(), FORGET_AFTER as usize);
        clock.advance(Duration::from_secs(60));
        let _ = requests.count(&owner("ann"));
        assert_eq!(requests.limiter.len(), 1);
    }
}
