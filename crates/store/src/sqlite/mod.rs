//! Tasks in a file: an embedded SQLite database that this process has to itself.
//!
//! `write` and `read` hold the statements, `record` what stands in the columns, `writer` and `readers` the
//! threads. Open `schema.sql` first.

mod agents;
mod answers;
mod backup;
mod beside;
mod cache;
mod claim;
mod error;
mod group;
mod heads;
mod ledger;
mod list;
mod log;
mod open;
mod read;
mod readers;
mod record;
mod room;
mod settings;
mod shared;
mod survey;
mod tally;
mod webhook;
mod write;
mod writer;

pub use backup::{BackupError, back_up};
pub use error::{Cause, OpenError};
pub use settings::{Durability, Settings};
pub use webhook::{DeadLetter, LettersError, letters, send_again};

use a2ad_domain::ports::{Changes, Page, Query, StoreError, Survey, TaskStore, TaskSummary};
use a2ad_domain::{AgentId, Recorded, Scope, Task, TaskId, TaskKey, Timestamp, Version};
use async_trait::async_trait;
use claim::Lock;
use ledger::Ledger;
use readers::Readers;
use room::Room;
use shared::Shared;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tally::Tally;
use write::{Append, Insert};
use writer::{Work, Writer};

/// How many threads read. Most reads are answered from the cache and never come to them.
const READERS: usize = 4;

/// Keeps tasks in a file. At its capacity the task that ended first makes room; live tasks are never
/// removed. What was acknowledged is committed; see [`Durability`] for what that survives.
///
/// The fields are dropped in this order: the last connection to be closed is the one that writes, which
/// leaves everything in one file; then the file is free for another store.
pub struct SqliteStore {
    readers: Readers,
    writer: Writer,
    shared: Arc<Shared>,
    log: i64,
    path: PathBuf,
    _lock: Lock,
}

impl SqliteStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// [`OpenError`] when the file cannot be used or is not one of ours; it is then left as it was.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        let opened = open::open(settings)?;
        let path = &settings.path;
        let of_database = |error: rusqlite::Error| OpenError::new(path, error);
        let of_threads = |error: std::io::Error| OpenError::new(path, error);
        let of_content = |error| OpenError::new(path, Cause::Content(error));
        let room = Room::count(&opened.connection, settings.capacity).map_err(of_database)?;
        let tally = Tally::count(&opened.connection).map_err(of_content)?;
        let connections = (0..READERS).map(|_| open::reader(path)).collect::<Result<_, _>>();
        let readers = Readers::start(connections.map_err(of_database)?).map_err(of_threads)?;
        let shared = Arc::new(Shared::new(tally));
        let ledger = Ledger::new(opened.connection, room);
        let writer = Writer::start(ledger, shared.clone()).map_err(of_threads)?;
        let log = room::signed(settings.capacity.log);
        let path = settings.path.clone();
        Ok(Self { readers, writer, shared, log, path, _lock: opened.claim.keep() })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many tasks it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.shared.tasks()).unwrap_or_default()
    }

    /// Whether it holds no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes of the file its tasks take.
    #[must_use]
    pub fn weight(&self) -> usize {
        usize::try_from(self.shared.bytes()).unwrap_or_default()
    }

    /// How many transactions it has committed since it was opened. Callers that come together share one.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.shared.commits()
    }

    /// Tasks whose run was under way when the file was last written, in all scopes. Right after opening
    /// nobody works on them: their process is gone.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn orphans(&self) -> Result<Vec<TaskKey>, StoreError> {
        let read = |file: &_| list::running(file).map_err(StoreError::Unavailable);
        self.read(read).await
    }

    fn appending(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<Append, StoreError> {
        let is_held = || self.shared.cache.holds(key.id);
        Append::new(key, expected, changes, task, self.log, is_held)
    }

    /// Reads something; a file that cannot be read is known from then on.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = self.readers.ask(read).await;
        if let Err(StoreError::Unavailable(_)) = &read {
            self.shared.failed();
        }
        read
    }

    /// Copies everything that is committed into a new file, which a store can be opened in, and says how many
    /// tasks there are in it. Others read and write meanwhile.
    ///
    /// # Errors
    /// `Unavailable` when the file exists already, which is then left alone, or cannot be written.
    pub async fn backup(&self, path: &Path) -> Result<usize, StoreError> {
        let (from, to) = (self.path.clone(), path.to_path_buf());
        let copy = move |file: &_| backup::copy(file, &from, &to).map_err(error::unavailable);
        self.readers.ask_plainly(copy).await
    }
}

#[async_trait]
impl TaskStore for SqliteStore {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        let insert = Insert::new(task)?;
        self.writer.ask(Work::Insert(insert)).await.map(|_| ())
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError> {
        let append = self.appending(key, expected, changes, task)?;
        self.writer.ask(Work::Append(append)).await.map(|_| ())
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        if let Some(task) = self.shared.cache.get(key) {
            return Ok(task);
        }
        let key = key.clone();
        self.read(move |file| read::load(file, &key)).await
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        let (key, log) = (key.clone(), self.log);
        self.read(move |file| read::changes_after(file, &key, after, limit, log)).await
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        let (scope, query, shared) = (scope.clone(), query.clone(), self.shared.clone());
        let read = move |file: &_| list::list(file, &shared, &scope, &query);
        self.read(move |file| read(file).map_err(StoreError::Unavailable)).await
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        let agent = agent.clone();
        let read = move |file: &_| list::waiting(file, &agent, since, limit);
        self.read(move |file| read(file).map_err(StoreError::Unavailable)).await
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        let survey = survey.clone();
        let read = move |file: &_| survey::survey(file, &survey).map_err(StoreError::Unavailable);
        self.read(read).await
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        self.read(move |file| survey::find(file, id)).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        self.read(|file| survey::agents(file).map_err(StoreError::Unavailable)).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        if !self.shared.is_failing() {
            return Ok(());
        }
        self.writer.ask(Work::Probe).await.map(|_| ())
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        self.writer.ask(Work::Purge(before)).await
    }
}
