//! What every store of webhooks holds to when a webhook comes with a message: both are there or neither is.

use super::store::{keep, write};
use crate::change::{Change, Recorded};
use crate::ids::Version;
use crate::ports::{PushStore, StoreError, TaskStore};
use crate::push::{PushConfig, Webhook, WebhookName};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::sample::{self, applied, key, opened, status, webhook};
use std::sync::Arc;

const URL: &str = "https://hooks.example/a";

fn hook(name: &str) -> PushConfig {
    webhook(name, URL)
}

async fn webhooks(store: &impl PushStore, task: &Task) -> Vec<Webhook> {
    store.webhooks(task.key()).await.expect("a task that has webhooks")
}

async fn asking(store: &impl TaskStore) -> Task {
    let mut task = opened(key(1), 5);
    keep(store, &task).await;
    write(store, &mut task, &[status(TaskState::InputRequired)], 6).await;
    task
}

/// What an answer to the task commits.
fn answered(task: &Task) -> (Task, Vec<Recorded>) {
    let message = Change::Message(Arc::new(sample::message("m-2", "this")));
    applied(task.clone(), &[message, status(TaskState::Working)], 7)
}

/// It is told of everything that comes after the task as it was opened.
pub async fn a_task_and_the_webhook_of_its_message_are_there_together(
    store: impl TaskStore + PushStore,
) {
    let task = opened(key(1), 5);
    let number = store.insert_with(&Arc::new(task.clone()), &hook("a")).await.expect("room");
    assert_eq!(*store.load(task.key()).await.expect("the task"), task);
    let made = Webhook { number, config: hook("a"), told: Version::FIRST, again: Vec::new() };
    assert_eq!(webhooks(&store, &task).await, [made]);
    let name = WebhookName { task: task.key().clone(), number };
    assert_eq!(store.open().await.expect("webhooks"), std::slice::from_ref(&name));
    assert_eq!(store.due().await.expect("webhooks"), []);
    let mut task = task;
    write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    assert_eq!(store.due().await.expect("webhooks"), [name]);
}

/// What is there stays as it is.
pub async fn a_task_that_is_refused_leaves_no_webhook(store: impl TaskStore + PushStore) {
    let task = opened(key(1), 5);
    let number = store.insert_with(&Arc::new(task.clone()), &hook("a")).await.expect("room");
    for scope in [sample::scope(), sample::foreign_scopes()[0].clone()] {
        let other = Arc::new(opened(sample::key_in(&scope, 1), 6));
        let refused = store.insert_with(&other, &hook("b")).await;
        assert!(matches!(refused, Err(StoreError::Exists)), "{refused:?}");
    }
    assert_eq!(*store.load(task.key()).await.expect("the task"), task);
    let numbers: Vec<_> = webhooks(&store, &task).await.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [number]);
    assert_eq!(store.open().await.expect("webhooks").len(), 1);
}

/// It is told of the changes that it has come with; one of the same id is replaced, and what that one was not
/// told the new one is told.
pub async fn changes_and_the_webhook_that_comes_with_them_are_there_together(
    store: impl TaskStore + PushStore,
) {
    let task = asking(&store).await;
    let (before, (changed, recorded)) = (task.version(), answered(&task));
    let config = hook("a");
    let kept = store.append_with(task.key(), before, &recorded, &changed, &config, 1).await;
    let number = kept.expect("a task").expect("room");
    assert_eq!(*store.load(task.key()).await.expect("the task"), changed);
    let made = Webhook { number, config, told: before, again: Vec::new() };
    assert_eq!(webhooks(&store, &task).await, [made]);
    let name = WebhookName { task: task.key().clone(), number };
    assert_eq!(store.due().await.expect("webhooks"), [name]);

    let mut task = changed;
    write(&store, &mut task, &[status(TaskState::InputRequired)], 8).await;
    let ((changed, recorded), other) = (answered(&task), webhook("a", "https://hooks.example/b"));
    let expected = task.version();
    let kept = store.append_with(task.key(), expected, &recorded, &changed, &other, 1).await;
    let next = kept.expect("a task").expect("it takes the place of the other");
    assert_ne!(next, number);
    let made = Webhook { number: next, config: other, told: before, again: Vec::new() };
    assert_eq!(webhooks(&store, &task).await, [made]);
}

/// Whatever the reason: no room for the webhook, another version, another scope.
pub async fn changes_that_are_refused_leave_no_webhook_and_a_webhook_that_is_leaves_no_changes(
    store: impl TaskStore + PushStore,
) {
    let task = asking(&store).await;
    let (before, (changed, recorded)) = (task.version(), answered(&task));
    assert!(store.set(task.key(), &hook("a"), None, 1).await.expect("a task"), "there is room");
    let there = webhooks(&store, &task).await;

    let full = store.append_with(task.key(), before, &recorded, &changed, &hook("b"), 1).await;
    assert!(matches!(full, Ok(None)), "{full:?}");
    let earlier = Version(before.0 - 1);
    let late = store.append_with(task.key(), earlier, &recorded, &changed, &hook("b"), 9).await;
    assert!(matches!(late, Err(StoreError::Conflict { actual }) if actual == before), "{late:?}");
    for scope in sample::foreign_scopes() {
        let foreign = sample::key_in(&scope, 1);
        let unknown = store.append_with(&foreign, before, &recorded, &changed, &hook("b"), 9).await;
        assert!(matches!(unknown, Err(StoreError::NotFound)), "{unknown:?}");
    }
    assert_eq!(*store.load(task.key()).await.expect("the task"), task);
    assert_eq!(webhooks(&store, &task).await, there);
    // All of it was fine but for that.
    let kept = store.append_with(task.key(), before, &recorded, &changed, &hook("b"), 2).await;
    assert!(matches!(kept, Ok(Some(_))), "{kept:?}");
}
