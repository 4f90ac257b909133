//! Webhooks of a task: set, read, list and delete (specification 1.0 §3.1.7 to §3.1.10, 0.3 §7.5 to §7.8).

use super::{Core, Service};
use crate::error::Error;
use crate::ids::{PushConfigId, Scope};
use crate::ports::{Bell, PushStore};
use crate::push::{Confidential, PushAuthentication, PushConfig, PushForm, Webhook, WebhookName};
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
        let (core, push) = (&self.0, self.0.push()?);
        let key = Core::key(scope, id)?;
        let stored = |error| core.store_error(error, id);
        let (config, field) = core.named(set)?;
        if !push.store.set(&key, &config, None, core.limits.webhooks).await.map_err(stored)? {
            return Err(core.too_many(field));
        }
        let all = push.store.webhooks(&key).await.map_err(stored)?;
        let made = all.into_iter().find(|webhook| webhook.config.id == config.id);
        // Somebody may have deleted it since.
        let made = made.ok_or_else(|| Error::TaskNotFound { id: id.into() })?;
        push.bell.set(WebhookName { task: key, number: made.number });
        Ok(made)
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

    /// Keeps a task that a message has opened, and with it the webhook that the message has brought along.
    pub(super) async fn insert_with_webhook(
        &self,
        task: &Arc<Task>,
        config: &PushConfig,
    ) -> Result<(), Error> {
        let push = self.push()?;
        let kept = push.store.insert_with(task, config).await;
        let number = kept.map_err(|error| self.store_error(error, ""))?;
        push.bell.set(WebhookName { task: task.key().clone(), number });
        Ok(())
    }

    pub(super) fn too_many(&self, field: &str) -> Error {
        let most = self.limits.webhooks;
        Error::invalid(field, format!("is one more than the {most} that a task may have"))
    }

    /// A webhook with the id that it is kept under, and where in the call it stands.
    pub(super) fn named(&self, set: SetPush) -> Result<(PushConfig, &'static str), Error> {
        let SetPush { id, url, token, authentication, form, field } = set;
        let named = id.is_some();
        let id = match id {
            Some(id) => id,
            None => PushConfigId::new(self.fresh_name()).map_err(|error| self.internal(error))?,
        };
        Ok((PushConfig { id, named, url, token, authentication, form }, field))
    }
}
