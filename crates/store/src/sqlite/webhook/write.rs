//! The statements that write webhooks, for the thread that writes.

use crate::sqlite::error::unavailable;
use crate::sqlite::ledger::Ledger;
use crate::sqlite::record::WebhookRow;
use crate::sqlite::write::Written;
use a2ad_domain::TaskKey;
use a2ad_domain::ports::{Letter, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

/// What is to be written, by whoever asks. Requests about a webhook that is gone do nothing.
pub(in crate::sqlite) enum WebhookWork {
    Set { task: TaskKey, row: WebhookRow, after: Option<i64>, most: i64 },
    Delete { task: TaskKey, id: String },
    Told { webhook: i64, upto: i64 },
    GiveUp { webhook: i64, letter: Letter },
    ToldAfterAll { webhook: i64, version: i64 },
}

impl WebhookWork {
    pub(in crate::sqlite) fn perform(&self, ledger: &mut Ledger) -> Result<Written, StoreError> {
        let done = match self {
            Self::Set { task, row, after, most } => {
                let task = number(ledger, task)?;
                set(&ledger.connection, task, row, *after, *most).map(|number| number.is_some())
            }
            Self::Delete { task, id } => {
                let task = number(ledger, task)?;
                delete(&ledger.connection, task, id).map(|_| true)
            }
            Self::Told { webhook, upto } => told(&ledger.connection, *webhook, *upto),
            Self::GiveUp { webhook, letter } => give_up(&ledger.connection, *webhook, letter),
            Self::ToldAfterAll { webhook, version } => ledger
                .connection
                .prepare_cached("DELETE FROM letter WHERE webhook = ?1 AND version = ?2")
                .and_then(|mut statement| statement.execute([*webhook, *version]))
                .map(|removed| removed > 0),
        };
        let done = done.map_err(unavailable)?;
        Ok(Written { figure: usize::from(done), steps: Vec::new() })
    }
}

/// The number of the task of a key.
fn number(ledger: &mut Ledger, task: &TaskKey) -> Result<i64, StoreError> {
    let found = ledger.heads.find(&ledger.connection, task).map_err(StoreError::Unavailable)?;
    found.map(|head| head.number).ok_or(StoreError::NotFound)
}

/// Keeps a webhook; gives its number, and `None` where there are as many as there may be: nothing is written
/// then.
pub(in crate::sqlite) fn set(
    file: &Connection,
    task: i64,
    row: &WebhookRow,
    after: Option<i64>,
    most: i64,
) -> rusqlite::Result<Option<i64>> {
    let old = delete(file, task, &row.id)?;
    let count = "SELECT count(*) FROM webhook WHERE task = ?1";
    let there: i64 = file.prepare_cached(count)?.query_row([task], |row| row.get(0))?;
    // Where one has just made room, it is within the limit.
    if old.is_none() && there >= most {
        return Ok(None);
    }
    let mut statement = file.prepare_cached(
        "INSERT INTO webhook (task, id, named, form, body, told, done)
         SELECT number, ?2, ?3, ?4, ?5, coalesce(?6, version),
             ended_at IS NOT NULL AND coalesce(?6, version) >= version
         FROM task WHERE number = ?1",
    )?;
    let WebhookRow { id, named, form, body } = row;
    let inserted = statement.execute(params![task, id, named, form, body, old.or(after)])?;
    Ok((inserted > 0).then(|| file.last_insert_rowid()))
}

/// Removes a webhook and its letters; hands out how far it had been told.
fn delete(file: &Connection, task: i64, id: &str) -> rusqlite::Result<Option<i64>> {
    let removed: Option<(i64, i64)> = file
        .prepare_cached("DELETE FROM webhook WHERE task = ?1 AND id = ?2 RETURNING number, told")?
        .query_row(params![task, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((number, _)) = removed {
        remove_letters(file, number)?;
    }
    Ok(removed.map(|(_, told)| told))
}

fn remove_letters(file: &Connection, webhook: i64) -> rusqlite::Result<()> {
    file.prepare_cached("DELETE FROM letter WHERE webhook = ?1")?.execute([webhook]).map(|_| ())
}

fn told(file: &Connection, webhook: i64, upto: i64) -> rusqlite::Result<bool> {
    let mut statement = file.prepare_cached(
        "UPDATE webhook SET told = max(told, ?2),
             done = EXISTS (SELECT 1 FROM task WHERE task.number = webhook.task
                 AND task.ended_at IS NOT NULL AND task.version <= max(webhook.told, ?2))
         WHERE number = ?1",
    )?;
    Ok(statement.execute([webhook, upto])? > 0)
}

fn give_up(file: &Connection, webhook: i64, letter: &Letter) -> rusqlite::Result<bool> {
    let version = i64::try_from(letter.version.0).unwrap_or(i64::MAX);
    if !told(file, webhook, version)? {
        return Ok(false);
    }
    let mut statement = file.prepare_cached(
        "INSERT INTO letter (webhook, version, at, why, again) VALUES (?1, ?2, ?3, ?4, 0)
         ON CONFLICT (webhook, version) DO UPDATE
             SET at = excluded.at, why = excluded.why, again = 0",
    )?;
    statement.execute(params![webhook, version, letter.at.as_millis(), letter.why]).map(|_| true)
}

/// Removes the webhooks of a task that is about to be removed. Whoever was not told everything will not be,
/// and that is said.
pub(in crate::sqlite) fn remove_all(file: &Connection, task: i64) -> rusqlite::Result<()> {
    let mut statement =
        file.prepare_cached("DELETE FROM webhook WHERE task = ?1 RETURNING number, done")?;
    let mut rows = statement.query([task])?;
    let (mut removed, mut untold) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        removed.push(row.get(0)?);
        untold += usize::from(!row.get::<_, bool>(1)?);
    }
    for webhook in removed {
        remove_letters(file, webhook)?;
    }
    if untold > 0 {
        tracing::warn!(untold, "a task was removed before its webhooks were told of its end");
    }
    Ok(())
}
