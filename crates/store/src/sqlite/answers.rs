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
/// the next, or who was woken finds what was put here. One who was woken may look away, though, as an
/// executor does that waits for something else first; so the thread looks here before it goes to rest.
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

    pub(super) fn hand_on(&self) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake};

    /// Counts how often somebody is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits as `Writer::ask` does.
    async fn asked(answers: &Answers, answer: oneshot::Receiver<Outcome>) -> Option<usize> {
        let _hand_on = HandOn(answers);
        answer.await.ok()?.ok()
    }

    type Asked<'a> = std::pin::Pin<Box<dyn Future<Output = Option<usize>> + 'a>>;

    /// What each of the askers is told in the end, when those in `leave` give up at a moment. The executor
    /// of this test polls whoever was woken, in turn, as often as somebody was.
    fn told(
        askers: usize,
        leave_before: &[usize],
        leave_after: &[usize],
    ) -> (Vec<Option<usize>>, usize) {
        let answers = Answers::default();
        let woken: Vec<Arc<Woken>> = (0..askers).map(|_| Arc::default()).collect();
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..askers).map(|_| oneshot::channel::<Outcome>()).unzip();
        let mut waiting: Vec<Option<Asked<'_>>> = receivers
            .into_iter()
            .map(|receiver| Some(Box::pin(asked(&answers, receiver)) as Asked<'_>))
            .collect();
        let poll = |future: &mut Asked<'_>, woken: &Arc<Woken>| {
            let waker = woken.clone().into();
            pin!(future).poll(&mut Context::from_waker(&waker))
        };
        for (future, woken) in waiting.iter_mut().zip(&woken) {
            assert!(poll(future.as_mut().unwrap(), woken).is_pending());
        }
        leave_before.iter().for_each(|at| drop(waiting[*at].take()));
        answers.give(senders.into_iter().zip((0..askers).map(Ok)).collect());
        let by_the_thread = woken.iter().filter(|woken| woken.0.load(Ordering::SeqCst) > 0).count();
        leave_after.iter().for_each(|at| drop(waiting[*at].take()));
        let mut told = vec![None; askers];
        loop {
            let next = (0..askers)
                .find(|at| waiting[*at].is_some() && woken[*at].0.swap(0, Ordering::SeqCst) > 0);
            let Some(at) = next else { break };
            if let Poll::Ready(outcome) = poll(waiting[at].as_mut().unwrap(), &woken[at]) {
                told[at] = outcome;
                waiting[at] = None;
            }
        }
        (told, by_the_thread)
    }

    #[test]
    fn everybody_is_told_and_the_thread_wakes_one() {
        for askers in 1..6 {
            let (told, by_the_thread) = told(askers, &[], &[]);
            assert_eq!(told, (0..askers).map(Some).collect::<Vec<_>>());
            assert_eq!(by_the_thread, 1);
        }
    }

    #[test]
    fn whoever_leaves_takes_nobodys_answer_along() {
        const ASKERS: usize = 4;
        let members = |set: usize| (0..ASKERS).filter(|at| set >> at & 1 == 1).collect::<Vec<_>>();
        for before in 0..1 << ASKERS {
            for after in (0..1 << ASKERS).filter(|after| after & before == 0) {
                let (told, _) = told(ASKERS, &members(before), &members(after));
                let stay = (0..ASKERS).map(|at| ((before | after) >> at & 1 == 0).then_some(at));
                assert_eq!(told, stay.collect::<Vec<_>>(), "{before:04b} {after:04b}");
            }
        }
    }
}
