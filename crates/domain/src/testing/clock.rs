//! A clock that stands still until a test moves it.

use super::lock;
use crate::ports::Clock;
use crate::time::Timestamp;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Time for tests. Cloning gives another handle on the same clock.
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<State>>);

struct State {
    now: Timestamp,
    sleepers: Vec<Sleeper>,
    /// Who waits for somebody to sleep.
    watchers: Vec<Waker>,
    numbers: u64,
}

struct Sleeper {
    number: u64,
    due: Timestamp,
    waker: Option<Waker>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::at(1_767_225_600_000)
    }
}

impl ManualClock {
    /// A clock that stands at `millis` milliseconds since 1970.
    #[must_use]
    pub fn at(millis: i64) -> Self {
        let now = Timestamp::from_millis(millis);
        let (sleepers, watchers) = (Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(State { now, sleepers, watchers, numbers: 0 })))
    }

    /// Moves the time forward and wakes everybody whose time has come.
    pub fn advance(&self, by: Duration) {
        let mut state = lock(&self.0);
        state.now = state.now.after(by);
        let now = state.now;
        let due = state.sleepers.iter_mut().filter(|sleeper| sleeper.due <= now);
        let wakers: Vec<Waker> = due.filter_map(|sleeper| sleeper.waker.take()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Moves the time back, as an operator or a time server may.
    pub fn set_back(&self, by: Duration) {
        let mut state = lock(&self.0);
        state.now = state.now.before(by);
    }

    /// How many sleep.
    #[must_use]
    pub fn sleeping(&self) -> usize {
        lock(&self.0).sleepers.len()
    }

    /// Waits until somebody sleeps, then moves the time forward.
    pub async fn advance_when_awaited(&self, by: Duration) {
        poll_fn(|context| {
            let mut state = lock(&self.0);
            let now = state.now;
            if state.sleepers.iter().any(|sleeper| sleeper.due > now) {
                return Poll::Ready(());
            }
            state.watchers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
        self.advance(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        lock(&self.0).now
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut state = lock(&self.0);
        let (number, due) = (state.numbers, state.now.after(duration));
        state.numbers += 1;
        state.sleepers.push(Sleeper { number, due, waker: None });
        let watchers = std::mem::take(&mut state.watchers);
        drop(state);
        watchers.into_iter().for_each(Waker::wake);
        let sleep = Sleep { clock: self.clone(), number };
        Box::pin(async move { poll_fn(|context| sleep.poll(context.waker())).await })
    }
}

/// One sleeper; leaves when dropped.
struct Sleep {
    clock: ManualClock,
    number: u64,
}

impl Sleep {
    fn poll(&self, waker: &Waker) -> Poll<()> {
        let mut state = lock(&self.clock.0);
        let now = state.now;
        match state.sleepers.iter_mut().find(|sleeper| sleeper.number == self.number) {
            Some(sleeper) if sleeper.due > now => {
                sleeper.waker = Some(waker.clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        lock(&self.clock.0).sleepers.retain(|sleeper| sleeper.number != self.number);
    }
}
