//! Reads the parameters of 0.3 calls (specification 0.3 §7): lenient in what is left out, strict in what
//! is there.

use super::part::{PartIn, part};
use super::push;
use crate::dialect::input::{
    DEFAULT_PAGE, MAX_PAGE, Wanted, context, history, id, list, names, object, read, task_id,
};
use crate::dialect::shape::{PLAIN, PartStyle, Shape};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Artifacts, Call, Invalid, Method, Unreadable, View};
use a2ad_domain::service::SendMessage;
use a2ad_domain::{Message, MessageId, Parts, Role, TaskState, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendIn<'a> {
    #[serde(borrow)]
    message: Option<Object<MessageIn<'a>>>,
    /// What the message is called by clients that write the names of the protocol buffers.
    #[serde(borrow)]
    request: Option<Object<MessageIn<'a>>>,
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
    #[serde(alias = "message_id")]
    message_id: Option<Shared>,
    #[serde(borrow)]
    parts: Option<Vec<Object<PartIn<'a>>>>,
    /// What the parts are called over HTTP+JSON.
    #[serde(borrow)]
    content: Option<Vec<Object<PartIn<'a>>>>,
    #[serde(alias = "task_id")]
    task_id: Option<Shared>,
    #[serde(alias = "context_id")]
    context_id: Option<Shared>,
    #[serde(alias = "reference_task_ids")]
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
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
    #[serde(borrow, alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<Borrowed<'a>>>,
    #[serde(borrow, alias = "push_notification_config")]
    push_notification_config: Option<&'a RawValue>,
    /// What the protocol buffers call it.
    #[serde(borrow, alias = "push_notification")]
    push_notification: Option<&'a RawValue>,
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
    /// Our own: only tasks whose run should have ended by now.
    overdue: Option<bool>,
}

pub(super) fn call(
    method: Method,
    params: Option<&RawValue>,
    shape: &Shape,
) -> Result<Call, Unreadable> {
    match method {
        Method::Send | Method::Stream => {
            let SendIn { message, request, configuration, metadata } = read(params)?;
            let message = message.or(request.filter(|_| shape.part == PartStyle::Proto));
            let (call, view) = send(message, configuration, metadata, shape)?;
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
            Ok(Call::Get(task_id(id)?, View { history, artifacts: Artifacts::IfAny }))
        }
        Method::Cancel => Ok(Call::Cancel(task_id(read::<TaskIn<'_>>(params)?.id)?)),
        Method::Attach => Ok(Call::Attach(task_id(read::<TaskIn<'_>>(params)?.id)?)),
        Method::List if params.is_none() => wanted(ListIn::default(), shape),
        Method::List => wanted(read(params)?, shape),
        Method::SetPush => push::set(params, shape),
        Method::GetPush => push::get(params),
        Method::ListPush => push::list(params, shape),
        Method::DeletePush => push::delete(params),
        Method::ExtendedCard => Ok(Call::ExtendedCard),
    }
}

fn send(
    message: Option<Object<MessageIn<'_>>>,
    configuration: Option<Object<ConfigurationIn<'_>>>,
    metadata: Option<&RawValue>,
    shape: &Shape,
) -> Result<(SendMessage, View), Unreadable> {
    let Some(Object(given)) = message else {
        // Where the message of an error names the field, it names this one; otherwise callers get the
        // bare error that test suites compare.
        let field = if shape.errors.invalid_params.is_some() { "message" } else { "" };
        return Err(Invalid::new(field, "is required").into());
    };
    let task = id(given.task_id.as_ref());
    let context = context(given.context_id.as_ref(), "message.contextId")?;
    let message = self::message(given, shape)?;
    let metadata = object(metadata, "metadata")?;
    let (mut wait, mut limit, mut accepted, mut webhook) = (None, None, Vec::new(), None);
    if let Some(Object(configuration)) = configuration {
        let proto = shape.part == PartStyle::Proto;
        let given = configuration.push_notification_config;
        let given = given.or(configuration.push_notification.filter(|_| proto));
        webhook = given.map(|given| push::inline(given, shape)).transpose()?.map(Box::new);
        // A client of the protocol buffers leaves out what is false, so it says so by saying nothing.
        wait = waits(&configuration)?.or(proto.then_some(false));
        limit = history(configuration.history_length, "configuration.historyLength")?;
        let modes = configuration.accepted_output_modes.unwrap_or_default();
        accepted = modes.into_iter().map(|mode| mode.0.into_owned()).collect();
    }
    let view = View { history: limit, artifacts: Artifacts::IfAny };
    let (accepted_output_modes, push) = (accepted, webhook);
    Ok((SendMessage { message, task, context, wait, metadata, accepted_output_modes, push }, view))
}

fn message(given: MessageIn<'_>, shape: &Shape) -> Result<Message, Invalid> {
    if given.kind.is_some_and(|kind| kind.0 != "message") {
        return Err(Invalid::new("message.kind", "must be \"message\""));
    }
    let role = match given.role {
        Some(role) if role.0.eq_ignore_ascii_case(shape.roles[0]) => Role::User,
        Some(role) if role.0.eq_ignore_ascii_case(shape.roles[1]) => Role::Agent,
        None if shape.sparse_messages => Role::User,
        None => return Err(Invalid::new("message.role", "is required")),
        Some(_) => {
            let [user, agent] = shape.roles;
            let problem = format!("must be {user:?} or {agent:?}");
            return Err(Invalid::new("message.role", problem));
        }
    };
    let id = match given.message_id {
        Some(Shared(id)) => {
            MessageId::new(id).map_err(|rule| Invalid::new("message.messageId", rule.0))?
        }
        None if shape.sparse_messages => fresh_message_id()?,
        None => return Err(Invalid::new("message.messageId", "is required")),
    };
    let parts = match shape.part {
        PartStyle::Proto => given.content.or(given.parts),
        PartStyle::Nested | PartStyle::Flat => given.parts,
    };
    let parts = parts.ok_or_else(|| Invalid::new("message.parts", "is required"))?;
    let parts = parts
        .into_iter()
        .enumerate()
        .map(|(index, Object(given))| part(given, index, shape))
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

fn wanted(given: ListIn<'_>, shape: &Shape) -> Result<Call, Unreadable> {
    let shown = given.include_artifacts.unwrap_or(shape.bare_list);
    let artifacts = match shown {
        true if shape.bare_list => Artifacts::IfAny,
        true => Artifacts::Always,
        false => Artifacts::Hidden,
    };
    list(Wanted {
        context: given.context_id,
        state: given.status.map(|name| state(&name.0)).transpose()?,
        page_size: given.page_size.unwrap_or(if shape.bare_list { MAX_PAGE } else { DEFAULT_PAGE }),
        page_token: given.page_token,
        history_length: given.history_length,
        since_text: given.status_timestamp_after,
        since: given.last_updated_after.map(Timestamp::from_millis),
        overdue: given.overdue,
        artifacts,
    })
}

/// A state by its 0.3 name, or by a spelling that is seen in the wild.
fn state(name: &str) -> Result<TaskState, Invalid> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let name = name.strip_prefix("task-state-").unwrap_or(&name);
    let name = if name == "cancelled" { "canceled" } else { name };
    let known = TaskState::ALL.into_iter().find(|state| PLAIN.state(*state) == name);
    known.ok_or_else(|| Invalid::new("status", "is no state of a task"))
}
