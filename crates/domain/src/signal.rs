//! A flag that can be raised once and waited for, on any runtime.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Tells a run that its task is over. Cloning gives another handle on the same flag.
#[derive(Clone, Debug, Default)]
pub struct CancelSignal(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    raised: AtomicBool,
    /// Who waits. A waiter registers under this lock and looks at the flag again before it lets go, and
    /// the raiser sets the flag before it takes the lock, so no wake-up is lost.
    waiting: Mutex<Vec<Waker>>,
}

impl CancelSignal {
    /// A signal that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes everybody. Raising twice is the same as once.
    pub fn raise(&self) {
        self.0.raised.store(true, Ordering::SeqCst);
        let waiting =
            std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Waits until the flag is raised.
    pub async fn raised(&self) {
        poll_fn(|context| {
            if self.is_raised() {
                return Poll::Ready(());
            }
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_raised() {
                return Poll::Ready(());
            }
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}
