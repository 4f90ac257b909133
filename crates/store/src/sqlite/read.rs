//! Reading one task and its log.

use super::error::unavailable;
use super::log;
use super::record::{Damaged, Row, read_snapshot};
use super::write::tenant;
use a2ad_domain::ports::{Changes, StoreError};
use a2ad_domain::{ContextId, Task, TaskKey, Timestamp, Version};
use rusqlite::{Connection, OptionalExtension, params};
use std::error::Error;
use std::sync::Arc;

/// What went wrong when something was read: the file, or what stands in it.
pub(super) type ReadError = Box<dyn Error + Send + Sync>;

/// Where a task stands: the number that its rows are found by, and its newest version.
pub(super) struct Place {
    pub(super) number: i64,
    version: i64,
    context: String,
    created: i64,
}

pub(super) fn place(connection: &Connection, key: &TaskKey) -> rusqlite::Result<Option<Place>> {
    let mut statement = connection.prepare_cached(
        "SELECT task.number, task.version, task.context, task.created
         FROM task JOIN scope ON scope.number = task.scope
         WHERE task.id = ?1 AND scope.agent = ?2 AND scope.tenant = ?3 AND scope.owner = ?4",
    )?;
    let (id, scope) = (key.id.as_uuid().as_bytes(), &key.scope);
    let values = params![id, scope.agent().as_str(), tenant(scope), scope.owner().as_str()];
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Place {
            number: row.get(0)?,
            version: row.get(1)?,
            context: row.get(2)?,
            created: row.get(3)?,
        })
    };
    statement.query_row(values, read).optional()
}

/// The task of a key.
pub(super) fn load(connection: &Connection, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
    let place = place(connection, key).map_err(unavailable)?.ok_or(StoreError::NotFound)?;
    let (number, version) = (place.number, place.version);
    let task = row_of(key.clone(), place.context, place.created)
        .map_err(ReadError::from)
        .and_then(|row| whole(connection, number, version, row));
    task.map(Arc::new).map_err(unavailable)
}

pub(super) fn row_of(key: TaskKey, context: String, created: i64) -> Result<Row, Damaged> {
    let context = ContextId::new(context);
    let context =
        context.map_err(|e| Damaged::because("a task without a valid context")(e.into()))?;
    Ok(Row { key, context, created: Timestamp::from_millis(created) })
}

/// The task of a number: its snapshot and what came after that.
pub(super) fn whole(
    connection: &Connection,
    number: i64,
    version: i64,
    row: Row,
) -> Result<Task, ReadError> {
    let mut statement =
        connection.prepare_cached("SELECT version, body FROM snapshot WHERE task = ?1")?;
    let mut rows = statement.query([number])?;
    let snapshot = rows.next()?.ok_or(Damaged::new("a task without a snapshot"))?;
    let since: i64 = snapshot.get(0)?;
    let mut task = read_snapshot(row, snapshot.get_ref(1)?.as_str()?)?;
    if since != version {
        for change in log::after(connection, number, since, i64::MAX)? {
            task.replay(&change)?;
        }
    }
    if i64::try_from(task.version().0) != Ok(version) {
        return Err(Damaged::new("a task whose changes are not all there").into());
    }
    Ok(task)
}

/// The part of a task's log. `log` is how many changes it holds: more may still be in the file, where the
/// next snapshot removes them.
pub(super) fn changes_after(
    connection: &Connection,
    key: &TaskKey,
    after: Version,
    limit: usize,
    log: i64,
) -> Result<Changes, StoreError> {
    let place = place(connection, key).map_err(unavailable)?.ok_or(StoreError::NotFound)?;
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    if after >= place.version {
        return Ok(Changes::After(Vec::new()));
    }
    if place.version - after > log {
        return Ok(Changes::TooOld);
    }
    // At least one is read, since only it tells whether the log reaches back so far.
    let rows = super::room::signed(limit.max(1));
    let mut changes =
        log::after(connection, place.number, after, rows).map_err(StoreError::Unavailable)?;
    let next = Version(after.unsigned_abs() + 1);
    if changes.first().is_none_or(|first| first.version != next) {
        return Ok(Changes::TooOld);
    }
    changes.truncate(limit);
    Ok(Changes::After(changes))
}
