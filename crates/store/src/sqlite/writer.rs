//! The one thread that writes. What has queued up while it committed is its next transaction, so that
//! many callers share the cost of one commit and a single one waits for nobody.

use super::cache::{Cache, Step};
use super::error::{Shared, closed, unavailable};
use super::room::Room;
use super::write::{Append, Insert, Written, purge};
use a2ad_domain::Timestamp;
use a2ad_domain::ports::StoreError;
use rusqlite::Connection;
use std::error::Error;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// How many requests one transaction takes at most, so that the first is not kept waiting by the last.
const GROUP: usize = 256;

/// A write.
pub(super) enum Work {
    Insert(Insert),
    Append(Append),
    Purge(Timestamp),
}

/// How many tasks are gone, or why nothing was done.
type Outcome = Result<usize, StoreError>;

struct Request {
    work: Work,
    answer: oneshot::Sender<Outcome>,
}

/// What everybody may know of what was committed.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) tasks: AtomicI64,
    pub(super) bytes: AtomicI64,
    pub(super) commits: AtomicU64,
}

/// The thread, from outside. When it is dropped everything that was asked for is still done.
pub(super) struct Writer {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        room: Room,
        cache: Arc<Cache>,
        counts: Arc<Counts>,
    ) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel();
        let mut desk = Desk { connection, room, cache, counts };
        desk.publish();
        let thread = thread::Builder::new().name("sqlite-writer".into()).spawn(move || {
            while let Ok(first) = requests.recv() {
                desk.commit_group(first, &requests);
            }
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Does it, and answers when it is committed. A caller that does not wait for the answer has it done
    /// all the same.
    pub(super) async fn ask(&self, work: Work) -> Outcome {
        let (answer, done) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(Request { work, answer }).map_err(|_| closed())?;
        done.await.map_err(|_| closed())?
    }
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

/// What the thread has.
struct Desk {
    connection: Connection,
    /// As of the transaction under way.
    room: Room,
    cache: Arc<Cache>,
    counts: Arc<Counts>,
}

/// A transaction under way.
#[derive(Default)]
struct Group {
    /// Everybody who waits for it.
    answers: Vec<oneshot::Sender<Outcome>>,
    /// What they hear if it is committed.
    outcomes: Vec<Outcome>,
    steps: Vec<Step>,
    has_purged: bool,
}

/// Why a whole transaction came to nothing.
type Lost = Box<dyn Error + Send + Sync>;

impl Desk {
    fn commit_group(&mut self, first: Request, requests: &mpsc::Receiver<Request>) {
        let room = self.room;
        let mut group = Group::default();
        let written = self.write(&mut group, first, requests);
        let held = self.cache.take_out(&group.steps);
        if let Err(lost) = written.and_then(|()| Ok(self.run("COMMIT")?)) {
            // What was taken out of the cache stays out; the file is asked for it.
            self.room = room;
            self.abandon();
            let lost = Shared::new(lost);
            tracing::warn!(error = %lost, requests = group.answers.len(), "the store failed");
            for answer in group.answers {
                let _ = answer.send(Err(unavailable(lost.clone())));
            }
            return;
        }
        self.cache.put_back(held, group.steps);
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        self.publish();
        for (answer, outcome) in group.answers.into_iter().zip(group.outcomes) {
            // Whoever has asked may have left.
            let _ = answer.send(outcome);
        }
        if group.has_purged {
            self.give_back();
        }
    }

    /// Everything but the commit. More requests are taken as long as there are any.
    fn write(
        &mut self,
        group: &mut Group,
        first: Request,
        requests: &mpsc::Receiver<Request>,
    ) -> Result<(), Lost> {
        group.answers.push(first.answer);
        self.run("BEGIN IMMEDIATE")?;
        let mut work = first.work;
        loop {
            let outcome = self.attempt(work, group)?;
            group.outcomes.push(outcome);
            if group.answers.len() == GROUP {
                return Ok(());
            }
            let Ok(next) = requests.try_recv() else { return Ok(()) };
            group.answers.push(next.answer);
            work = next.work;
        }
    }

    /// One request, whole or not at all. An error is one that has cost the others their work too.
    fn attempt(&mut self, work: Work, group: &mut Group) -> Result<Outcome, Lost> {
        let room = self.room;
        self.run("SAVEPOINT request")?;
        match self.perform(work, group) {
            Ok(written) => {
                self.run("RELEASE request")?;
                group.steps.extend(written.steps);
                Ok(Ok(written.removed))
            }
            // SQLite gives up a transaction by itself when there is no room on the disk, for instance.
            Err(refused) if self.connection.is_autocommit() => Err(reason(refused)),
            Err(refused) => {
                self.room = room;
                self.run("ROLLBACK TO request")?;
                self.run("RELEASE request")?;
                Ok(Err(refused))
            }
        }
    }

    fn perform(&mut self, work: Work, group: &mut Group) -> Result<Written, StoreError> {
        let (connection, room) = (&self.connection, &mut self.room);
        match work {
            Work::Insert(insert) => insert.perform(connection, room),
            Work::Append(append) => append.perform(connection, room),
            Work::Purge(before) => {
                group.has_purged = true;
                purge(connection, room, before)
            }
        }
    }

    fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(|_| ())
    }

    /// Ends a transaction that was not committed, so that the next one can begin.
    fn abandon(&self) {
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = self.run("ROLLBACK") {
            tracing::error!(%error, "a transaction of the store cannot be rolled back");
        }
    }

    fn publish(&self) {
        self.counts.tasks.store(self.room.tasks, Ordering::Relaxed);
        self.counts.bytes.store(self.room.bytes, Ordering::Relaxed);
    }

    /// Gives the pages of what was removed back to the file system. Every row of this pragma moves a page.
    fn give_back(&self) {
        let moved = self.connection.prepare_cached("PRAGMA incremental_vacuum").and_then(
            |mut statement| {
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            },
        );
        if let Err(error) = moved {
            // They stay in the file and are used for the next tasks.
            tracing::warn!(%error, "the store's file cannot be made smaller");
        }
    }
}

/// What a request that took the transaction with it has failed of.
fn reason(refused: StoreError) -> Lost {
    match refused {
        StoreError::Unavailable(source) => source,
        other @ (StoreError::Exists
        | StoreError::Full
        | StoreError::NotFound
        | StoreError::Conflict { .. }) => other.into(),
    }
}
