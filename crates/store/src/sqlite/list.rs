//! Reading many tasks: pages, what waits, and what nobody works on any more.

use super::cache::Cache;
use super::heads::scope_number;
use super::read::{ReadError, row_of, whole};
use super::record::Damaged;
use super::room::signed;
use super::shared::Shared;
use a2ad_domain::ports::{Cursor, Page, Query};
use a2ad_domain::{AgentId, Owner, Scope, Task, TaskId, TaskKey, TaskState, Tenant, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Statement, params};
use std::sync::Arc;

/// What the marks of a list's statement stand for, in this order. A statement that names none after a place
/// is given none after it.
struct Values([Value; 7]);

impl Values {
    fn of(scope: i64, query: &Query) -> Self {
        let time = |at: Option<Timestamp>| at.map(Timestamp::as_millis).into();
        let context = query.context.as_ref().map(|context| context.as_str().to_owned());
        let id = query.after.map(|place| place.id.as_uuid().as_bytes().to_vec());
        Self([
            scope.into(),
            signed(query.limit.saturating_add(1)).into(),
            context.into(),
            time(query.since),
            time(query.overdue),
            time(query.after.map(|place| place.status_at)),
            id.into(),
        ])
    }

    fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        for (value, mark) in self.0.iter().zip(1..=statement.parameter_count()) {
            statement.raw_bind_parameter(mark, value)?;
        }
        Ok(())
    }
}

/// The states that tasks of the list can be in.
fn states(query: &Query) -> Vec<TaskState> {
    let is_wanted = |state: &TaskState| {
        query.state.is_none_or(|wanted| wanted == *state)
            && (query.overdue.is_none() || !state.is_terminal())
    };
    TaskState::ALL.into_iter().filter(is_wanted).collect()
}

/// Selects the tasks of a list, all of them, from the index that finds them: that of the context, or state
/// by state from the one that is in the order of the list. `order` is put at the end of each part.
fn selection(query: &Query, states: &[TaskState], columns: &str, order: &str) -> String {
    let mut conditions = String::new();
    for (wanted, condition) in [
        (query.since.is_some(), " AND status_at >= ?4"),
        (query.overdue.is_some(), " AND deadline <= ?5"),
        (query.after.is_some() && !order.is_empty(), " AND (status_at, id) < (?6, ?7)"),
    ] {
        if wanted {
            conditions.push_str(condition);
        }
    }
    if query.context.is_some() {
        let names: Vec<_> = states.iter().map(|state| format!("'{}'", state.name())).collect();
        return format!(
            "SELECT {columns} FROM task INDEXED BY task_by_context
             WHERE scope = ?1 AND context = ?3 AND state IN ({}){conditions}{order}",
            names.join(", ")
        );
    }
    let part = |state: &TaskState| {
        format!(
            "SELECT * FROM (SELECT {columns} FROM task INDEXED BY task_by_state
             WHERE scope = ?1 AND state = '{}'{conditions}{order})",
            state.name()
        )
    };
    states.iter().map(part).collect::<Vec<_>>().join(" UNION ALL ")
}

/// A page of a scope's tasks, as of one moment.
pub(super) fn list(
    connection: &Connection,
    shared: &Shared,
    scope: &Scope,
    query: &Query,
) -> Result<Page, ReadError> {
    let nothing = Page { tasks: Vec::new(), next: None, total: 0 };
    let states = states(query);
    let Some(number) = scope_number(connection, scope)?.filter(|_| !states.is_empty()) else {
        return Ok(nothing);
    };
    let values = Values::of(number, query);
    let order = " ORDER BY status_at DESC, id DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(&format!(
        "SELECT task.number, task.version, task.id, task.context, task.created
         FROM (SELECT * FROM ({}){order}) AS place CROSS JOIN task ON task.number = place.number
         ORDER BY place.status_at DESC, place.id DESC",
        selection(query, &states, "number, status_at, id", order)
    ))?;
    values.bind(&mut statement)?;
    let mut rows = statement.raw_query();
    let mut tasks: Vec<Arc<Task>> = Vec::new();
    let mut next = None;
    while let Some(row) = rows.next()? {
        if tasks.len() == query.limit {
            // The one too many is not read; it says that there is another page.
            next =
                tasks.last().map(|last| Cursor { status_at: last.status_at(), id: last.key().id });
            break;
        }
        tasks.push(task_of(connection, &shared.cache, scope, row)?);
    }
    let total = total(connection, shared, number, &values, query, &states)?.max(tasks.len());
    Ok(Page { tasks, next, total })
}

/// How many tasks the list has on all its pages. Those of a state are counted as they come and go; what is
/// filtered further is counted here.
fn total(
    connection: &Connection,
    shared: &Shared,
    scope: i64,
    values: &Values,
    query: &Query,
    states: &[TaskState],
) -> Result<usize, ReadError> {
    let filtered = query.context.is_some() || query.since.is_some() || query.overdue.is_some();
    if !filtered {
        return Ok(usize::try_from(shared.tally.total(scope, states))?);
    }
    let mut statement = connection
        .prepare_cached(&format!("SELECT count(*) FROM ({})", selection(query, states, "1", "")))?;
    values.bind(&mut statement)?;
    let mut rows = statement.raw_query();
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(usize::try_from(row.get::<_, i64>(0)?)?)
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
    let mut statement = connection.prepare_cached(
        "SELECT task.id, scope.agent, scope.tenant, scope.owner
         FROM scope CROSS JOIN task INDEXED BY task_by_state ON task.scope = scope.number
         WHERE scope.agent = ?1 AND task.state IN ('input-required', 'auth-required')
             AND task.status_at < ?2
         ORDER BY task.status_at LIMIT ?3",
    )?;
    keys(statement.query(params![agent.as_str(), since.as_millis(), signed(limit)])?)
}

/// Tasks with a run that is under way, as far as the file knows.
pub(super) fn running(connection: &Connection) -> Result<Vec<TaskKey>, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT task.id, scope.agent, scope.tenant, scope.owner
         FROM scope CROSS JOIN task INDEXED BY task_by_state ON task.scope = scope.number
         WHERE task.state IN ('submitted', 'working', 'input-required', 'auth-required')
             AND task.parked = 0
         ORDER BY task.number",
    )?;
    keys(statement.query([])?)
}

fn keys(mut rows: rusqlite::Rows<'_>) -> Result<Vec<TaskKey>, ReadError> {
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(key(row)?);
    }
    Ok(keys)
}

/// The key that a row begins with: the task's id, and what its scope is made of.
pub(super) fn key(row: &Row<'_>) -> Result<TaskKey, ReadError> {
    let damaged = |e: a2ad_domain::ids::InvalidName| {
        Damaged::because("a task of a scope that cannot be")(e.into())
    };
    let tenant = row.get_ref(2)?.as_str()?;
    let tenant = (!tenant.is_empty()).then(|| Tenant::new(tenant)).transpose();
    let agent = AgentId::new(row.get_ref(1)?.as_str()?).map_err(damaged)?;
    let owner = Owner::new(row.get_ref(3)?.as_str()?).map_err(damaged)?;
    let scope = Scope::new(agent, tenant.map_err(damaged)?, owner);
    Ok(TaskKey { scope, id: id_of(row.get(0)?) })
}
