//! Reads the parameters of 0.3 calls (specification 0.3 §7): lenient in what is left out, strict in what
//! is there.

use super::part::{PartIn, part};
use crate::dialect::profile::{PLAIN, Profile};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Call, Invalid, Method, Unreadable, View};
use a2ad_domain::service::{ListTasks, SendMessage};
use a2ad_domain::{ContextId, Message, MessageId, Parts, RawJson, Role, TaskState, Timestamp};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::sync::Arc;

const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendIn<'a> {
    #[serde(borrow)]
    message: Option<Object<MessageIn<'a>>>,
    #[serde(borrow)]
    configuration: Option<Object<ConfigurationIn<'a>>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageIn<'a> {
    #[serde(borrow)]
    kind: Option<Borrowed<'a>>,
    #[serde(borrow)]
    role: Option<Borrowed<'a>>,
    message_id: Option<Shared>,
    #[serde(borrow)]
    parts: Option<Vec<Object<PartIn<'a>>>>,
    task_id: Option<Shared>,
    context_id: Option<Shared>,
    reference_task_ids: Option<Vec<Shared>>,
    extensions: Option<Vec<Shared>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationIn<'a> {
    blocking: Option<bool>,
    return_immediately: Option<bool>,
    #[serde(rename = "return_immediately")]
    snake_return_immediately: Option<bool>,
    history_length: Option<i64>,
    #[serde(borrow)]
    accepted_output_modes: Option<Vec<Borrowed<'a>>>,
    push_notification_config: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskIn<'a> {
    #[serde(borrow)]
    id: Option<Borrowed<'a>>,
    history_length: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListIn<'a> {
    context_id: Option<Shared>,
    #[serde(borrow)]
    status: Option<Borrowed<'a>>,
    page_size: Option<i64>,
    #[serde(borrow)]
    page_token: Option<Borrowed<'a>>,
    history_length: Option<i64>,
    #[serde(borrow)]
    status_timestamp_after: Option<Borrowed<'a>>,
    last_updated_after: Option<i64>,
    include_artifacts: Option<bool>,
}

pub(super) fn call(
    method: Method,
    params: Option<&RawValue>,
    profile: &Profile,
) -> Result<Call, Unreadable> {
    match method {
        Method::Send | Method::Stream => {
            let SendIn { message, configuration, metadata } = read(params)?;
            let (call, view) = send(message, configuration, metadata, profile)?;
            let call = Box::new(call);
            Ok(if method == Method::Send {
                Call::Send(call, view)
            } else {
                Call::Stream(call, view)
            })
        }
        Method::Get => {
            let TaskIn { id, history_length } = read(params)?;
            let history = history(history_length, "historyLength")?;
            Ok(Call::Get(task_id(id)?, View { history, artifacts: true }))
        }
        Method::Cancel => Ok(Call::Cancel(task_id(read::<TaskIn<'_>>(params)?.id)?)),
        Method::Attach => Ok(Call::Attach(task_id(read::<TaskIn<'_>>(params)?.id)?)),
        Method::List if params.is_none() => list(ListIn::default(), profile),
        Method::List => list(read(params)?, profile),
        Method::PushConfig => Ok(Call::PushConfig),
        Method::ExtendedCard => Ok(Call::ExtendedCard),
    }
}

/// Reads an object. Only when that fails it is read once more to find out where.
fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Unreadable> {
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

fn send(
    message: Option<Object<MessageIn<'_>>>,
    configuration: Option<Object<ConfigurationIn<'_>>>,
    metadata: Option<&RawValue>,
    profile: &Profile,
) -> Result<(SendMessage, View), Unreadable> {
    let Some(Object(given)) = message else {
        // Praison's callers are told by name; others get the bare error that test suites compare.
        let field = if std::ptr::eq(profile, &raw const PLAIN) { "" } else { "message" };
        return Err(Invalid::new(field, "is required").into());
    };
    let task = given.task_id.clone().map(|Shared(id)| id).filter(|id| !id.is_empty());
    let context = given.context_id.clone().map(|Shared(id)| id).filter(|id| !id.is_empty());
    let context = context
        .map(ContextId::new)
        .transpose()
        .map_err(|rule| Invalid::new("message.contextId", rule.0))?;
    let message = self::message(given, profile)?;
    let metadata = object(metadata, "metadata")?;
    let (mut wait, mut limit, mut accepted) = (None, None, Vec::new());
    if let Some(Object(configuration)) = configuration {
        if configuration.push_notification_config.is_some() {
            return Err(Unreadable::PushNotification);
        }
        wait = waits(&configuration)?;
        limit = history(configuration.history_length, "configuration.historyLength")?;
        let modes = configuration.accepted_output_modes.unwrap_or_default();
        accepted = modes.into_iter().map(|mode| mode.0.into_owned()).collect();
    }
    let view = View { history: limit, artifacts: true };
    let accepted_output_modes = accepted;
    Ok((SendMessage { message, task, context, wait, metadata, accepted_output_modes }, view))
}

fn message(given: MessageIn<'_>, profile: &Profile) -> Result<Message, Invalid> {
    if given.kind.is_some_and(|kind| kind.0 != "message") {
        return Err(Invalid::new("message.kind", "must be \"message\""));
    }
    let role = match given.role {
        Some(role) if role.0.eq_ignore_ascii_case("user") => Role::User,
        Some(role) if role.0.eq_ignore_ascii_case("agent") => Role::Agent,
        None if profile.sparse_messages => Role::User,
        None => return Err(Invalid::new("message.role", "is required")),
        Some(_) => return Err(Invalid::new("message.role", "must be \"user\" or \"agent\"")),
    };
    let id = match given.message_id {
        Some(Shared(id)) => {
            MessageId::new(id).map_err(|rule| Invalid::new("message.messageId", rule.0))?
        }
        None if profile.sparse_messages => fresh_message_id()?,
        None => return Err(Invalid::new("message.messageId", "is required")),
    };
    let parts = given.parts.ok_or_else(|| Invalid::new("message.parts", "is required"))?;
    let parts = parts
        .into_iter()
        .enumerate()
        .map(|(index, Object(given))| part(given, index))
        .collect::<Result<Vec<_>, _>>()?;
    let parts = Parts::new(parts)
        .ok_or_else(|| Invalid::new("message.parts", "must hold at least one part"))?;
    Ok(Message {
        id,
        role,
        parts,
        metadata: object(given.metadata, "message.metadata")?,
        extensions: names(given.extensions),
        references: names(given.reference_task_ids),
    })
}

/// An id for a message whose sender made none. Only told back to that sender, so it has to be distinct
/// and nothing more.
fn fresh_message_id() -> Result<MessageId, Invalid> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::LazyLock<u128> = std::sync::LazyLock::new(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |since| since.as_nanos())
    });
    let name = format!("msg-{:x}-{}", *START, NEXT.fetch_add(1, Ordering::Relaxed));
    MessageId::new(name).map_err(|rule| Invalid::new("message.messageId", rule.0))
}

fn names(given: Option<Vec<Shared>>) -> Box<[Arc<str>]> {
    given.unwrap_or_default().into_iter().map(|Shared(name)| name).collect()
}

/// A free-form member, which must be an object.
pub(super) fn object(given: Option<&RawValue>, field: &str) -> Result<Option<RawJson>, Invalid> {
    let value = given.map(RawJson::new);
    if value.as_ref().is_some_and(|value| !value.is_object()) {
        return Err(Invalid::new(field, "must be an object"));
    }
    Ok(value)
}

/// Whether a send waits. The 1.0 name is understood as well, since clients send it.
fn waits(configuration: &ConfigurationIn<'_>) -> Result<Option<bool>, Invalid> {
    let given = [
        configuration.blocking,
        configuration.return_immediately.map(|value| !value),
        configuration.snake_return_immediately.map(|value| !value),
    ];
    let mut said = given.into_iter().flatten();
    let first = said.next();
    if said.any(|other| Some(other) != first) {
        return Err(Invalid::new("configuration.blocking", "contradicts returnImmediately"));
    }
    Ok(first)
}

fn history(length: Option<i64>, field: &str) -> Result<Option<usize>, Invalid> {
    let Some(length) = length else { return Ok(None) };
    let length = i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or_else(|| Invalid::new(field, "must be 0 to 2147483647"))?;
    Ok(Some(length))
}

fn task_id(id: Option<Borrowed<'_>>) -> Result<String, Invalid> {
    let id = id.filter(|id| !id.0.is_empty()).ok_or_else(|| Invalid::new("id", "is required"))?;
    Ok(id.0.into_owned())
}

fn list(given: ListIn<'_>, profile: &Profile) -> Result<Call, Unreadable> {
    let default = if profile.bare_list { MAX_PAGE } else { DEFAULT_PAGE };
    let size = given.page_size.unwrap_or(default);
    if !(1..=MAX_PAGE).contains(&size) {
        return Err(Invalid::new("pageSize", "must be 1 to 100").into());
    }
    let context = given.context_id.map(|Shared(id)| id).filter(|id| !id.is_empty());
    let context = context
        .map(ContextId::new)
        .transpose()
        .map_err(|rule| Invalid::new("contextId", rule.0))?;
    let state = given.status.map(|name| state(&name.0)).transpose()?;
    let after = given.status_timestamp_after.map(|text| Timestamp::parse(&text.0)).transpose();
    let after = after.map_err(|rule| Invalid::new("statusTimestampAfter", rule.to_string()))?;
    let list = ListTasks {
        context,
        state,
        since: after.or(given.last_updated_after.map(Timestamp::from_millis)),
        limit: usize::try_from(size).unwrap_or(1),
        after: None,
    };
    let token =
        given.page_token.map(|token| token.0.into_owned()).filter(|token| !token.is_empty());
    let history = history(given.history_length, "historyLength")?;
    let artifacts = given.include_artifacts.unwrap_or(profile.bare_list);
    Ok(Call::List(list, token, View { history, artifacts }))
}

/// A state by its 0.3 name, or by a spelling that is seen in the wild.
fn state(name: &str) -> Result<TaskState, Invalid> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let name = if name == "cancelled" { "canceled" } else { &name };
    let known = TaskState::ALL.into_iter().find(|state| PLAIN.state(*state) == name);
    known.ok_or_else(|| Invalid::new("status", "is no state of a task"))
}
