//! Webhooks in the file: rows beside the tasks that they hang on.

mod letters;
mod read;
mod write;

pub use letters::{DeadLetter, LettersError, letters, send_again};
pub(super) use write::{WebhookWork, remove_all, set};

use super::SqliteStore;
use super::error::unavailable;
use super::record::write_webhook;
use super::write::Insert;
use super::writer::Work;
use a2ad_domain::ports::{Letter, PushStore, StoreError};
use a2ad_domain::{
    PushConfig, PushConfigId, Recorded, Task, TaskKey, Version, Webhook, WebhookName,
};
use async_trait::async_trait;
use std::sync::Arc;

impl SqliteStore {
    async fn work(&self, work: WebhookWork) -> Result<usize, StoreError> {
        self.writer.ask(Work::Webhook(work)).await
    }
}

/// A version as it stands in a row.
fn signed(version: Version) -> Result<i64, StoreError> {
    i64::try_from(version.0).map_err(unavailable)
}

/// The number of a webhook, as the writer answers it.
fn number(figure: usize) -> Result<i64, StoreError> {
    i64::try_from(figure).map_err(unavailable)
}

#[async_trait]
impl PushStore for SqliteStore {
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError> {
        let row = write_webhook(config).map_err(unavailable)?;
        let (task, after) = (task.clone(), after.map(signed).transpose()?);
        let most = super::room::signed(most);
        Ok(self.work(WebhookWork::Set { task, row, after, most }).await? > 0)
    }

    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError> {
        let row = write_webhook(config).map_err(unavailable)?;
        let insert = Insert::new(task)?.with(row);
        number(self.writer.ask(Work::Insert(insert)).await?)
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
        let row = write_webhook(config).map_err(unavailable)?;
        let append = self.appending(key, expected, changes, task)?;
        let append = append.with(row, super::room::signed(most));
        let figure = self.writer.ask(Work::Append(append)).await?;
        (figure > 0).then(|| number(figure)).transpose()
    }

    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
        let task = task.clone();
        self.read(move |file| read::of_task(file, &task)).await
    }

    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        let (task, id) = (task.clone(), id.as_str().to_owned());
        self.work(WebhookWork::Delete { task, id }).await.map(|_| ())
    }

    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError> {
        let number = name.number;
        let read = move |file: &_| read::one(file, number).map_err(StoreError::Unavailable);
        self.read(read).await
    }

    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError> {
        let (webhook, upto) = (name.number, signed(upto)?);
        self.work(WebhookWork::Told { webhook, upto }).await.map(|_| ())
    }

    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError> {
        let (webhook, letter) = (name.number, letter.clone());
        self.work(WebhookWork::GiveUp { webhook, letter }).await.map(|_| ())
    }

    async fn told_after_all(&self, name: &WebhookName, change: Version) -> Result<(), StoreError> {
        let (webhook, version) = (name.number, signed(change)?);
        self.work(WebhookWork::ToldAfterAll { webhook, version }).await.map(|_| ())
    }

    async fn open(&self) -> Result<Vec<WebhookName>, StoreError> {
        let read = |file: &_| read::open(file).map_err(StoreError::Unavailable);
        self.read(read).await
    }

    async fn due(&self) -> Result<Vec<WebhookName>, StoreError> {
        let read = |file: &_| read::due(file).map_err(StoreError::Unavailable);
        self.read(read).await
    }
}
