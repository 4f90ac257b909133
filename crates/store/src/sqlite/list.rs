//! Reading many tasks: pages, what waits, and what nobody works on any more.

use super::cache::Cache;
use super::read::{ReadError, row_of, whole};
use super::record::Damaged;
use super::room::signed;
use super::write::tenant;
use a2ad_domain::ports::{Cursor, Page, Query};
use a2ad_domain::{AgentId, Owner, Scope, Task, TaskId, TaskKey, Tenant, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
use std::sync::Arc;

/// The conditions of a list and their values, in the order of their marks.
struct Filter {
    text: String,
    values: Vec<Value>,
}

impl Filter {
    fn of(scope: &Scope, query: &Query) -> Self {
        let names = [scope.agent().as_str(), tenant(scope), scope.owner().as_str()];
        let values = names.map(|name| Value::from(name.to_owned())).into();
        let mut filter = Self { text: "agent = ? AND tenant = ? AND owner = ?".into(), values };
        if let Some(context) = &query.context {
            filter.and("context = ?", [context.as_str().to_owned().into()]);
        }
        if let Some(state) = query.state {
            filter.and("state = ?", [state.name().to_owned().into()]);
        }
        if let Some(since) = query.since {
            filter.and("status_at >= ?", [since.as_millis().into()]);
        }
        if let Some(now) = query.overdue {
            filter.and("ended_at IS NULL AND deadline <= ?", [now.as_millis().into()]);
        }
        filter
    }

    fn and<const N: usize>(&mut self, condition: &str, values: [Value; N]) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.extend(values);
    }
}

/// A page of a scope's tasks, as of one moment.
pub(super) fn list(
    connection: &Connection,
    cache: &Cache,
    scope: &Scope,
    query: &Query,
) -> Result<Page, ReadError> {
    let mut filter = Filter::of(scope, query);
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM task WHERE {}", filter.text))?
        .query_row(params_from_iter(&filter.values), |row| row.get(0))?;
    if let Some(place) = query.after {
        let id = place.id.as_uuid().as_bytes().to_vec();
        filter.and("(status_at, id) < (?, ?)", [place.status_at.as_millis().into(), id.into()]);
    }
    filter.values.push(signed(query.limit.saturating_add(1)).into());
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, version, id, context, created FROM task WHERE {}
         ORDER BY status_at DESC, id DESC LIMIT ?",
        filter.text
    ))?;
    let mut rows = statement.query(params_from_iter(&filter.values))?;
    let mut tasks: Vec<Arc<Task>> = Vec::new();
    let mut next = None;
    while let Some(row) = rows.next()? {
        if tasks.len() == query.limit {
            // The one too many is not read; it says that there is another page.
            next =
                tasks.last().map(|last| Cursor { status_at: last.status_at(), id: last.key().id });
            break;
        }
        tasks.push(task_of(connection, cache, scope, row)?);
    }
    Ok(Page { tasks, next, total: usize::try_from(total)? })
}

fn task_of(
    connection: &Connection,
    cache: &Cache,
    scope: &Scope,
    row: &Row<'_>,
) -> Result<Arc<Task>, ReadError> {
    let key = TaskKey { scope: scope.clone(), id: id_of(row.get(2)?) };
    let version: i64 = row.get(1)?;
    // The cache may be ahead of the moment that this page is of.
    let held = cache.get(&key).filter(|task| i64::try_from(task.version().0) == Ok(version));
    if let Some(task) = held {
        return Ok(task);
    }
    let rest = row_of(key, row.get(3)?, row.get(4)?)?;
    Ok(Arc::new(whole(connection, row.get(0)?, version, rest)?))
}

fn id_of(bytes: [u8; 16]) -> TaskId {
    TaskId::from_u128(u128::from_be_bytes(bytes))
}

/// Tasks of an agent that have waited since before a time, those first that have waited longest.
pub(super) fn waiting(
    connection: &Connection,
    agent: &AgentId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<TaskKey>, ReadError> {
    // The states stand in the text, as in the index, or the index would not be used.
    let mut statement = connection.prepare_cached(
        "SELECT id, agent, tenant, owner FROM task
         WHERE agent = ?1 AND status_at < ?2 AND state IN ('input-required', 'auth-required')
         ORDER BY status_at LIMIT ?3",
    )?;
    keys(statement.query(params![agent.as_str(), since.as_millis(), signed(limit)])?)
}

/// Tasks with a run that is under way, as far as the file knows.
pub(super) fn running(connection: &Connection) -> Result<Vec<TaskKey>, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, agent, tenant, owner FROM task
         WHERE ended_at IS NULL AND parked = 0 ORDER BY number",
    )?;
    keys(statement.query([])?)
}

fn keys(mut rows: rusqlite::Rows<'_>) -> Result<Vec<TaskKey>, ReadError> {
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = |e: a2ad_domain::ids::InvalidName| {
            Damaged::because("a task of a scope that cannot be")(e.into())
        };
        let tenant = row.get_ref(2)?.as_str()?;
        let tenant = (!tenant.is_empty()).then(|| Tenant::new(tenant)).transpose();
        let agent = AgentId::new(row.get_ref(1)?.as_str()?).map_err(damaged)?;
        let owner = Owner::new(row.get_ref(3)?.as_str()?).map_err(damaged)?;
        let scope = Scope::new(agent, tenant.map_err(damaged)?, owner);
        keys.push(TaskKey { scope, id: id_of(row.get(0)?) });
    }
    Ok(keys)
}
