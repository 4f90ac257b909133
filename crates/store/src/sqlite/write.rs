//! The statements of a write: a new task, changes on top of a version, and what makes room.

use super::cache::Step;
use super::error::unavailable;
use super::record::{ChangeRow, Damaged, write_change, write_snapshot};
use super::room::{Room, change_weight, snapshot_weight};
use a2ad_domain::ports::StoreError;
use a2ad_domain::{Recorded, Task, TaskKey, Tenant, Timestamp, Version};
use rusqlite::{Connection, OptionalExtension, named_params, params};
use std::sync::Arc;

/// What changes of a task's row.
struct Columns {
    state: &'static str,
    status_at: i64,
    deadline: Option<i64>,
    changed: i64,
    version: i64,
    parked: bool,
    ended_at: Option<i64>,
}

/// A task that is to be kept, written down by whoever asks, so that the writer only stores it.
pub(super) struct Insert {
    task: Arc<Task>,
    columns: Columns,
    snapshot: String,
}

/// Changes that are to be kept, likewise.
pub(super) struct Append {
    key: TaskKey,
    expected: Version,
    changes: Vec<Recorded>,
    rows: Vec<ChangeRow>,
    columns: Columns,
    snapshot: Option<String>,
    /// The task with the changes, where it is worth a copy.
    whole: Option<Arc<Task>>,
}

/// What was done.
pub(super) struct Written {
    /// How many tasks are gone.
    pub(super) removed: usize,
    /// What the cache has to know.
    pub(super) steps: Vec<Step>,
}

impl Columns {
    fn of(task: &Task) -> Result<Self, StoreError> {
        let at = task.status_at().as_millis();
        Ok(Self {
            state: task.state().name(),
            status_at: at,
            deadline: task.deadline().map(Timestamp::as_millis),
            changed: task.changed().as_millis(),
            version: i64::try_from(task.version().0).map_err(unavailable)?,
            parked: task.is_parked(),
            ended_at: task.state().is_terminal().then_some(at),
        })
    }
}

/// The tenant as it stands in a row.
pub(super) fn tenant(key: &a2ad_domain::Scope) -> &str {
    key.tenant().map_or("", Tenant::as_str)
}

impl Insert {
    pub(super) fn new(task: &Arc<Task>) -> Result<Self, StoreError> {
        let snapshot = write_snapshot(task).map_err(unavailable)?;
        Ok(Self { task: task.clone(), columns: Columns::of(task)?, snapshot })
    }

    pub(super) fn perform(
        &self,
        connection: &Connection,
        room: &mut Room,
    ) -> Result<Written, StoreError> {
        let (key, columns) = (self.task.key(), &self.columns);
        let weight = snapshot_weight(&self.snapshot);
        let inserted = connection
            .prepare_cached(
                "INSERT INTO task (id, agent, tenant, owner, context, state, status_at, created,
                     deadline, changed, version, parked, weight, ended_at)
                 VALUES (:id, :agent, :tenant, :owner, :context, :state, :status_at, :created,
                     :deadline, :changed, :version, :parked, :weight, :ended_at)
                 ON CONFLICT (id) DO NOTHING",
            )
            .and_then(|mut statement| {
                statement.execute(named_params! {
                    ":id": key.id.as_uuid().as_bytes(),
                    ":agent": key.scope.agent().as_str(),
                    ":tenant": tenant(&key.scope),
                    ":owner": key.scope.owner().as_str(),
                    ":context": self.task.context().as_str(),
                    ":state": columns.state,
                    ":status_at": columns.status_at,
                    ":created": self.task.created().as_millis(),
                    ":deadline": columns.deadline,
                    ":changed": columns.changed,
                    ":version": columns.version,
                    ":parked": columns.parked,
                    ":weight": weight,
                    ":ended_at": columns.ended_at,
                })
            })
            .map_err(unavailable)?;
        if inserted == 0 {
            return Err(StoreError::Exists);
        }
        let number = connection.last_insert_rowid();
        write_whole(connection, number, columns.version, &self.snapshot).map_err(unavailable)?;
        room.tasks += 1;
        room.bytes += weight;
        // Only now, since a task that exists already must not cost another its place.
        let gone = room.make(connection, number)?;
        let removed = gone.len();
        let put = Step::Put(self.task.clone());
        let steps = gone.into_iter().map(Step::Gone).chain([put]).collect();
        Ok(Written { removed, steps })
    }
}

fn write_whole(
    connection: &Connection,
    number: i64,
    version: i64,
    body: &str,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO snapshot (task, version, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (task) DO UPDATE SET version = excluded.version, body = excluded.body",
    )?;
    statement.execute(params![number, version, body]).map(|_| ())
}

impl Append {
    /// `is_held` says whether the cache has the task.
    pub(super) fn new(
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
        log: i64,
        is_held: impl FnOnce() -> bool,
    ) -> Result<Self, StoreError> {
        let due = snapshot_is_due(expected, changes, task, log);
        let snapshot = due.then(|| write_snapshot(task)).transpose().map_err(unavailable)?;
        let rows: Result<_, Damaged> = changes.iter().map(write_change).collect();
        // A copy costs the task, as the snapshot does; who only appends a change makes none.
        let whole = due && !task.state().is_terminal() && !is_held();
        Ok(Self {
            key: key.clone(),
            expected,
            changes: changes.to_vec(),
            rows: rows.map_err(unavailable)?,
            columns: Columns::of(task)?,
            snapshot,
            whole: whole.then(|| Arc::new(task.clone())),
        })
    }

    pub(super) fn perform(
        &self,
        connection: &Connection,
        room: &mut Room,
    ) -> Result<Written, StoreError> {
        let weight: i64 = self.rows.iter().map(change_weight).sum();
        let number = self.advance(connection, weight).map_err(unavailable)?;
        let Some(number) = number else { return Err(self.refusal(connection)?) };
        self.write_rows(connection, number).map_err(unavailable)?;
        room.bytes += weight;
        if let Some(snapshot) = &self.snapshot {
            let version = self.columns.version;
            room.replace(connection, number, version, snapshot, write_whole)
                .map_err(unavailable)?;
        }
        let step = match &self.whole {
            Some(task) => Step::Put(task.clone()),
            None => Step::Fold(self.key.id, self.expected, self.changes.clone()),
        };
        Ok(Written { removed: 0, steps: vec![step] })
    }

    /// Compares the version and sets it in one statement; the number of the task if it was so.
    fn advance(&self, connection: &Connection, weight: i64) -> rusqlite::Result<Option<i64>> {
        let columns = &self.columns;
        let Ok(expected) = i64::try_from(self.expected.0) else { return Ok(None) };
        let scope = &self.key.scope;
        let of_status = self.changes.iter().any(|change| change.state().is_some());
        let (id, agent) = (self.key.id.as_uuid().as_bytes(), scope.agent().as_str());
        let (tenant, owner) = (tenant(scope), scope.owner().as_str());
        if !of_status {
            // Names no column of an index, so that none is written.
            let mut statement = connection.prepare_cached(
                "UPDATE task SET version = ?1, changed = ?2, weight = weight + ?3
                 WHERE id = ?4 AND version = ?5 AND agent = ?6 AND tenant = ?7 AND owner = ?8
                 RETURNING number",
            )?;
            let (version, changed) = (columns.version, columns.changed);
            let values = params![version, changed, weight, id, expected, agent, tenant, owner];
            return statement.query_row(values, |row| row.get(0)).optional();
        }
        let mut statement = connection.prepare_cached(
            "UPDATE task SET version = :version, changed = :changed, weight = weight + :weight,
                 state = :state, status_at = :status_at, deadline = :deadline, parked = :parked,
                 ended_at = :ended_at
             WHERE id = :id AND version = :expected AND agent = :agent AND tenant = :tenant
                 AND owner = :owner
             RETURNING number",
        )?;
        let values = named_params! {
            ":version": columns.version,
            ":changed": columns.changed,
            ":weight": weight,
            ":state": columns.state,
            ":status_at": columns.status_at,
            ":deadline": columns.deadline,
            ":parked": columns.parked,
            ":ended_at": columns.ended_at,
            ":id": id,
            ":expected": expected,
            ":agent": agent,
            ":tenant": tenant,
            ":owner": owner,
        };
        statement.query_row(values, |row| row.get(0)).optional()
    }

    /// Why no row was at the version.
    fn refusal(&self, connection: &Connection) -> Result<StoreError, StoreError> {
        let scope = &self.key.scope;
        let version: Option<i64> = connection
            .prepare_cached(
                "SELECT version FROM task
                 WHERE id = ?1 AND agent = ?2 AND tenant = ?3 AND owner = ?4",
            )
            .and_then(|mut statement| {
                let id = self.key.id.as_uuid().as_bytes();
                let (agent, owner) = (scope.agent().as_str(), scope.owner().as_str());
                statement
                    .query_row(params![id, agent, tenant(scope), owner], |row| row.get(0))
                    .optional()
            })
            .map_err(unavailable)?;
        let Some(version) = version else { return Ok(StoreError::NotFound) };
        let actual = Version(u64::try_from(version).map_err(unavailable)?);
        Ok(StoreError::Conflict { actual })
    }

    fn write_rows(&self, connection: &Connection, number: i64) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO change (task, version, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for row in &self.rows {
            statement.execute(params![number, row.version, row.at, row.kind, row.body])?;
        }
        Ok(())
    }
}

/// Whether the task is to be written whole. That is so when a run ends, since what comes next is a reader
/// or another run; and after so many changes that folding them would take long. The longer the life,
/// the more changes that is, so that each change pays for its share of the snapshots and no more; at most
/// a log's length, since changes that are in no snapshot cannot be forgotten.
fn snapshot_is_due(expected: Version, changes: &[Recorded], task: &Task, log: i64) -> bool {
    const FEW: u64 = 256;
    let is_status = changes.iter().any(|change| change.state().is_some());
    if is_status && !task.is_running() {
        return true;
    }
    let now = task.version().0;
    let most = u64::try_from(log).unwrap_or_default().max(FEW);
    let step = now.checked_next_power_of_two().map_or(most, |power| (power / 2).clamp(FEW, most));
    now / step != expected.0 / step
}

/// Removes the tasks that ended before a time.
pub(super) fn purge(
    connection: &Connection,
    room: &mut Room,
    before: Timestamp,
) -> Result<Written, StoreError> {
    let gone = room.remove_ended_before(connection, before.as_millis()).map_err(unavailable)?;
    let removed = gone.len();
    Ok(Written { removed, steps: gone.into_iter().map(Step::Gone).collect() })
}
