//! A flag that can be raised once and waited for, on any runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Tells a run that its task is over. Cloning gives another handle on the same flag.
#[derive(Clone, Debug, Default)]
pub struct CancelSignal(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    raised: AtomicBool,
    /// A waiter registers under this lock and looks at the flag again before it lets go, and the raiser
    /// sets the flag before it takes the lock, so no wake-up is lost.
    waiting: Mutex<Waiting>,
}

/// Who waits. A waiter that gives up takes its entry out: a signal may live as long as the server.
#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<(u64, Waker)>,
    numbers: u64,
}

impl Inner {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let waiting = std::mem::take(&mut self.0.waiting().wakers);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Waits until the flag is raised.
    pub async fn raised(&self) {
        Raised { signal: self, number: None }.await;
    }
}

struct Raised<'a> {
    signal: &'a CancelSignal,
    /// Its entry among those who wait.
    number: Option<u64>,
}

impl Future for Raised<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let signal = self.signal;
        if signal.is_raised() {
            return Poll::Ready(());
        }
        let mut waiting = signal.0.waiting();
        if signal.is_raised() {
            return Poll::Ready(());
        }
        match self.number {
            Some(number) => {
                let own = waiting.wakers.iter_mut().find(|(known, _)| *known == number);
                if let Some((_, waker)) = own {
                    waker.clone_from(context.waker());
                }
            }
            None => {
                let number = waiting.numbers;
                waiting.numbers += 1;
                waiting.wakers.push((number, context.waker().clone()));
                self.number = Some(number);
            }
        }
        Poll::Pending
    }
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.signal.0.waiting().wakers.retain(|(known, _)| *known != number);
        }
    }
}
