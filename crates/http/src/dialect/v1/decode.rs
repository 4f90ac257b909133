//! Reads the parameters of 1.0 calls (specification 1.0 §3.1 and §4): ProtoJSON, with member names in
//! either spelling; members that are not known are passed over.

use super::number::{Int, Named};
use super::push;
use crate::dialect::input::{
    DEFAULT_PAGE, Wanted, context, history, id, list, names, object, read, task_id,
};
use crate::dialect::part::{Found, base64, labelled, wrong};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Artifacts, Call, Invalid, Method, Unreadable, View};
use a2ad_domain::service::SendMessage;
use a2ad_domain::{Content, Message, MessageId, Part, PartLabel, Parts, RawJson, Role, TaskState};
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendIn<'a> {
    #[serde(borrow)]
    tenant: Option<Borrowed<'a>>,
    #[serde(borrow)]
    message: Option<Object<MessageIn<'a>>>,
    #[serde(borrow)]
    configuration: Option<Object<ConfigurationIn<'a>>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageIn<'a> {
    #[serde(alias = "message_id")]
    message_id: Option<Shared>,
    #[serde(alias = "context_id")]
    context_id: Option<Shared>,
    #[serde(alias = "task_id")]
    task_id: Option<Shared>,
    #[serde(borrow)]
    role: Option<Named<'a>>,
    #[serde(borrow)]
    parts: Option<Vec<Object<PartIn<'a>>>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    extensions: Option<Vec<Shared>>,
    #[serde(alias = "reference_task_ids")]
    reference_task_ids: Option<Vec<Shared>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartIn<'a> {
    text: Option<Shared>,
    #[serde(borrow)]
    raw: Option<Borrowed<'a>>,
    url: Option<Shared>,
    /// Any value, null as well: whether it is there is what counts.
    #[serde(borrow, default, deserialize_with = "present")]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(alias = "media_type")]
    media_type: Option<Shared>,
    filename: Option<Shared>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationIn<'a> {
    #[serde(borrow, alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<Borrowed<'a>>>,
    #[serde(borrow, alias = "task_push_notification_config")]
    task_push_notification_config: Option<&'a RawValue>,
    #[serde(alias = "history_length")]
    history_length: Option<Int>,
    #[serde(alias = "return_immediately")]
    return_immediately: Option<bool>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskIn<'a> {
    #[serde(borrow)]
    tenant: Option<Borrowed<'a>>,
    #[serde(borrow)]
    id: Option<Borrowed<'a>>,
    #[serde(alias = "history_length")]
    history_length: Option<Int>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListIn<'a> {
    #[serde(borrow)]
    tenant: Option<Borrowed<'a>>,
    #[serde(alias = "context_id")]
    context_id: Option<Shared>,
    #[serde(borrow)]
    status: Option<Named<'a>>,
    #[serde(alias = "page_size")]
    page_size: Option<Int>,
    #[serde(borrow, alias = "page_token")]
    page_token: Option<Borrowed<'a>>,
    #[serde(alias = "history_length")]
    history_length: Option<Int>,
    #[serde(borrow, alias = "status_timestamp_after")]
    status_timestamp_after: Option<Borrowed<'a>>,
    #[serde(alias = "include_artifacts")]
    include_artifacts: Option<bool>,
    /// Our own: only tasks whose run should have ended by now.
    overdue: Option<bool>,
}

/// The roles in the order of their numbers.
const ROLES: [&str; 3] = ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"];

/// The states in the order of their numbers, with the name that stands for none.
const STATES: [(&str, Option<TaskState>); 9] = [
    ("TASK_STATE_UNSPECIFIED", None),
    ("TASK_STATE_SUBMITTED", Some(TaskState::Submitted)),
    ("TASK_STATE_WORKING", Some(TaskState::Working)),
    ("TASK_STATE_COMPLETED", Some(TaskState::Completed)),
    ("TASK_STATE_FAILED", Some(TaskState::Failed)),
    ("TASK_STATE_CANCELED", Some(TaskState::Canceled)),
    ("TASK_STATE_INPUT_REQUIRED", Some(TaskState::InputRequired)),
    ("TASK_STATE_REJECTED", Some(TaskState::Rejected)),
    ("TASK_STATE_AUTH_REQUIRED", Some(TaskState::AuthRequired)),
];

pub(super) fn call(method: Method, params: Option<&RawValue>) -> Result<Call, Unreadable> {
    match method {
        Method::Send | Method::Stream => {
            let (call, view) = send(read(params)?)?;
            let call = Box::new(call);
            Ok(if method == Method::Send {
                Call::Send(call, view)
            } else {
                Call::Stream(call, view)
            })
        }
        Method::Get => {
            let (id, given) = task(read(params)?)?;
            let history = history(given.history_length.map(|n| n.0), "historyLength")?;
            Ok(Call::Get(id, View { history, artifacts: Artifacts::IfAny }))
        }
        Method::Cancel => Ok(Call::Cancel(task(read(params)?)?.0)),
        Method::Attach => Ok(Call::Attach(task(read(params)?)?.0)),
        Method::List if params.is_none() => wanted(ListIn::default()),
        Method::List => wanted(read(params)?),
        Method::SetPush => push::set(params),
        Method::GetPush => push::get(params),
        Method::ListPush => push::list(params),
        Method::DeletePush => push::delete(params),
        Method::ExtendedCard => Ok(Call::ExtendedCard),
    }
}

/// No agent has tenants yet, so every name of one is unknown.
pub(super) fn no_tenant(tenant: Option<&Borrowed<'_>>) -> Result<(), Invalid> {
    match tenant {
        Some(tenant) if !tenant.0.is_empty() => Err(Invalid::new("tenant", "is unknown")),
        _ => Ok(()),
    }
}

fn task(given: TaskIn<'_>) -> Result<(String, TaskIn<'_>), Unreadable> {
    let id = task_id(given.id.clone())?;
    match no_tenant(given.tenant.as_ref()) {
        Ok(()) => Ok((id, given)),
        Err(_) => Err(Unreadable::NoSuchTask(id)),
    }
}

fn send(given: SendIn<'_>) -> Result<(SendMessage, View), Unreadable> {
    no_tenant(given.tenant.as_ref())?;
    let Object(message) = given.message.ok_or_else(|| Invalid::new("message", "is required"))?;
    let task = id(message.task_id.as_ref());
    let context = context(message.context_id.as_ref(), "message.contextId")?;
    let message = self::message(message)?;
    let metadata = object(given.metadata, "metadata")?;
    let mut view = View::WHOLE;
    // A call that says nothing waits, whatever the agent's default is for the 0.3 line.
    let mut wait = Some(true);
    let (mut accepted_output_modes, mut webhook) = (Vec::new(), None);
    if let Some(Object(configuration)) = given.configuration {
        let given = configuration.task_push_notification_config;
        webhook = given.map(push::inline).transpose()?.map(Box::new);
        wait = Some(!configuration.return_immediately.unwrap_or(false));
        let length = configuration.history_length.map(|n| n.0);
        view.history = history(length, "configuration.historyLength")?;
        let modes = configuration.accepted_output_modes.unwrap_or_default();
        accepted_output_modes = modes.into_iter().map(|mode| mode.0.into_owned()).collect();
    }
    let push = webhook;
    Ok((SendMessage { message, task, context, wait, metadata, accepted_output_modes, push }, view))
}

fn message(given: MessageIn<'_>) -> Result<Message, Invalid> {
    let role = given.role.ok_or_else(|| Invalid::new("message.role", "is required"))?;
    let role = match role.among(&ROLES) {
        Some(1) => Role::User,
        Some(2) => Role::Agent,
        _ => return Err(Invalid::new("message.role", "must be \"ROLE_USER\" or \"ROLE_AGENT\"")),
    };
    let Shared(id) =
        given.message_id.ok_or_else(|| Invalid::new("message.messageId", "is required"))?;
    let id = MessageId::new(id).map_err(|rule| Invalid::new("message.messageId", rule.0))?;
    let parts = given.parts.ok_or_else(|| Invalid::new("message.parts", "is required"))?;
    let parts = parts.into_iter().enumerate().map(|(index, Object(given))| part(given, index));
    let parts = Parts::new(parts.collect::<Result<_, _>>()?)
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

fn part(given: PartIn<'_>, index: usize) -> Result<Part, Invalid> {
    let label = PartLabel {
        metadata: object(given.metadata, &format!("message.parts[{index}].metadata"))?,
        media_type: given.media_type.map(|Shared(text)| text),
        filename: given.filename.map(|Shared(text)| text),
    };
    let mut found = Found::default();
    if let Some(Shared(text)) = given.text {
        found.add("text", Content::Text(text));
    }
    if let Some(raw) = given.raw {
        let bytes = base64(&raw.0).map_err(|problem| wrong(index, "raw", problem))?;
        found.add("raw", Content::Bytes(bytes));
    }
    if let Some(Shared(url)) = given.url {
        found.add("url", Content::Url(url));
    }
    if let Some(data) = given.data {
        found.add("data", Content::Data(RawJson::new(data)));
    }
    let (_, content) = found.only(index, "")?;
    Ok(labelled(content, label))
}

fn wanted(given: ListIn<'_>) -> Result<Call, Unreadable> {
    no_tenant(given.tenant.as_ref())?;
    let names = STATES.map(|(name, _)| name);
    let state = match given.status.map(|name| name.among(&names)) {
        None => None,
        Some(Some(index)) => STATES[index].1,
        Some(None) => return Err(Invalid::new("status", "is no state of a task").into()),
    };
    let shown = given.include_artifacts.unwrap_or(false);
    list(Wanted {
        context: given.context_id,
        state,
        page_size: given.page_size.map_or(DEFAULT_PAGE, |n| n.0),
        page_token: given.page_token,
        history_length: given.history_length.map(|n| n.0),
        since_text: given.status_timestamp_after,
        since: None,
        overdue: given.overdue,
        artifacts: if shown { Artifacts::Always } else { Artifacts::Hidden },
    })
}
