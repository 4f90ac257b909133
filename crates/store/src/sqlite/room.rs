//! How much the file holds, and what goes when that is too much.

use super::ledger::Ledger;
use super::log::{self, CHANGE};
use super::record::{ChangeRow, state_of};
use crate::memory::Capacity;
use a2ad_domain::{TaskId, TaskState};
use rusqlite::{Connection, OptionalExtension};
use std::error::Error;

/// About how many bytes a task takes in the file beside its texts: its row and four indexes.
const TASK: i64 = 512;

/// What is kept, as of the transaction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) tasks: i64,
    pub(super) bytes: i64,
    /// How much of that has ended and may go.
    ended: Ended,
    most_tasks: i64,
    most_bytes: i64,
    /// How many changes of a task are kept.
    pub(super) log: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    tasks: i64,
    bytes: i64,
}

/// A size in the terms of SQLite, which has no larger ones.
pub(super) fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// What a task takes that has no changes yet.
pub(super) fn snapshot_weight(body: &str) -> i64 {
    signed(body.len()) + TASK
}

pub(super) fn change_weight(row: &ChangeRow) -> i64 {
    signed(row.body.len()) + CHANGE
}

impl Room {
    /// Counts what is there.
    pub(super) fn count(connection: &Connection, capacity: Capacity) -> rusqlite::Result<Self> {
        let counts = "SELECT count(*), coalesce(sum(weight), 0), count(ended_at),
            coalesce(sum(weight) FILTER (WHERE ended_at IS NOT NULL), 0) FROM task";
        connection.query_row(counts, [], |row| {
            Ok(Self {
                tasks: row.get(0)?,
                bytes: row.get(1)?,
                ended: Ended { tasks: row.get(2)?, bytes: row.get(3)? },
                most_tasks: signed(capacity.tasks),
                most_bytes: signed(capacity.bytes),
                log: signed(capacity.log),
            })
        })
    }

    /// Whether a new task would fit if everything that has ended were gone.
    pub(super) fn could_fit(&self, weight: i64) -> bool {
        self.tasks - self.ended.tasks < self.most_tasks
            && self.bytes - self.ended.bytes + weight <= self.most_bytes
    }

    fn is_over(&self) -> bool {
        self.tasks > self.most_tasks || self.bytes > self.most_bytes
    }

    /// A task weighs more or less by so much than it did.
    pub(super) fn grow(&mut self, by: i64) {
        self.bytes += by;
    }

    /// A task was added.
    pub(super) fn add(&mut self, weight: i64) {
        self.tasks += 1;
        self.bytes += weight;
    }

    /// A task has ended and may go from now on.
    pub(super) fn end(&mut self, weight: i64) {
        self.ended.tasks += 1;
        self.ended.bytes += weight;
    }

    fn remove(&mut self, weight: i64) {
        self.tasks -= 1;
        self.bytes -= weight;
        self.ended.tasks -= 1;
        self.ended.bytes -= weight;
    }
}

type Removed = Result<Vec<TaskId>, Box<dyn Error + Send + Sync>>;

/// Removes the tasks that ended first until everything fits.
pub(super) fn make_room(ledger: &mut Ledger) -> Removed {
    let mut removed = Vec::new();
    while ledger.room.is_over() {
        let oldest = ledger
            .connection
            .prepare_cached(
                "SELECT number FROM task WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT 1",
            )?
            .query_row([], |row| row.get(0))
            .optional()?;
        // There is none when what lives has grown since it was let in.
        let Some(oldest) = oldest else { break };
        removed.push(remove(ledger, oldest)?);
    }
    Ok(removed)
}

/// Removes what ended before a time.
pub(super) fn remove_ended_before(ledger: &mut Ledger, before: i64) -> Removed {
    let numbers: Vec<i64> = ledger
        .connection
        .prepare_cached("SELECT number FROM task WHERE ended_at < ?1 ORDER BY ended_at")?
        .query_map([before], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    numbers.into_iter().map(|number| remove(ledger, number)).collect()
}

fn remove(ledger: &mut Ledger, number: i64) -> Result<TaskId, Box<dyn Error + Send + Sync>> {
    let file = &ledger.connection;
    log::remove(file, number)?;
    file.prepare_cached("DELETE FROM snapshot WHERE task = ?1")?.execute([number])?;
    super::webhook::remove_all(file, number)?;
    let mut statement = file
        .prepare_cached("DELETE FROM task WHERE number = ?1 RETURNING id, scope, state, weight")?;
    let mut rows = statement.query([number])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let (id, scope, weight): ([u8; 16], i64, i64) = (row.get(0)?, row.get(1)?, row.get(3)?);
    let state: TaskState = state_of(row.get_ref(2)?.as_str()?)?;
    ledger.room.remove(weight);
    ledger.moves.went(scope, state);
    Ok(TaskId::from_u128(u128::from_be_bytes(id)))
}
