//! The statements of a write: a new task, changes on top of a version, and what makes room.
//!
//! A request that is refused has written nothing, so one transaction serves many requests without a way
//! back for each. One that fails half-way costs the transaction, and the writer does the others again.

use super::cache::Step;
use super::error::unavailable;
use super::heads::Head;
use super::ledger::Ledger;
use super::log;
use super::record::{ChangeRow, Damaged, WebhookRow, write_change, write_snapshot};
use super::room::{change_weight, make_room, remove_ended_before, signed, snapshot_weight};
use super::webhook;
use a2ad_domain::ports::StoreError;
use a2ad_domain::{Recorded, Task, TaskKey, TaskState, Tenant, Timestamp, Version};
use rusqlite::{Connection, named_params, params};
use std::sync::Arc;

/// What changes of a task's row.
struct Columns {
    state: TaskState,
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
    webhook: Option<WebhookRow>,
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
    /// A webhook, and how many there may be.
    webhook: Option<(WebhookRow, i64)>,
}

/// What was done.
pub(super) struct Written {
    /// How many tasks are gone, or the number of the webhook that is there.
    pub(super) figure: usize,
    /// What the cache has to know.
    pub(super) steps: Vec<Step>,
}

impl Written {
    pub(super) fn nothing() -> Self {
        Self { figure: 0, steps: Vec::new() }
    }
}

impl Columns {
    fn of(task: &Task) -> Result<Self, StoreError> {
        let at = task.status_at().as_millis();
        Ok(Self {
            state: task.state(),
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
        Ok(Self { task: task.clone(), columns: Columns::of(task)?, snapshot, webhook: None })
    }

    /// With a webhook, whose number is what is answered.
    pub(super) fn with(self, webhook: WebhookRow) -> Self {
        Self { webhook: Some(webhook), ..self }
    }

    pub(super) fn perform(&self, ledger: &mut Ledger) -> Result<Written, StoreError> {
        let (key, weight) = (self.task.key(), snapshot_weight(&self.snapshot));
        if !ledger.room.could_fit(weight) {
            let there = ledger.heads.find(&ledger.connection, key);
            let there = there.map_err(StoreError::Unavailable)?.is_some();
            return Err(if there { StoreError::Exists } else { StoreError::Full });
        }
        let (connection, state) = (&ledger.connection, self.columns.state);
        let scope = ledger.heads.scope_or_new(connection, &key.scope).map_err(unavailable)?;
        let number = self.write_row(connection, scope, weight).map_err(unavailable)?;
        let number = number.ok_or(StoreError::Exists)?;
        write_whole(connection, number, self.columns.version, &self.snapshot)
            .map_err(unavailable)?;
        let webhook = match &self.webhook {
            Some(row) => webhook::set(connection, number, row, None, 1).map_err(unavailable)?,
            None => None,
        };
        // Only now, since a task that exists already must not cost another its place.
        ledger.room.add(weight);
        let gone = make_room(ledger).map_err(StoreError::Unavailable)?;
        ledger.moves.came(scope, state);
        let version = self.columns.version;
        ledger.heads.put(key.id, Head { number, scope, version, state, weight });
        let figure = webhook.map_or(Ok(gone.len()), usize::try_from).map_err(unavailable)?;
        let put = Step::Put(self.task.clone());
        let steps = gone.into_iter().map(Step::Gone).chain([put]).collect();
        Ok(Written { figure, steps })
    }

    /// The number of the new row; `None` when the id is taken.
    fn write_row(
        &self,
        connection: &Connection,
        scope: i64,
        weight: i64,
    ) -> rusqlite::Result<Option<i64>> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO task (id, scope, context, state, status_at, created, deadline, changed,
                 version, parked, weight, ended_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (id) DO NOTHING",
        )?;
        let columns = &self.columns;
        let inserted = statement.execute(params![
            self.task.key().id.as_uuid().as_bytes(),
            scope,
            self.task.context().as_str(),
            columns.state.name(),
            columns.status_at,
            self.task.created().as_millis(),
            columns.deadline,
            columns.changed,
            columns.version,
            columns.parked,
            weight,
            columns.ended_at,
        ])?;
        Ok((inserted > 0).then(|| connection.last_insert_rowid()))
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
            webhook: None,
        })
    }

    /// With a webhook, whose number is what is answered, and nothing is done where there are `most` already.
    pub(super) fn with(self, webhook: WebhookRow, most: i64) -> Self {
        Self { webhook: Some((webhook, most)), ..self }
    }

    pub(super) fn perform(&self, ledger: &mut Ledger) -> Result<Written, StoreError> {
        let found = ledger.heads.find(&ledger.connection, &self.key);
        let head = found.map_err(StoreError::Unavailable)?.ok_or(StoreError::NotFound)?;
        let actual = Version(u64::try_from(head.version).map_err(unavailable)?);
        if actual != self.expected {
            return Err(StoreError::Conflict { actual });
        }
        let mut figure = 0;
        if let Some((row, most)) = &self.webhook {
            // First, since without room for it nothing may have been written.
            let kept =
                webhook::set(&ledger.connection, head.number, row, Some(head.version), *most);
            let Some(number) = kept.map_err(unavailable)? else { return Ok(Written::nothing()) };
            figure = usize::try_from(number).map_err(unavailable)?;
        }
        let head = self.write(ledger, head).map_err(unavailable)?;
        ledger.heads.put(self.key.id, head);
        let step = match &self.whole {
            Some(task) => Step::Put(task.clone()),
            None => Step::Fold(self.key.id, self.expected, self.changes.clone()),
        };
        Ok(Written { figure, steps: vec![step] })
    }

    /// Writes the changes on top of where the task stands; says where it stands then.
    fn write(&self, ledger: &mut Ledger, head: Head) -> rusqlite::Result<Head> {
        let (connection, columns) = (&ledger.connection, &self.columns);
        log::insert(connection, head.number, &self.rows)?;
        let mut grown: i64 = self.rows.iter().map(change_weight).sum();
        if let Some(snapshot) = &self.snapshot {
            grown += signed(snapshot.len()) - snapshot_size(connection, head.number)?;
            write_whole(connection, head.number, columns.version, snapshot)?;
            // The snapshot holds what the log has no room for.
            let forgotten = columns.version.saturating_sub(ledger.room.log);
            if forgotten > 0 {
                grown -= log::forget(connection, head.number, forgotten)?;
            }
        }
        let (version, state) = (columns.version, columns.state);
        let next = Head { version, state, weight: head.weight + grown, ..head };
        if !self.advance(connection, head, next)? {
            // The file does not say what was known of it.
            return Err(rusqlite::Error::StatementChangedRows(0));
        }
        ledger.room.grow(grown);
        if state != head.state {
            ledger.moves.went(head.scope, head.state);
            ledger.moves.came(head.scope, state);
        }
        if state.is_terminal() {
            ledger.room.end(next.weight);
        }
        Ok(next)
    }

    /// Writes the row of the task; says whether it was at the version that it was taken to be at.
    fn advance(&self, connection: &Connection, from: Head, to: Head) -> rusqlite::Result<bool> {
        let columns = &self.columns;
        if !self.changes.iter().any(|change| change.state().is_some()) {
            // Names no column of an index, so that none is written.
            let mut statement = connection.prepare_cached(
                "UPDATE task SET version = ?1, changed = ?2, weight = ?3
                 WHERE number = ?4 AND version = ?5",
            )?;
            let values = params![to.version, columns.changed, to.weight, from.number, from.version];
            return Ok(statement.execute(values)? == 1);
        }
        let mut statement = connection.prepare_cached(
            "UPDATE task SET version = :version, changed = :changed, weight = :weight,
                 state = :state, status_at = :status_at, deadline = :deadline, parked = :parked,
                 ended_at = :ended_at
             WHERE number = :number AND version = :expected",
        )?;
        let written = statement.execute(named_params! {
            ":version": to.version,
            ":changed": columns.changed,
            ":weight": to.weight,
            ":state": columns.state.name(),
            ":status_at": columns.status_at,
            ":deadline": columns.deadline,
            ":parked": columns.parked,
            ":ended_at": columns.ended_at,
            ":number": from.number,
            ":expected": from.version,
        })?;
        Ok(written == 1)
    }
}

fn snapshot_size(connection: &Connection, number: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT octet_length(body) FROM snapshot WHERE task = ?1")?
        .query_row([number], |row| row.get(0))
}

/// Whether the task is to be written whole. That is so when a run ends, since what comes next is a reader
/// or another run, unless there are so few changes that folding them is no work; and after so many changes
/// that folding them would take long. The longer the life, the more changes that is, so that each change
/// pays for its share of the snapshots and no more; at most a log's length, since changes that are in no
/// snapshot cannot be forgotten.
fn snapshot_is_due(expected: Version, changes: &[Recorded], task: &Task, log: i64) -> bool {
    const FEW: u64 = 16;
    const MANY: u64 = 256;
    let now = task.version().0;
    let is_status = changes.iter().any(|change| change.state().is_some());
    if is_status && !task.is_running() && now > FEW {
        return true;
    }
    let most = u64::try_from(log).unwrap_or_default().max(MANY);
    let step = now.checked_next_power_of_two().map_or(most, |power| (power / 2).clamp(MANY, most));
    now / step != expected.0 / step
}

/// Removes the tasks that ended before a time, and the scopes that have none left.
pub(super) fn purge(ledger: &mut Ledger, before: Timestamp) -> Result<Written, StoreError> {
    let gone = remove_ended_before(ledger, before.as_millis()).map_err(StoreError::Unavailable)?;
    if !gone.is_empty() {
        ledger
            .connection
            .prepare_cached(
                "DELETE FROM scope
                 WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.scope = scope.number)",
            )
            .and_then(|mut statement| statement.execute([]))
            .map_err(unavailable)?;
        // A number of a scope that is gone may be given to another.
        ledger.heads.forget();
    }
    let figure = gone.len();
    Ok(Written { figure, steps: gone.into_iter().map(Step::Gone).collect() })
}
