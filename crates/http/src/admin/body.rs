//! Reads what requests of operators say beside their path.

use super::directory::Problem;
use a2ad_domain::ports::Survey;
use a2ad_domain::{AgentId, TaskId, TaskState, Unfinished};
use bytes::Bytes;
use serde_json::{Map, Value};

/// How many tasks a page holds unless the query says so, and at most.
const PAGE: usize = 50;
const LONGEST_PAGE: usize = 100;

fn invalid(problem: impl Into<String>) -> Problem {
    Problem::Invalid(problem.into())
}

/// The members of a body that describes something.
pub(super) fn described(body: &Bytes) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(invalid("the body must be a JSON object")),
        Err(error) => Err(invalid(format!("the body is no JSON: {error}"))),
    }
}

/// The id of what is described, if it is one that there can be.
pub(super) fn id(members: &Map<String, Value>) -> Option<String> {
    let id = members.get("id")?.as_str()?;
    AgentId::new(id).ok().map(|id| id.to_string())
}

/// What becomes of the tasks of an agent: `{"tasks": "drain"}` or `{"tasks": "cancel"}`, or no body.
pub(super) fn unfinished(body: &Bytes) -> Result<Unfinished, Problem> {
    if body.is_empty() {
        return Ok(Unfinished::default());
    }
    let mut members = described(body)?;
    let tasks = members.remove("tasks");
    if let Some(key) = members.keys().next() {
        return Err(invalid(format!("{key}: is no key here; expected `tasks`")));
    }
    match tasks {
        None => Ok(Unfinished::default()),
        Some(Value::String(word)) if word == "drain" => Ok(Unfinished::Drain),
        Some(Value::String(word)) if word == "cancel" => Ok(Unfinished::Cancel),
        Some(other) => Err(invalid(format!("tasks: {other} is not \"drain\" or \"cancel\""))),
    }
}

/// The word for it.
pub(super) const fn word(tasks: Unfinished) -> &'static str {
    match tasks {
        Unfinished::Drain => "drain",
        Unfinished::Cancel => "cancel",
    }
}

/// Which tasks a query asks for, and whether only those that are overdue.
pub(super) fn survey(query: &str) -> Result<(Survey, bool), Problem> {
    let mut survey = Survey { limit: PAGE, ..Survey::default() };
    let mut overdue = false;
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let wrong = |rule: &str| invalid(format!("{key}: {value:?} {rule}"));
        match &*key {
            "agent" => {
                let id = AgentId::new(&*value).map_err(|rule| wrong(&rule.to_string()))?;
                survey.agent = Some(id);
            }
            "state" => {
                let state = TaskState::ALL.into_iter().find(|state| state.name() == value);
                survey.state = Some(state.ok_or_else(|| wrong("is no state; see docs/admin.md"))?);
            }
            "overdue" => {
                overdue = value.parse().map_err(|_| wrong("must be true or false"))?;
            }
            "pageSize" => {
                let size = value.parse().ok().filter(|size| (1..=LONGEST_PAGE).contains(size));
                survey.limit = size.ok_or_else(|| wrong("must be 1 to 100"))?;
            }
            "pageToken" if value.is_empty() => {}
            "pageToken" => {
                let after = TaskId::parse(&value);
                survey.after = Some(after.ok_or_else(|| wrong("is no token of this list"))?);
            }
            _ => {
                let known = "agent, state, overdue, pageSize, pageToken";
                return Err(invalid(format!("{key}: is no parameter; there are {known}")));
            }
        }
    }
    Ok((survey, overdue))
}
