//! A message comes in: it opens a task, continues one, or is answered without one. Everything is checked
//! before anything is written.

use super::{Core, SendMessage, Service, SetPush, deadline};
use crate::agent::{Agent, WhileWorking};
use crate::caught::caught;
use crate::change::{Change, StatusChange};
use crate::content::{Message, Role};
use crate::error::{Busy, Error, Unsupported};
use crate::ids::{ContextId, Scope, TaskId, TaskKey};
use crate::modes;
use crate::ports::{
    Acceptance, Interest, Rejection, Request, Slot, StoreError, Subscription, Turn,
};
use crate::push::PushConfig;
use crate::service::Run;
use crate::service::commit::NotCommitted;
use crate::service::deadline::Limit;
use crate::service::end::Ended;
use crate::signal::CancelSignal;
use crate::state::Phase;
use crate::task::Task;
use std::sync::Arc;
use std::time::Duration;

/// How many referenced tasks are looked up; further ones are ignored, as unknown ones are.
const MAX_REFERENCES: usize = 32;

/// What became of the message.
pub(super) enum Begun {
    Task {
        /// The task with the message.
        task: Arc<Task>,
        /// Hears everything that is committed after `task`.
        events: Box<dyn Subscription>,
    },
    Message {
        message: Message,
        context: ContextId,
    },
}

impl Service {
    pub(super) async fn begin(
        &self,
        scope: &Scope,
        call: SendMessage,
        interest: Interest,
    ) -> Result<Begun, Error> {
        if self.is_draining() {
            return Err(Error::Unavailable(Busy::Draining));
        }
        let agent = self.0.agent(scope)?;
        if call.push.is_some() {
            self.0.push()?;
        }
        check_modes(&agent, &call)?;
        let references = if call.message.references.is_empty() {
            Vec::new()
        } else {
            Box::pin(self.visible(scope, &call.message)).await
        };
        match call.task {
            None => self.open(&agent, scope, call, references, interest).await,
            // Boxed, so that the common way in does not carry the state of the rare one.
            Some(_) => Box::pin(self.resume(&agent, scope, call, references, interest)).await,
        }
    }

    async fn open(
        &self,
        agent: &Arc<Agent>,
        scope: &Scope,
        mut call: SendMessage,
        references: Vec<TaskId>,
        interest: Interest,
    ) -> Result<Begun, Error> {
        let core = &self.0;
        let push = call.push.take();
        let context = match &call.context {
            Some(context) => context.clone(),
            None => core.fresh_context()?,
        };
        let request = request(scope, context, call, None, references);
        let accepted = caught(agent.executor.accept(&request)).await;
        match accepted.map_err(|panic| core.internal(panic))? {
            Ok(Acceptance::Task) => {}
            Ok(Acceptance::Message(parts)) => {
                let message = core.message(Role::Agent, parts);
                return Ok(Begun::Message { message, context: request.context });
            }
            Err(rejection) => return Err(refused(rejection)),
        }
        let limit = deadline::limit(&agent.settings, &request.message)?;
        let webhook = push.map(|set| core.brought(*set)).transpose()?;
        if let Some(webhook) = webhook.as_ref().filter(|_| core.limits.webhooks == 0) {
            return Err(core.too_many(webhook.field));
        }
        let slot = core.reserve(agent)?;
        let key = TaskKey { scope: scope.clone(), id: TaskId::new(core.ports.ids.uuid()) };
        let now = core.ports.clock.now();
        let deadline = limit.map(|limit| now.after(limit));
        let message = request.message.clone();
        let task = Arc::new(Task::open(key, request.context.clone(), message, deadline, now));
        if task.weight() > core.limits.task_bytes {
            return Err(Error::UnsupportedOperation { id: None, why: Unsupported::HistoryFull });
        }
        // Subscribed before the task can change, so nothing is missed.
        let events = core.ports.bus.subscribe(task.key(), interest);
        core.share(task.key())?;
        let keeping = {
            let (core, agent, task) = (core.clone(), agent.clone(), task.clone());
            async move {
                let kept = match webhook {
                    None => {
                        let kept = core.ports.store.insert(&task).await;
                        kept.map_err(|error| core.store_error(error, ""))
                    }
                    // Boxed, so that the common way carries nothing of the rare one.
                    Some(webhook) => {
                        Box::pin(core.insert_with_webhook(&task, &webhook.config)).await
                    }
                };
                if let Err(error) = kept {
                    core.unshare(task.key());
                    return Err(error);
                }
                if agent.ends_tasks() {
                    // Boxed, so that the common way carries nothing of the rare one.
                    let ended = Box::pin(core.cancel_key(task.key())).await;
                    let (Ended::Now(task) | Ended::Before(task)) =
                        ended.map_err(|error| core.store_error(error, ""))?;
                    return Ok(Some(task));
                }
                let turn = Turn { request, task, cancel: CancelSignal::new() };
                slot.start(Run::new(core, agent, turn, limit.map(Limit::from_now)));
                Ok::<_, Error>(None)
            }
        };
        let task = core.see_through(keeping).await?.unwrap_or(task);
        Ok(Begun::Task { task, events })
    }

    async fn resume(
        &self,
        agent: &Arc<Agent>,
        scope: &Scope,
        mut call: SendMessage,
        references: Vec<TaskId>,
        interest: Interest,
    ) -> Result<Begun, Error> {
        let core = &self.0;
        let push = call.push.take();
        let id = call.task.clone().unwrap_or_default();
        let key = Core::key(scope, &id)?;
        let stored = |error| core.store_error(error, &id);
        let mut task = core.ports.store.load(&key).await.map_err(stored)?;
        if call.context.as_ref().is_some_and(|context| context != task.context()) {
            return Err(Error::invalid("message.contextId", "is not the context of the task"));
        }
        let webhook = push.map(|set| core.brought(*set)).transpose()?;
        let request = request(scope, task.context().clone(), call, Some(key.id), references);
        let limit = deadline::limit(&agent.settings, &request.message)?;
        let mut claim = None;
        loop {
            let unsupported = |why| Err(Error::UnsupportedOperation { id: Some(key.id), why });
            if task.state().is_terminal() {
                return unsupported(Unsupported::Terminal(task.state()));
            }
            let bytes = task.weight().saturating_add(request.message.weight());
            if task.history().len() >= core.limits.history || bytes > core.limits.task_bytes {
                return unsupported(Unsupported::HistoryFull);
            }
            let running = task.is_running();
            if running && agent.settings.while_working == WhileWorking::Refuse {
                return unsupported(Unsupported::AtWork);
            }
            // Subscribed before the commit, so nothing after it is missed.
            let events = core.ports.bus.subscribe(&key, interest);
            let slot = if running { None } else { Some(core.reserve(agent)?) };
            let (begins, webhook) = ((slot, limit), webhook.clone());
            let taking = take(core.clone(), agent.clone(), task, request.clone(), begins, webhook);
            match core.see_through(taking).await {
                Ok(taken) => return taken.map(|task| Begun::Task { task, events }),
                // Somebody was faster: another answer, a cancel or the run itself. Look again.
                Err(NotCommitted::Conflict | NotCommitted::Refused(_)) => {
                    claim.get_or_insert_with(|| core.claim(&key));
                    task = core.ports.store.load(&key).await.map_err(stored)?;
                }
                Err(NotCommitted::Gone) => return Err(stored(StoreError::NotFound)),
                Err(NotCommitted::Failed(error)) => return Err(stored(error)),
            }
        }
    }

    /// The tasks that a message refers to and that its sender may see.
    pub(super) async fn visible(&self, scope: &Scope, message: &Message) -> Vec<TaskId> {
        let mut visible = Vec::new();
        for reference in message.references.iter().take(MAX_REFERENCES) {
            if let Ok(key) = Core::key(scope, reference)
                && self.0.ports.store.load(&key).await.is_ok()
            {
                visible.push(key.id);
            }
        }
        visible
    }
}

/// A webhook that has come with a message.
struct Brought {
    config: PushConfig,
    /// Where in the call it stands.
    field: &'static str,
}

/// Commits a message to a task, and with a slot lets a run begin that is about it. The webhook that the
/// message has brought along hears of both, and is committed with them; where it cannot be, nothing is.
async fn take(
    core: Arc<Core>,
    agent: Arc<Agent>,
    mut task: Arc<Task>,
    request: Request,
    (slot, limit): (Option<Box<dyn Slot>>, Option<Duration>),
    webhook: Option<Arc<Brought>>,
) -> Result<Result<Arc<Task>, Error>, NotCommitted> {
    let message = Change::Message(request.message.clone());
    let deadline = limit.map(|limit| core.ports.clock.now().after(limit));
    let resumed = slot.as_ref().map(|_| StatusChange::resumed(deadline));
    let changes = [message].into_iter().chain(resumed);
    match webhook {
        None => core.commit(&mut task, changes).await?,
        Some(webhook) => {
            let push = match core.push() {
                Ok(push) => push,
                Err(none) => return Ok(Err(none)),
            };
            if !core.commit_with_webhook(push, &mut task, changes, &webhook.config).await? {
                return Ok(Err(core.too_many(webhook.field)));
            }
        }
    }
    if let Some(slot) = slot {
        let turn = Turn { request, task: task.clone(), cancel: CancelSignal::new() };
        slot.start(Run::new(core, agent, turn, limit.map(Limit::from_now)));
    }
    Ok(Ok(task))
}

impl Core {
    fn brought(&self, set: SetPush) -> Result<Arc<Brought>, Error> {
        let (config, field) = self.named(set)?;
        Ok(Arc::new(Brought { config, field }))
    }

    pub(super) fn reserve(&self, agent: &Agent) -> Result<Box<dyn Slot>, Error> {
        self.ports.spawner.reserve(agent).map_err(|_| Error::Unavailable(Busy::Runs))
    }

    fn fresh_context(&self) -> Result<ContextId, Error> {
        ContextId::new(self.fresh_name()).map_err(|error| self.internal(error))
    }

    /// A fresh id as text.
    pub(super) fn fresh_name(&self) -> Arc<str> {
        let mut buffer = uuid::Uuid::encode_buffer();
        Arc::from(&*self.ports.ids.uuid().hyphenated().encode_lower(&mut buffer))
    }
}

/// Whether a task at this state is not worth waiting for.
pub(super) fn is_at_rest(task: &Task) -> bool {
    task.state().phase() != Phase::Active
}

fn request(
    scope: &Scope,
    context: ContextId,
    call: SendMessage,
    task: Option<TaskId>,
    references: Vec<TaskId>,
) -> Request {
    Request {
        scope: scope.clone(),
        context,
        message: Arc::new(call.message),
        task,
        references,
        metadata: call.metadata,
        accepted_output_modes: call.accepted_output_modes,
    }
}

fn refused(rejection: Rejection) -> Error {
    match rejection {
        Rejection::Invalid { field, problem } => Error::InvalidParams { field, problem },
        Rejection::Unsupported => {
            Error::UnsupportedOperation { id: None, why: Unsupported::Refused }
        }
        Rejection::ContentType => {
            Error::ContentTypeNotSupported { field: "message.parts".to_owned() }
        }
    }
}

/// Refuses parts that the agent does not take and clients that take nothing the agent makes.
fn check_modes(agent: &Agent, call: &SendMessage) -> Result<(), Error> {
    let anything = |modes: &[String]| modes.iter().any(|mode| mode == "*/*");
    if !anything(&agent.card.input_modes) {
        for (index, part) in call.message.parts.as_slice().iter().enumerate() {
            let fits = |mode| modes::any_covers(&agent.card.input_modes, mode);
            if !modes::of_part(part).is_none_or(fits) {
                let field = format!("message.parts[{index}]");
                return Err(Error::ContentTypeNotSupported { field });
            }
        }
    }
    let accepted = &call.accepted_output_modes;
    let makes = |wanted: &String| modes::any_covers(&agent.card.output_modes, wanted);
    if accepted.is_empty() || accepted.iter().any(makes) {
        return Ok(());
    }
    Err(Error::ContentTypeNotSupported { field: "configuration.acceptedOutputModes".to_owned() })
}
