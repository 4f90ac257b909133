//! The one thread that writes. What has queued up while it committed is its next transaction, so that
//! many callers share the cost of one commit and a single one waits for nobody.

use super::agents::AgentWork;
use super::answers::HandOn;
use super::error::{closed, unavailable};
use super::group::Desk;
use super::ledger::Ledger;
use super::shared::Shared;
use super::webhook::WebhookWork;
use super::write::{Append, Insert};
use a2ad_domain::Timestamp;
use a2ad_domain::ports::StoreError;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;

/// How many requests one transaction takes at most, so that the first is not kept waiting by the last.
const GROUP: usize = 256;

/// How long whoever was told of an outcome has to hand on those of the others. Most do at once.
const HAND_ON: Duration = Duration::from_millis(1);

/// A write.
pub(super) enum Work {
    Insert(Insert),
    Append(Append),
    Purge(Timestamp),
    Webhook(WebhookWork),
    Agent(AgentWork),
    /// Writes what changes nothing, to see whether the file can be written.
    Probe,
}

/// How much was done, or why nothing was: how many tasks are gone, whether there was room, or the number of a
/// webhook.
pub(super) type Outcome = Result<usize, StoreError>;

pub(super) struct Request {
    pub(super) work: Work,
    pub(super) answer: oneshot::Sender<Outcome>,
}

/// The thread, from outside. When it is dropped everything that was asked for is still done.
pub(super) struct Writer {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Writer {
    pub(super) fn start(ledger: Ledger, shared: Arc<Shared>) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel();
        let mut desk = Desk::new(ledger, shared.clone());
        let thread = thread::Builder::new().name("sqlite-writer".into()).spawn(move || {
            while let Some(group) = next_group(&requests, &desk) {
                desk.commit(group);
            }
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), shared })
    }

    /// Does it, and answers when it is committed. A caller that does not wait for the answer has it done
    /// all the same.
    pub(super) async fn ask(&self, work: Work) -> Outcome {
        // Before the channel, so that it is dropped after it.
        let _hand_on = HandOn(&self.shared.answers);
        let (answer, done) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(Request { work, answer }).map_err(|_| closed())?;
        done.await.map_err(|_| unavailable("the thread that writes is gone"))?
    }
}

/// Everything that is there once there is something; `None` when nobody can ask any more. Those who are
/// about to ask are let in first: on a machine that is busy this thread would otherwise run as soon as
/// the first of them has asked, and each would have a transaction of its own.
fn next_group(requests: &mpsc::Receiver<Request>, desk: &Desk) -> Option<Vec<Request>> {
    let first = match requests.recv_timeout(HAND_ON) {
        Ok(first) => first,
        // With nothing else to do it sees to it that nobody waits for one who looks away.
        Err(RecvTimeoutError::Timeout) => {
            desk.hand_on();
            requests.recv().ok()?
        }
        Err(RecvTimeoutError::Disconnected) => return None,
    };
    let mut group = vec![first];
    thread::yield_now();
    group.extend(requests.try_iter().take(GROUP - 1));
    Some(group)
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        // The file is closed when this returns, so that it can be opened again or copied.
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the thread that writes the store has panicked");
        }
    }
}
