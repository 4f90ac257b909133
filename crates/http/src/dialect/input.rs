//! What the lines have in common when parameters are read.

use super::text::{Borrowed, Object, Shared};
use super::{Artifacts, Call, Invalid, Unreadable, View};
use a2ad_domain::service::ListTasks;
use a2ad_domain::{ContextId, RawJson, TaskState, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

pub(super) const DEFAULT_PAGE: i64 = 50;
pub(super) const MAX_PAGE: i64 = 100;

/// Reads an object. Only when that fails it is read once more to find out where.
pub(super) fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Unreadable> {
    let text = params.ok_or(Unreadable::Missing)?.get();
    let error = match serde_json::from_str::<Object<T>>(text) {
        Ok(Object(read)) => return Ok(read),
        Err(error) => error,
    };
    // The parser has no other sign of a member given twice than its words, which a test pins.
    if !error.is_data() || error.to_string().starts_with("duplicate field") {
        return Err(Unreadable::NotJson);
    }
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, Object<T>>(deserializer) {
        Ok(_) => String::new(),
        Err(error) => error.path().to_string(),
    };
    let field = if path == "." { String::new() } else { path };
    Err(Invalid::new(field, "has the wrong type").into())
}

/// A free-form member, which must be an object.
pub(super) fn object(given: Option<&RawValue>, field: &str) -> Result<Option<RawJson>, Invalid> {
    let value = given.map(RawJson::new);
    if value.as_ref().is_some_and(|value| !value.is_object()) {
        return Err(Invalid::new(field, "must be an object"));
    }
    Ok(value)
}

/// A list of names.
pub(super) fn names(given: Option<Vec<Shared>>) -> Box<[Arc<str>]> {
    given.unwrap_or_default().into_iter().map(|Shared(name)| name).collect()
}

/// An id; an empty one is none.
pub(super) fn id(given: Option<&Shared>) -> Option<Arc<str>> {
    given.map(|Shared(id)| id.clone()).filter(|id| !id.is_empty())
}

/// A context id; an empty one is none.
pub(super) fn context(given: Option<&Shared>, field: &str) -> Result<Option<ContextId>, Invalid> {
    id(given).map(ContextId::new).transpose().map_err(|rule| Invalid::new(field, rule.0))
}

/// How many messages are wanted.
pub(super) fn history(length: Option<i64>, field: &str) -> Result<Option<usize>, Invalid> {
    let Some(length) = length else { return Ok(None) };
    let length = i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or_else(|| Invalid::new(field, "must be 0 to 2147483647"))?;
    Ok(Some(length))
}

/// The id of a task that a call is about.
pub(super) fn task_id(id: Option<Borrowed<'_>>) -> Result<String, Invalid> {
    let id = id.filter(|id| !id.0.is_empty()).ok_or_else(|| Invalid::new("id", "is required"))?;
    Ok(id.0.into_owned())
}

/// What a list is asked for, in whatever line.
pub(super) struct Wanted<'a> {
    pub(super) context: Option<Shared>,
    pub(super) state: Option<TaskState>,
    pub(super) page_size: i64,
    pub(super) page_token: Option<Borrowed<'a>>,
    pub(super) history_length: Option<i64>,
    pub(super) since_text: Option<Borrowed<'a>>,
    pub(super) since: Option<Timestamp>,
    pub(super) overdue: Option<bool>,
    pub(super) artifacts: Artifacts,
}

/// The call for a list (specification 1.0 §3.1.4).
pub(super) fn list(wanted: Wanted<'_>) -> Result<Call, Unreadable> {
    let size = wanted.page_size;
    if !(1..=MAX_PAGE).contains(&size) {
        return Err(Invalid::new("pageSize", "must be 1 to 100").into());
    }
    let since = wanted.since_text.map(|text| Timestamp::parse(&text.0)).transpose();
    let since = since.map_err(|rule| Invalid::new("statusTimestampAfter", rule.to_string()))?;
    let list = ListTasks {
        context: context(wanted.context.as_ref(), "contextId")?,
        state: wanted.state,
        since: since.or(wanted.since),
        overdue: wanted.overdue.unwrap_or(false),
        limit: usize::try_from(size).unwrap_or(1),
        after: None,
    };
    let token = wanted.page_token.map(|token| token.0.into_owned());
    let history = history(wanted.history_length, "historyLength")?;
    let view = View { history, artifacts: wanted.artifacts };
    Ok(Call::List(list, token.filter(|token| !token.is_empty()), view))
}
