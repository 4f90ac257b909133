//! Reading webhooks.

use crate::sqlite::error::unavailable;
use crate::sqlite::list::key;
use crate::sqlite::read::{ReadError, place};
use crate::sqlite::record::{Damaged, WebhookRow, read_webhook};
use a2ad_domain::ports::StoreError;
use a2ad_domain::{TaskKey, Version, Webhook, WebhookName};
use rusqlite::{Connection, OptionalExtension, Row};

const COLUMNS: &str = "number, id, named, form, body, told";

/// The webhooks of a task, the first one first.
pub(super) fn of_task(file: &Connection, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
    let place = place(file, task).map_err(unavailable)?.ok_or(StoreError::NotFound)?;
    let query = format!("SELECT {COLUMNS} FROM webhook WHERE task = ?1 ORDER BY number");
    let all = || -> Result<Vec<Webhook>, ReadError> {
        let mut statement = file.prepare_cached(&query)?;
        let rows = statement.query_map([place.number], plain)?;
        rows.map(|row| whole(file, row?)).collect()
    };
    all().map_err(StoreError::Unavailable)
}

pub(super) fn one(file: &Connection, number: i64) -> Result<Option<Webhook>, ReadError> {
    let query = format!("SELECT {COLUMNS} FROM webhook WHERE number = ?1");
    let row = file.prepare_cached(&query)?.query_row([number], plain).optional()?;
    row.map(|row| whole(file, row)).transpose()
}

/// A row as it stands: number, content, how far it has been told.
type Plain = (i64, WebhookRow, i64);

fn plain(row: &Row<'_>) -> rusqlite::Result<Plain> {
    let content =
        WebhookRow { id: row.get(1)?, named: row.get(2)?, form: row.get(3)?, body: row.get(4)? };
    Ok((row.get(0)?, content, row.get(5)?))
}

fn version(number: i64) -> Result<Version, Damaged> {
    u64::try_from(number).map(Version).map_err(|_| Damaged::new("a version below zero"))
}

fn whole(file: &Connection, (number, content, told): Plain) -> Result<Webhook, ReadError> {
    let config = read_webhook(&content)?;
    let mut statement = file.prepare_cached(
        "SELECT version FROM letter WHERE webhook = ?1 AND again = 1 ORDER BY version",
    )?;
    let again: Vec<i64> =
        statement.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let again = again.into_iter().map(version).collect::<Result<_, _>>()?;
    Ok(Webhook { number, config, told: version(told)?, again })
}

/// The webhooks that may still be told something.
pub(super) fn open(file: &Connection) -> Result<Vec<WebhookName>, ReadError> {
    names(
        file,
        "webhook.done = 0
         OR webhook.number IN (SELECT webhook FROM letter WHERE again = 1)",
    )
}

/// The webhooks that there is something for.
pub(super) fn due(file: &Connection) -> Result<Vec<WebhookName>, ReadError> {
    names(
        file,
        "webhook.done = 0 AND webhook.told < task.version
         OR webhook.number IN (SELECT webhook FROM letter WHERE again = 1)",
    )
}

fn names(file: &Connection, condition: &str) -> Result<Vec<WebhookName>, ReadError> {
    let query = format!(
        "SELECT task.id, scope.agent, scope.tenant, scope.owner, webhook.number
         FROM webhook JOIN task ON task.number = webhook.task
             JOIN scope ON scope.number = task.scope
         WHERE {condition} ORDER BY webhook.number"
    );
    let mut statement = file.prepare_cached(&query)?;
    let mut rows = statement.query([])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        names.push(WebhookName { task: key(row)?, number: row.get(4)? });
    }
    Ok(names)
}
