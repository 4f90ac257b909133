//! Small values for tests, with everything that does not matter filled in.

use crate::change::{ArtifactUpdate, Change, Recorded, StatusChange};
use crate::content::{Message, Parts, Role};
use crate::ids::{
    AgentId, ArtifactId, ContextId, MessageId, Owner, PushConfigId, Scope, TaskId, TaskKey, Tenant,
};
use crate::push::{Confidential, PushAuthentication, PushConfig, PushForm};
use crate::service::{SendMessage, SetPush};
use crate::state::TaskState;
use crate::task::Task;
use crate::time::Timestamp;
use std::sync::Arc;

/// The agent that most tests talk to.
pub const AGENT: &str = "main";
/// Another agent of the same server.
pub const OTHER_AGENT: &str = "other";

/// The time that many milliseconds after 1970.
#[must_use]
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// The scope of an owner at an agent.
#[must_use]
pub fn scope_of(agent: &str, owner: &str) -> Scope {
    Scope::new(agent_id(agent), None, Owner::new(owner).expect("an owner"))
}

/// The same with a tenant.
#[must_use]
pub fn tenant_scope(agent: &str, tenant: &str, owner: &str) -> Scope {
    let tenant = Tenant::new(tenant).expect("a tenant");
    Scope::new(agent_id(agent), Some(tenant), Owner::new(owner).expect("an owner"))
}

/// The scope that most tests use.
#[must_use]
pub fn scope() -> Scope {
    scope_of(AGENT, "alice")
}

/// Scopes that differ from [`scope`] in one member each, and so must see nothing of it.
#[must_use]
pub fn foreign_scopes() -> [Scope; 3] {
    [scope_of(AGENT, "bob"), scope_of(OTHER_AGENT, "alice"), tenant_scope(AGENT, "acme", "alice")]
}

/// An agent's id.
#[must_use]
pub fn agent_id(name: &str) -> AgentId {
    AgentId::new(name).expect("an agent id")
}

/// A conversation.
#[must_use]
pub fn context(name: &str) -> ContextId {
    ContextId::new(name).expect("a context id")
}

/// An artifact's id.
#[must_use]
pub fn artifact_id(name: &str) -> ArtifactId {
    ArtifactId::new(name).expect("an artifact id")
}

/// A key in [`scope`].
#[must_use]
pub fn key(id: u128) -> TaskKey {
    key_in(&scope(), id)
}

/// A key in some scope.
#[must_use]
pub fn key_in(scope: &Scope, id: u128) -> TaskKey {
    TaskKey { scope: scope.clone(), id: TaskId::from_u128(id) }
}

/// A message of the client with one text.
#[must_use]
pub fn message(id: &str, text: &str) -> Message {
    Message::new(MessageId::new(id).expect("a message id"), Role::User, Parts::text(text))
}

/// A message of the agent with one text.
#[must_use]
pub fn reply(id: &str, text: &str) -> Arc<Message> {
    let id = MessageId::new(id).expect("a message id");
    Arc::new(Message::new(id, Role::Agent, Parts::text(text)))
}

/// A call that sends one text and says nothing else.
#[must_use]
pub fn call(text: &str) -> SendMessage {
    SendMessage {
        message: message(&format!("m-{text}"), text),
        task: None,
        context: None,
        wait: None,
        metadata: None,
        accepted_output_modes: Vec::new(),
        push: None,
    }
}

/// A webhook of the 1.0 line.
#[must_use]
pub fn webhook(id: &str, url: &str) -> PushConfig {
    PushConfig {
        id: PushConfigId::new(id).expect("an id"),
        named: true,
        url: Confidential::new(url),
        token: Some(Confidential::new("token")),
        authentication: Some(PushAuthentication {
            schemes: ["Bearer".into(), "Basic".into()].into(),
            credentials: Some(Confidential::new("credentials")),
        }),
        form: PushForm::Line1,
    }
}

/// What a client asks for to get such a webhook; without an id it has not named it.
#[must_use]
pub fn set_webhook(id: Option<&str>, form: PushForm) -> SetPush {
    let PushConfig { url, token, authentication, .. } = webhook("x", "https://hooks.example/a");
    let id = id.map(|id| PushConfigId::new(id).expect("an id"));
    SetPush { id, url, token, authentication, form, field: "webhook" }
}

/// The same for a task that exists.
#[must_use]
pub fn call_for(task: &TaskKey, text: &str) -> SendMessage {
    SendMessage { task: Some(task.id.to_string().into()), ..call(text) }
}

/// A task just opened in the conversation `c`.
#[must_use]
pub fn opened(key: TaskKey, millis: i64) -> Task {
    opened_in(key, "c", millis)
}

/// A task just opened.
#[must_use]
pub fn opened_in(key: TaskKey, conversation: &str, millis: i64) -> Task {
    let first = Arc::new(message(&format!("first-of-{}", key.id), "hello"));
    Task::open(key, context(conversation), first, None, at(millis))
}

/// A task just opened whose run has to end by a time.
#[must_use]
pub fn opened_until(key: TaskKey, millis: i64, deadline: i64) -> Task {
    let first = Arc::new(message(&format!("first-of-{}", key.id), "hello"));
    Task::open(key, context("c"), first, Some(at(deadline)), at(millis))
}

/// A status without a message. Interrupted states are those of a run that has ended.
#[must_use]
pub fn status(state: TaskState) -> Change {
    if state.is_active() {
        StatusChange::report(state, None)
    } else {
        StatusChange::ending(state, None)
    }
}

/// A piece of an artifact.
#[must_use]
pub fn piece(id: &str, text: &str, append: bool) -> Change {
    let (id, parts) = (artifact_id(id), Parts::text(text));
    Change::Artifact(Arc::new(ArtifactUpdate { id, parts, append, last: false, details: None }))
}

/// The task after `changes`, and the changes as they were accepted.
#[must_use]
pub fn applied(mut task: Task, changes: &[Change], millis: i64) -> (Task, Vec<Recorded>) {
    let apply = |change: &Change| task.apply(change.clone(), at(millis)).expect("a step that fits");
    let recorded = changes.iter().map(apply).collect();
    (task, recorded)
}

/// What leads a task just opened to `state`, one message and one artifact included.
#[must_use]
pub fn way_to(state: TaskState) -> Vec<Change> {
    let asks = Some(reply("asked", "which one?"));
    match state {
        TaskState::Submitted => Vec::new(),
        TaskState::Working => vec![status(state), piece("out", "a", false)],
        TaskState::InputRequired | TaskState::AuthRequired => {
            vec![status(TaskState::Working), StatusChange::ending(state, asks)]
        }
        TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => {
            vec![status(TaskState::Working), piece("out", "a", false), status(state)]
        }
    }
}
