//! How much the file holds, and what goes when that is too much.

use super::error::unavailable;
use super::record::ChangeRow;
use crate::memory::Capacity;
use a2ad_domain::TaskId;
use a2ad_domain::ports::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

/// About how many bytes a task takes in the file beside its texts: its row and six indexes.
const TASK: i64 = 768;
/// The same of a change.
const CHANGE: i64 = 48;

/// What is kept, as of the transaction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) tasks: i64,
    pub(super) bytes: i64,
    most_tasks: i64,
    most_bytes: i64,
    /// How many changes of a task are kept.
    log: i64,
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
        let counts = "SELECT count(*), coalesce(sum(weight), 0) FROM task";
        connection.query_row(counts, [], |row| {
            Ok(Self {
                tasks: row.get(0)?,
                bytes: row.get(1)?,
                most_tasks: signed(capacity.tasks),
                most_bytes: signed(capacity.bytes),
                log: signed(capacity.log),
            })
        })
    }

    /// Removes the tasks that ended first until everything fits, the new one included.
    pub(super) fn make(
        &mut self,
        connection: &Connection,
        new: i64,
    ) -> Result<Vec<TaskId>, StoreError> {
        let mut removed = Vec::new();
        while self.tasks > self.most_tasks || self.bytes > self.most_bytes {
            let oldest = oldest_ended(connection, new).map_err(unavailable)?;
            let oldest = oldest.ok_or(StoreError::Full)?;
            removed.push(self.remove(connection, oldest).map_err(unavailable)?);
        }
        Ok(removed)
    }

    /// Removes what ended before a time.
    pub(super) fn remove_ended_before(
        &mut self,
        connection: &Connection,
        before: i64,
    ) -> rusqlite::Result<Vec<TaskId>> {
        let numbers: Vec<i64> = connection
            .prepare_cached("SELECT number FROM task WHERE ended_at < ?1 ORDER BY ended_at")?
            .query_map([before], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        numbers.into_iter().map(|number| self.remove(connection, number)).collect()
    }

    fn remove(&mut self, connection: &Connection, number: i64) -> rusqlite::Result<TaskId> {
        for statement in
            ["DELETE FROM change WHERE task = ?1", "DELETE FROM snapshot WHERE task = ?1"]
        {
            connection.prepare_cached(statement)?.execute([number])?;
        }
        let (id, weight): ([u8; 16], i64) = connection
            .prepare_cached("DELETE FROM task WHERE number = ?1 RETURNING id, weight")?
            .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.tasks -= 1;
        self.bytes -= weight;
        Ok(TaskId::from_u128(u128::from_be_bytes(id)))
    }

    /// Writes a task whole and forgets the changes that its log has no room for, which the snapshot holds.
    pub(super) fn replace(
        &mut self,
        connection: &Connection,
        number: i64,
        version: i64,
        body: &str,
        write: impl FnOnce(&Connection, i64, i64, &str) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let old: i64 = connection
            .prepare_cached("SELECT octet_length(body) FROM snapshot WHERE task = ?1")?
            .query_row([number], |row| row.get(0))?;
        write(connection, number, version, body)?;
        let mut grown = signed(body.len()) - old;
        let forgotten = version.saturating_sub(self.log);
        if forgotten > 0 {
            let freed: i64 = connection
                .prepare_cached(
                    "SELECT coalesce(sum(octet_length(body) + ?3), 0) FROM change
                     WHERE task = ?1 AND version <= ?2",
                )?
                .query_row(params![number, forgotten, CHANGE], |row| row.get(0))?;
            connection
                .prepare_cached("DELETE FROM change WHERE task = ?1 AND version <= ?2")?
                .execute([number, forgotten])?;
            grown -= freed;
        }
        self.bytes += grown;
        connection
            .prepare_cached("UPDATE task SET weight = weight + ?2 WHERE number = ?1")?
            .execute([number, grown])?;
        Ok(())
    }
}

fn oldest_ended(connection: &Connection, new: i64) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT number FROM task WHERE ended_at IS NOT NULL AND number <> ?1
             ORDER BY ended_at LIMIT 1",
        )?
        .query_row([new], |row| row.get(0))
        .optional()
}
