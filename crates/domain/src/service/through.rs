//! A caller may leave at any moment. What it has begun to write is seen through all the same: otherwise a
//! task could be stored that nobody works on, or a change that nobody is told of.

use super::Core;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Work that goes on elsewhere when whoever waits for it leaves.
pub(super) struct Through<T: Send + 'static> {
    core: Arc<Core>,
    /// `None` when it is done, or has panicked.
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    begun: bool,
}

impl Core {
    /// Does the work, to its end once it has begun.
    pub(super) fn see_through<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Through<T> {
        Through { core: self.clone(), work: Some(Box::pin(work)), begun: false }
    }
}

impl<T: Send + 'static> Future for Through<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.begun = true;
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let done = work.as_mut().poll(context);
        if done.is_pending() {
            self.work = Some(work);
        }
        done
    }
}

impl<T: Send + 'static> Drop for Through<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && self.begun
        {
            self.core.ports.spawner.see_through(Box::pin(async move {
                work.await;
            }));
        }
    }
}
