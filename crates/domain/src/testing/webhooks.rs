//! Webhooks for tests: kept as plainly as can be, and a receiver that answers as a test wants.

use super::store::{find, insert};
use super::{FakeStore, Op, lock};
use crate::change::Recorded;
use crate::ids::{PushConfigId, TaskKey, Version};
use crate::ports::{Bell, Letter, Notice, PushSender, PushStore, StoreError, Undelivered};
use crate::push::{PushConfig, Webhook, WebhookName};
use crate::task::Task;
use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A webhook and its letters.
#[derive(Clone)]
pub(super) struct KeptWebhook {
    task: TaskKey,
    webhook: Webhook,
    letters: Vec<Letter>,
}

impl FakeStore {
    /// What was given up for a webhook.
    #[must_use]
    pub fn letters(&self, name: &WebhookName) -> Vec<Letter> {
        let all = lock(&self.webhooks);
        let kept = all.iter().find(|kept| kept.is(name));
        kept.map(|kept| kept.letters.clone()).unwrap_or_default()
    }

    /// Has everything told after all that was given up for a webhook.
    pub fn send_again(&self, name: &WebhookName) {
        self.with(name, |kept| {
            kept.webhook.again = kept.letters.iter().map(|letter| letter.version).collect();
        });
    }

    fn version(&self, key: &TaskKey) -> Result<Version, StoreError> {
        self.task(key).map(|task| task.version()).ok_or(StoreError::NotFound)
    }

    fn with(&self, name: &WebhookName, change: impl FnOnce(&mut KeptWebhook)) {
        if let Some(kept) = lock(&self.webhooks).iter_mut().find(|kept| kept.is(name)) {
            change(kept);
        }
    }

    /// Keeps a webhook; gives its number, and `None` where there are as many as there may be.
    fn keep(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Version,
        most: usize,
    ) -> Option<i64> {
        let mut all = lock(&self.webhooks);
        let old = all.iter().position(|kept| kept.is_of(task, &config.id));
        if old.is_none() && all.iter().filter(|kept| kept.task == *task).count() >= most {
            return None;
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let told = old.map_or(after, |position| all.remove(position).webhook.told);
        let webhook = Webhook { number, config: config.clone(), told, again: Vec::new() };
        all.push(KeptWebhook { task: task.clone(), webhook, letters: Vec::new() });
        Some(number)
    }

    fn names(&self, wanted: impl Fn(&KeptWebhook) -> bool) -> Vec<WebhookName> {
        let all = lock(&self.webhooks).clone();
        let there = all.iter().filter(|kept| self.task(&kept.task).is_some() && wanted(kept));
        there.map(KeptWebhook::name).collect()
    }

    fn is_due(&self, kept: &KeptWebhook) -> bool {
        let behind = self.version(&kept.task).is_ok_and(|version| kept.webhook.told < version);
        behind || !kept.webhook.again.is_empty()
    }
}

impl KeptWebhook {
    fn name(&self) -> WebhookName {
        WebhookName { task: self.task.clone(), number: self.webhook.number }
    }

    fn is(&self, name: &WebhookName) -> bool {
        self.task == name.task && self.webhook.number == name.number
    }

    fn is_of(&self, task: &TaskKey, id: &PushConfigId) -> bool {
        self.task == *task && self.webhook.config.id == *id
    }
}

#[async_trait]
impl PushStore for FakeStore {
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError> {
        self.op(Op::SetWebhook, |_| Ok(())).await?;
        let after = after.unwrap_or(self.version(task)?);
        Ok(self.keep(task, config, after, most).is_some())
    }

    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError> {
        self.op(Op::Insert, |all| {
            insert(all, task)?;
            let number = self.keep(task.key(), config, task.version(), 1);
            Ok(number.expect("a task that was just opened has no webhook"))
        })
        .await
    }

    async fn append_with(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
        config: &PushConfig,
        most: usize,
    ) -> Result<Option<i64>, StoreError> {
        self.op(Op::Append, |all| {
            let kept = find(all, key, expected)?;
            let number = self.keep(key, config, expected, most);
            if number.is_some() {
                kept.write(changes, task);
            }
            Ok(number)
        })
        .await
    }

    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
        self.version(task)?;
        let all = lock(&self.webhooks);
        let own = all.iter().filter(|kept| kept.task == *task);
        Ok(own.map(|kept| kept.webhook.clone()).collect())
    }

    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        self.version(task)?;
        lock(&self.webhooks).retain(|kept| !kept.is_of(task, id));
        Ok(())
    }

    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError> {
        let there = self.task(&name.task).is_some();
        let all = lock(&self.webhooks);
        let found = all.iter().find(|kept| there && kept.is(name));
        Ok(found.map(|kept| kept.webhook.clone()))
    }

    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError> {
        self.with(name, |kept| kept.webhook.told = kept.webhook.told.max(upto));
        Ok(())
    }

    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError> {
        self.with(name, |kept| {
            kept.webhook.told = kept.webhook.told.max(letter.version);
            kept.webhook.again.retain(|version| *version != letter.version);
            kept.letters.retain(|known| known.version != letter.version);
            kept.letters.push(letter.clone());
        });
        Ok(())
    }

    async fn told_after_all(&self, name: &WebhookName, change: Version) -> Result<(), StoreError> {
        self.with(name, |kept| {
            kept.webhook.again.retain(|version| *version != change);
            kept.letters.retain(|known| known.version != change);
        });
        Ok(())
    }

    async fn open(&self) -> Result<Vec<WebhookName>, StoreError> {
        let lives = |key: &TaskKey| self.task(key).is_some_and(|task| !task.state().is_terminal());
        Ok(self.names(|kept| lives(&kept.task) || self.is_due(kept)))
    }

    async fn due(&self) -> Result<Vec<WebhookName>, StoreError> {
        Ok(self.names(|kept| self.is_due(kept)))
    }
}

/// Remembers which webhooks were announced. Cloning gives another handle on the same.
#[derive(Clone, Debug, Default)]
pub struct Bells(Arc<Mutex<Vec<WebhookName>>>);

impl Bells {
    /// The webhooks that were set since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<WebhookName> {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl Bell for Bells {
    fn set(&self, webhook: WebhookName) {
        lock(&self.0).push(webhook);
    }
}

/// A receiver that answers what a test has told it to, and then always that it has got the notice.
#[derive(Clone, Debug, Default)]
pub struct Receiver(Arc<Mutex<Inbox>>);

#[derive(Debug, Default)]
struct Inbox {
    answers: VecDeque<Undelivered>,
    got: Vec<(PushConfig, Notice)>,
    asked: usize,
}

impl Receiver {
    /// The next attempts fail, worth another one after a while.
    pub fn fail(&self, times: usize, wait: Duration) {
        let again = Undelivered { why: "no answer".to_owned(), retry: Some(wait) };
        lock(&self.0).answers.extend(std::iter::repeat_n(again, times));
    }

    /// The next attempt is refused for good.
    pub fn refuse(&self) {
        let never = Undelivered { why: "the receiver has answered 400".to_owned(), retry: None };
        lock(&self.0).answers.push_back(never);
    }

    /// What has arrived since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<(PushConfig, Notice)> {
        std::mem::take(&mut lock(&self.0).got)
    }

    /// How many attempts there were.
    #[must_use]
    pub fn attempts(&self) -> usize {
        lock(&self.0).asked
    }
}

#[async_trait]
impl PushSender for Receiver {
    async fn send(&self, config: &PushConfig, notice: &Notice) -> Result<(), Undelivered> {
        let mut inbox = lock(&self.0);
        inbox.asked += 1;
        if let Some(undelivered) = inbox.answers.pop_front() {
            return Err(undelivered);
        }
        inbox.got.push((config.clone(), notice.clone()));
        Ok(())
    }
}
