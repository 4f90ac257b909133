//! Brings the outcomes of a transaction to those who wait for them.

use super::writer::Outcome;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// Outcomes on their way.
///
/// The thread that writes wakes one of those who wait, and that one hands on the rest. To wake a task from
/// another thread is a call of the system, which on a busy machine also takes the processor away from
/// the one who calls; among themselves tasks wake each other for nearly nothing.
///
/// None is left behind: outcomes are put here before somebody is woken, and whoever waits closes the way to
/// be woken before looking here for the last time. So either the thread finds that way closed and wakes
/// the next, or who was woken finds what was put here.
#[derive(Default)]
pub(super) struct Answers(Mutex<Vec<(oneshot::Sender<Outcome>, Outcome)>>);

impl Answers {
    /// From the thread that writes.
    pub(super) fn give(&self, mut outcomes: Vec<(oneshot::Sender<Outcome>, Outcome)>) {
        let Some((mut first, mut outcome)) = outcomes.pop() else { return };
        self.list().append(&mut outcomes);
        // Whoever has asked may have left.
        while first.send(outcome).is_err() {
            let Some(next) = self.list().pop() else { return };
            (first, outcome) = next;
        }
    }

    fn hand_on(&self) {
        let rest = std::mem::take(&mut *self.list());
        for (answer, outcome) in rest {
            let _ = answer.send(outcome);
        }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<(oneshot::Sender<Outcome>, Outcome)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands on the outcomes of others when it is dropped, whether its owner has got one or has given up.
pub(super) struct HandOn<'a>(pub(super) &'a Answers);

impl Drop for HandOn<'_> {
    fn drop(&mut self) {
        self.0.hand_on();
    }
}
