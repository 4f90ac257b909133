//! Webhooks of a task: set, read, list and delete (specification 1.0 §3.1.7 to §3.1.10, 0.3 §7.5 to §7.8).

use super::{Core, Service};
use crate::change::StatusChange;
use crate::error::Error;
use crate::ids::{PushConfigId, Scope, TaskKey, Version};
use crate::ports::{Bell, PushStore};
use crate::push::{Confidential, PushAuthentication, PushConfig, PushForm, Webhook, WebhookName};
use crate::state::TaskState;
use crate::task::Task;
use std::sync::Arc;

/// The id by which a webhook is read that its client has not named.
const UNNAMED: &str = "default";

/// What push notifications need.
#[derive(Clone)]
pub struct Push {
    /// Keeps webhooks.
    pub store: Arc<dyn PushStore>,
    /// Hears of new ones.
    pub bell: Arc<dyn Bell>,
}

/// A webhook as a client asks for it. Its URL has been found to be one that may be called.
#[derive(Clone, Debug)]
pub struct SetPush {
    /// The id that the client has chosen.
    pub id: Option<PushConfigId>,
    /// Where it is.
    pub url: Confidential,
    /// What it knows its notifications by.
    pub token: Option<Confidential>,
    /// How the server shows it who it is.
    pub authentication: Option<PushAuthentication>,
    /// In which shape it is told.
    pub form: PushForm,
    /// Where in the call it stands, for errors; empty where it is the call.
    pub field: &'static str,
}

impl Service {
    /// Whether there are push notifications at all.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.0.ports.push.is_some()
    }

    /// Has a webhook told of what happens to a task from now on. One of the same id is replaced.
    ///
    /// # Errors
    /// `TaskNotFound`; `InvalidParams` when the task has as many as it may.
    pub async fn set_push(&self, scope: &Scope, id: &str, set: SetPush) -> Result<Webhook, Error> {
        let push = self.0.push()?;
        let key = Core::key(scope, id)?;
        let stored = |error| self.0.store_error(error, id);
        let name = self.0.keep_webhook(push, &key, set, None).await?;
        let all = push.store.webhooks(&key).await.map_err(stored)?;
        let made = all.into_iter().find(|webhook| webhook.config.id == name);
        // Somebody may have deleted it since.
        made.ok_or_else(|| Error::TaskNotFound { id: id.into() })
    }

    /// A webhook of a task: the one of this id, and without an id the first one.
    ///
    /// # Errors
    /// `TaskNotFound`, also when there is no such webhook.
    pub async fn push(
        &self,
        scope: &Scope,
        id: &str,
        config: Option<&str>,
    ) -> Result<Webhook, Error> {
        let all = self.pushes(scope, id).await?;
        // A client that did not name its webhook knows it by the task's id or by this name.
        let is_no_name = |name: &str| name == UNNAMED || name == id;
        let position = match config {
            None => (!all.is_empty()).then_some(0),
            Some(name) => {
                let named = all.iter().position(|webhook| webhook.config.id.as_str() == name);
                let unnamed = || all.iter().position(|webhook| !webhook.config.named);
                named.or_else(|| if is_no_name(name) { unnamed() } else { None })
            }
        };
        let found = position.and_then(|position| all.into_iter().nth(position));
        found.ok_or_else(|| Error::TaskNotFound { id: id.into() })
    }

    /// The webhooks of a task in the order in which they were made.
    ///
    /// # Errors
    /// `TaskNotFound`.
    pub async fn pushes(&self, scope: &Scope, id: &str) -> Result<Vec<Webhook>, Error> {
        let push = self.0.push()?;
        let key = Core::key(scope, id)?;
        push.store.webhooks(&key).await.map_err(|error| self.0.store_error(error, id))
    }

    /// Forgets a webhook; it may be gone already.
    ///
    /// # Errors
    /// `TaskNotFound`.
    pub async fn delete_push(&self, scope: &Scope, id: &str, config: &str) -> Result<(), Error> {
        let push = self.0.push()?;
        let key = Core::key(scope, id)?;
        let stored = |error| self.0.store_error(error, id);
        match PushConfigId::new(config) {
            Ok(config) => push.store.delete(&key, &config).await.map_err(stored),
            // There cannot be one of that id; whether there is the task still counts.
            Err(_) => push.store.webhooks(&key).await.map(|_| ()).map_err(stored),
        }
    }
}

impl Core {
    pub(super) fn push(&self) -> Result<&Push, Error> {
        self.ports.push.as_ref().ok_or(Error::PushNotificationNotSupported)
    }

    /// Keeps the webhook that a message has brought along for the task that it has opened. Its run has not
    /// begun; where the webhook cannot be kept the task ends, so that nobody waits for it.
    pub(super) async fn begin_with_webhook(
        &self,
        task: &Arc<Task>,
        set: SetPush,
    ) -> Result<(), Error> {
        let push = self.push()?;
        let kept = self.keep_webhook(push, task.key(), set, Some(task.version())).await;
        if kept.is_err() {
            let failed = StatusChange::ending(TaskState::Failed, None);
            // The store has failed a moment ago. What it does not take now is ended at the next start.
            let _ = self.commit(&mut task.clone(), [failed]).await;
        }
        kept.map(|_| ())
    }

    /// Whether there is room for a webhook that a message brings along for a task that exists, to be known
    /// before the message is taken.
    pub(super) async fn check_room_for(&self, key: &TaskKey, set: &SetPush) -> Result<(), Error> {
        let push = self.push()?;
        let all = push.store.webhooks(key).await;
        let all = all.map_err(|error| self.store_error(error, &key.id.to_string()))?;
        let replaces = all.iter().any(|webhook| Some(&webhook.config.id) == set.id.as_ref());
        let room = replaces || all.len() < self.limits.webhooks;
        if room { Ok(()) } else { Err(self.too_many(set.field)) }
    }

    /// Keeps the webhook that a message has brought along for a task that was at `before`.
    pub(super) async fn follow_with_webhook(
        &self,
        key: &TaskKey,
        set: SetPush,
        before: Version,
    ) -> Result<(), Error> {
        let push = self.push()?;
        self.keep_webhook(push, key, set, Some(before)).await.map(|_| ())
    }

    fn too_many(&self, field: &str) -> Error {
        let most = self.limits.webhooks;
        Error::invalid(field, format!("is one more than the {most} that a task may have"))
    }

    /// Keeps a webhook that is told of what comes after `after`, or after now; hands out its id.
    pub(super) async fn keep_webhook(
        &self,
        push: &Push,
        key: &TaskKey,
        set: SetPush,
        after: Option<Version>,
    ) -> Result<PushConfigId, Error> {
        let SetPush { id, url, token, authentication, form, field } = set;
        let named = id.is_some();
        let id = match id {
            Some(id) => id,
            None => PushConfigId::new(self.fresh_name()).map_err(|error| self.internal(error))?,
        };
        let config = PushConfig { id: id.clone(), named, url, token, authentication, form };
        let stored = |error| self.store_error(error, &key.id.to_string());
        let most = self.limits.webhooks;
        if !push.store.set(key, &config, after, most).await.map_err(stored)? {
            return Err(self.too_many(field));
        }
        let made = push.store.webhooks(key).await.map_err(stored)?;
        if let Some(made) = made.into_iter().find(|webhook| webhook.config.id == id) {
            push.bell.set(WebhookName { task: key.clone(), number: made.number });
        }
        Ok(id)
    }
}
