//! Tells webhooks what has been committed: each webhook every change that is meant for it, in order, at
//! least once, until it has answered or is given up. Nobody waits for this but whoever runs it.

use crate::change::{Change, Recorded};
use crate::ids::{ContextId, TaskKey, Version};
use crate::ports::{
    Changes, Clock, IdGenerator, Letter, Notice, PushSender, PushStore, StoreError, TaskStore,
    Undelivered,
};
use crate::push::{PushConfig, PushForm, Webhook, WebhookName};
use crate::signal::CancelSignal;
use crate::task::Task;
use crate::time::Timestamp;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How many changes are read at once.
const PAGE: usize = 64;

/// How often a webhook that does not answer is tried, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The pause after the first attempt; each later one is twice as long.
    pub first_pause: Duration,
    /// No pause gets longer than this.
    pub longest_pause: Duration,
    /// How old a change may get before the webhook is not told of it any more. There is one attempt at
    /// least, however old it is.
    pub give_up: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(300),
            give_up: Duration::from_secs(24 * 3600),
        }
    }
}

/// Where a webhook stands when there is nothing more to do for it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has been told everything; more may come.
    Waits,
    /// There is nothing more to tell, or it is gone.
    Over,
    /// The server is about to end, and the webhook does not answer.
    PutOff,
}

/// What became of one notice.
enum Told {
    Arrived,
    GivenUp(String),
    /// The webhook is gone or another one has taken its place.
    Gone,
    PutOff,
}

/// Everything that it takes to tell webhooks.
pub struct Outbox {
    /// Keeps tasks and their logs.
    pub tasks: Arc<dyn TaskStore>,
    /// Keeps webhooks.
    pub webhooks: Arc<dyn PushStore>,
    /// Tells one webhook once.
    pub sender: Arc<dyn PushSender>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where chance comes from, so that webhooks of one receiver are not all tried again at once.
    pub ids: Arc<dyn IdGenerator>,
    /// How long to go on trying.
    pub patience: Patience,
}

impl Outbox {
    /// Tells a webhook everything that there is to tell now. Of one webhook there is only one call of this
    /// at a time: that is what keeps its notices in order. Once `closing` is raised it waits for nothing.
    ///
    /// # Errors
    /// When the store fails; it may be called again later.
    pub async fn tell(
        &self,
        name: &WebhookName,
        closing: &CancelSignal,
    ) -> Result<Standing, StoreError> {
        let mut past = None;
        loop {
            let Some(webhook) = self.webhooks.webhook(name).await? else {
                return Ok(Standing::Over);
            };
            let task = match self.tasks.load(&name.task).await {
                Ok(task) => task,
                Err(StoreError::NotFound) => return Ok(Standing::Over),
                Err(error) => return Err(error),
            };
            let told = match webhook.again.first() {
                Some(version) => self.tell_again(name, &webhook, &task, *version, closing).await?,
                None if webhook.told >= task.version() => {
                    let over = task.state().is_terminal();
                    return Ok(if over { Standing::Over } else { Standing::Waits });
                }
                None => self.tell_page(name, &webhook, &task, &mut past, closing).await?,
            };
            match told {
                Told::Arrived | Told::GivenUp(_) => {}
                Told::Gone => return Ok(Standing::Over),
                Told::PutOff => return Ok(Standing::PutOff),
            }
        }
    }

    /// Tells the next few changes.
    async fn tell_page(
        &self,
        name: &WebhookName,
        webhook: &Webhook,
        task: &Arc<Task>,
        past: &mut Option<Task>,
        closing: &CancelSignal,
    ) -> Result<Told, StoreError> {
        let config = &webhook.config;
        let changes = match self.tasks.changes_after(&name.task, webhook.told, PAGE).await? {
            Changes::After(changes) => changes,
            // What is not in the log any more is told as streams tell it: by the task as it is.
            Changes::TooOld => {
                let notice = Notice::Task(task.clone());
                return self.tell_one(name, config, &notice, task.changed(), closing).await;
            }
        };
        let Some(last) = changes.last().map(|change| change.version) else {
            return Ok(Told::Arrived);
        };
        let mut told = webhook.told;
        for change in changes {
            if !is_told(config.form, &change.change) {
                continue;
            }
            let at = change.at;
            told = change.version;
            let notice = self.notice(config.form, task, past, change).await?;
            match self.tell_one(name, config, &notice, at, closing).await? {
                Told::Arrived | Told::GivenUp(_) => {}
                stop @ (Told::Gone | Told::PutOff) => return Ok(stop),
            }
        }
        // Changes that are not for this webhook may have followed.
        if told < last {
            self.webhooks.told(name, last).await?;
        }
        Ok(Told::Arrived)
    }

    /// Tells one notice and remembers what became of it.
    async fn tell_one(
        &self,
        name: &WebhookName,
        config: &PushConfig,
        notice: &Notice,
        at: Timestamp,
        closing: &CancelSignal,
    ) -> Result<Told, StoreError> {
        let version = notice.subject().1;
        let told = self.insist(name, config, notice, at, closing).await?;
        match &told {
            Told::Arrived => self.webhooks.told(name, version).await?,
            Told::GivenUp(why) => self.give_up(name, config, version, why).await?,
            Told::Gone | Told::PutOff => {}
        }
        Ok(told)
    }

    /// Tells of a change after all that was given up before. It is tried as if it had just happened.
    async fn tell_again(
        &self,
        name: &WebhookName,
        webhook: &Webhook,
        task: &Arc<Task>,
        version: Version,
        closing: &CancelSignal,
    ) -> Result<Told, StoreError> {
        let (config, before) = (&webhook.config, Version(version.0.saturating_sub(1)));
        let notice = match self.tasks.changes_after(&name.task, before, 1).await? {
            Changes::After(changes) => match changes.into_iter().next() {
                Some(change) => self.notice(config.form, task, &mut None, change).await?,
                None => Notice::Task(task.clone()),
            },
            Changes::TooOld => Notice::Task(task.clone()),
        };
        let told = self.insist(name, config, &notice, self.clock.now(), closing).await?;
        match &told {
            Told::Arrived => self.webhooks.told_after_all(name, version).await?,
            Told::GivenUp(why) => self.give_up(name, config, version, why).await?,
            Told::Gone | Told::PutOff => {}
        }
        Ok(told)
    }

    /// Keeps a letter about what a webhook was not told.
    async fn give_up(
        &self,
        name: &WebhookName,
        config: &PushConfig,
        version: Version,
        why: &str,
    ) -> Result<(), StoreError> {
        let letter = Letter { version, at: self.clock.now(), why: why.to_owned() };
        let (task, webhook) = (name.task.id, &config.id);
        tracing::warn!(%task, %webhook, version = version.0, why, "a webhook was not told");
        self.webhooks.give_up(name, &letter).await
    }

    /// Tries until the webhook has answered or it makes no sense any more.
    async fn insist(
        &self,
        name: &WebhookName,
        config: &PushConfig,
        notice: &Notice,
        at: Timestamp,
        closing: &CancelSignal,
    ) -> Result<Told, StoreError> {
        let mut pause = self.patience.first_pause;
        loop {
            let Undelivered { why, retry } = match self.sender.send(config, notice).await {
                Ok(()) => return Ok(Told::Arrived),
                Err(undelivered) => undelivered,
            };
            let Some(asked) = retry else { return Ok(Told::GivenUp(why)) };
            if self.clock.now().since(at) >= self.patience.give_up {
                return Ok(Told::GivenUp(why));
            }
            tracing::debug!(task = %name.task.id, webhook = %config.id, why, "tried again later");
            if !self.wait(asked.max(self.jittered(pause)), closing).await {
                return Ok(Told::PutOff);
            }
            pause = (pause * 2).min(self.patience.longest_pause);
            // Its client may have deleted or replaced it meanwhile.
            if self.webhooks.webhook(name).await?.is_none() {
                return Ok(Told::Gone);
            }
        }
    }

    /// What a webhook of this form is told of a change. `past` is the task as it was at an earlier change.
    async fn notice(
        &self,
        form: PushForm,
        task: &Arc<Task>,
        past: &mut Option<Task>,
        change: Recorded,
    ) -> Result<Notice, StoreError> {
        if form.tells_artifacts() {
            let (key, context): (TaskKey, ContextId) = (task.key().clone(), task.context().clone());
            return Ok(Notice::Change { task: key, context, change });
        }
        if task.version() == change.version {
            return Ok(Notice::Task(task.clone()));
        }
        // The task has moved on: it is shown as it was.
        let begun = past.take().filter(|past| past.version() < change.version);
        let mut then = begun.unwrap_or_else(|| task.as_opened());
        while then.version() < change.version {
            let missing = usize::try_from(change.version.0 - then.version().0).unwrap_or(PAGE);
            let page = missing.min(PAGE * PAGE);
            let Changes::After(changes) =
                self.tasks.changes_after(task.key(), then.version(), page).await?
            else {
                return Ok(Notice::Task(task.clone()));
            };
            if changes.is_empty() || changes.iter().any(|change| then.replay(change).is_err()) {
                return Ok(Notice::Task(task.clone()));
            }
        }
        *past = Some(then.clone());
        Ok(Notice::Task(Arc::new(then)))
    }

    /// Between a half and the whole of a pause, by chance.
    fn jittered(&self, pause: Duration) -> Duration {
        let (_, chance) = self.ids.uuid().as_u64_pair();
        let half = pause / 2;
        let span = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).max(1);
        half + Duration::from_millis(chance % span)
    }

    /// Waits; `false` when the server is about to end instead.
    async fn wait(&self, pause: Duration, closing: &CancelSignal) -> bool {
        let mut sleep = self.clock.sleep(pause);
        let mut closing = pin!(closing.raised());
        poll_fn(|context| {
            if closing.as_mut().poll(context).is_ready() {
                return Poll::Ready(false);
            }
            sleep.as_mut().poll(context).map(|()| true)
        })
        .await
    }
}

/// Whether a webhook of this form is told of a change.
fn is_told(form: PushForm, change: &Change) -> bool {
    match change {
        Change::Message(_) => false,
        Change::Status(_) => true,
        Change::Artifact(_) => form.tells_artifacts(),
    }
}
