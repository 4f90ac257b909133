//! Reading tasks of all scopes, from their rows alone.

use super::error::unavailable;
use super::list::key;
use super::read::ReadError;
use super::record::{Damaged, state_of};
use super::room::signed;
use a2ad_domain::ports::{StoreError, Survey, TaskSummary};
use a2ad_domain::{AgentId, ContextId, TaskId, TaskKey, Timestamp, Version};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

/// Whoever looks for tasks that live finds them in the index of states: they are few. Otherwise tasks are gone
/// through in the order of the answer until there are enough.
fn selection(survey: &Survey) -> (String, Vec<Value>) {
    let names: Vec<_> = survey.states().map(|state| format!("'{}'", state.name())).collect();
    let few = survey.states().all(|state| !state.is_terminal());
    let from = if few {
        "scope CROSS JOIN task INDEXED BY task_by_state ON task.scope = scope.number"
    } else {
        "task CROSS JOIN scope ON scope.number = task.scope"
    };
    let mut values: Vec<Value> = Vec::new();
    let mut conditions = String::new();
    let agent = survey.agent.as_ref().map(|agent| agent.as_str().to_owned().into());
    let after = survey.after.map(|id| id.as_uuid().as_bytes().to_vec().into());
    let overdue = survey.overdue.map(|now| now.as_millis().into());
    for (condition, value) in
        [("scope.agent =", agent), ("task.id <", after), ("task.deadline <=", overdue)]
    {
        if let Some(value) = value {
            values.push(value);
            conditions.push_str(&format!(" AND {condition} ?{}", values.len()));
        }
    }
    values.push(signed(survey.limit).into());
    let statement = format!(
        "SELECT task.id, scope.agent, scope.tenant, scope.owner, task.context, task.state,
             task.status_at, task.created, task.deadline, task.version, task.parked
         FROM {from} WHERE task.state IN ({}){conditions} ORDER BY task.id DESC LIMIT ?{}",
        names.join(", "),
        values.len()
    );
    (statement, values)
}

pub(super) fn survey(file: &Connection, survey: &Survey) -> Result<Vec<TaskSummary>, ReadError> {
    let (statement, values) = selection(survey);
    let mut statement = file.prepare_cached(&statement)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(summary(row)?);
    }
    Ok(found)
}

fn summary(row: &Row<'_>) -> Result<TaskSummary, ReadError> {
    let context = ContextId::new(row.get_ref(4)?.as_str()?);
    let context =
        context.map_err(|e| Damaged::because("a task without a valid context")(e.into()))?;
    let state = state_of(row.get_ref(5)?.as_str()?)?;
    let parked: bool = row.get(10)?;
    Ok(TaskSummary {
        key: key(row)?,
        context,
        state,
        status_at: Timestamp::from_millis(row.get(6)?),
        created: Timestamp::from_millis(row.get(7)?),
        deadline: row.get::<_, Option<i64>>(8)?.map(Timestamp::from_millis),
        version: Version(u64::try_from(row.get::<_, i64>(9)?)?),
        running: !state.is_terminal() && !parked,
    })
}

/// The task of an id, whoever may see it.
pub(super) fn find(file: &Connection, id: TaskId) -> Result<TaskKey, StoreError> {
    let read = || -> Result<Option<TaskKey>, ReadError> {
        let mut statement = file.prepare_cached(
            "SELECT task.id, scope.agent, scope.tenant, scope.owner
             FROM task JOIN scope ON scope.number = task.scope WHERE task.id = ?1",
        )?;
        let found = statement.query_row([id.as_uuid().as_bytes()], |row| Ok(key(row)));
        found.optional()?.transpose()
    };
    read().map_err(unavailable)?.ok_or(StoreError::NotFound)
}

/// The agents that have scopes.
pub(super) fn agents(file: &Connection) -> Result<Vec<AgentId>, ReadError> {
    let mut statement = file.prepare_cached("SELECT DISTINCT agent FROM scope ORDER BY agent")?;
    let mut rows = statement.query([])?;
    let mut agents = Vec::new();
    while let Some(row) = rows.next()? {
        let agent = AgentId::new(row.get_ref(0)?.as_str()?);
        let damaged = Damaged::because("a scope of an agent that cannot be");
        agents.push(agent.map_err(|e| damaged(e.into()))?);
    }
    Ok(agents)
}
