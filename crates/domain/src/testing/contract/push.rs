//! What every store of webhooks holds to.

use super::store::{keep, write};
use crate::ids::{PushConfigId, TaskKey, Version};
use crate::ports::{Letter, PushStore, StoreError, TaskStore};
use crate::push::{Confidential, PushConfig, PushForm, Webhook, WebhookName};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::sample::{self, at, key, opened, piece, status, webhook};

const URL: &str = "https://hooks.example/a?secret=1";
const MANY: usize = 100;

fn id(name: &str) -> PushConfigId {
    PushConfigId::new(name).expect("an id")
}

async fn set(store: &impl PushStore, task: &TaskKey, name: &str) -> WebhookName {
    set_after(store, task, name, None).await
}

async fn set_after(
    store: &impl PushStore,
    task: &TaskKey,
    name: &str,
    after: Option<Version>,
) -> WebhookName {
    let kept = store.set(task, &webhook(name, URL), after, MANY).await;
    assert!(kept.expect("a task that has webhooks"), "there is room");
    let all = webhooks(store, task).await;
    let made = all.iter().find(|known| known.config.id == id(name)).expect("the webhook");
    WebhookName { task: task.clone(), number: made.number }
}

async fn webhooks(store: &impl PushStore, task: &TaskKey) -> Vec<Webhook> {
    store.webhooks(task).await.expect("a task that has webhooks")
}

async fn told(store: &impl PushStore, name: &WebhookName) -> u64 {
    store.webhook(name).await.expect("a store").expect("a webhook").told.0
}

async fn open(store: &impl PushStore) -> Vec<WebhookName> {
    sorted(store.open().await.expect("webhooks"))
}

async fn due(store: &impl PushStore) -> Vec<WebhookName> {
    sorted(store.due().await.expect("webhooks"))
}

fn sorted(mut names: Vec<WebhookName>) -> Vec<WebhookName> {
    names.sort_by_key(|name| name.number);
    names
}

async fn kept(store: &impl TaskStore, number: u128) -> Task {
    let task = opened(key(number), 5);
    keep(store, &task).await;
    task
}

fn letter(version: u64) -> Letter {
    Letter { version: Version(version), at: at(9), why: "no answer".to_owned() }
}

/// Every member of a webhook comes back as it was, those that are missing too.
pub async fn a_webhook_is_read_as_it_was_set(store: impl TaskStore + PushStore) {
    let task = kept(&store, 1).await;
    let full = webhook("full", URL);
    let bare = PushConfig {
        id: id("é \" '"),
        named: false,
        url: Confidential::new("https://hooks.example/"),
        token: None,
        authentication: None,
        form: PushForm::Line03,
    };
    let mut silent = webhook("silent", URL);
    if let Some(authentication) = &mut silent.authentication {
        authentication.credentials = None;
    }
    silent.form = PushForm::Praison;
    let all = [full, bare, silent];
    for config in &all {
        assert!(store.set(task.key(), config, None, MANY).await.expect("a webhook"));
    }
    let read = webhooks(&store, task.key()).await;
    let configs: Vec<_> = read.iter().map(|webhook| webhook.config.clone()).collect();
    assert_eq!(configs, all, "in the order in which they were made");
    for known in read {
        let name = WebhookName { task: task.key().clone(), number: known.number };
        assert_eq!(store.webhook(&name).await.expect("a store"), Some(known));
    }
}

/// In another scope, and for an id that nobody has, there is no task for it.
pub async fn a_webhook_belongs_to_a_task_that_exists_in_the_scope(
    store: impl TaskStore + PushStore,
) {
    let task = kept(&store, 1).await;
    set(&store, task.key(), "a").await;
    let foreign = sample::foreign_scopes().map(|scope| sample::key_in(&scope, 1));
    for other in foreign.into_iter().chain([key(2)]) {
        let refused = store.set(&other, &webhook("b", URL), None, MANY).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "{other:?}: {refused:?}");
        let refused = store.webhooks(&other).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "{other:?}: {refused:?}");
        let refused = store.delete(&other, &id("a")).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "{other:?}: {refused:?}");
    }
    assert_eq!(webhooks(&store, task.key()).await.len(), 1);
}

/// It goes on where the one before had got to, under a number of its own.
pub async fn a_webhook_of_the_same_id_takes_the_place_and_what_was_not_told(
    store: impl TaskStore + PushStore,
) {
    let mut task = kept(&store, 1).await;
    let first = set(&store, task.key(), "a").await;
    write(&store, &mut task, &[status(TaskState::Working), piece("x", "y", false)], 6).await;
    store.told(&first, Version(2)).await.expect("a webhook");
    let second = set(&store, task.key(), "a").await;
    assert_ne!(first, second);
    assert_eq!(store.webhook(&first).await.expect("a store"), None);
    assert_eq!(told(&store, &second).await, 2);
    // What was on its way for the first one changes nothing.
    store.told(&first, Version(3)).await.expect("nothing to do");
    store.give_up(&first, &letter(3)).await.expect("nothing to do");
    assert_eq!(told(&store, &second).await, 2);
    assert_eq!(webhooks(&store, task.key()).await.len(), 1);
    assert_eq!(due(&store).await, [second]);
}

/// The one that is too much is refused and changes nothing; replacing one takes no more room.
pub async fn a_task_has_so_many_webhooks_and_no_more(store: impl TaskStore + PushStore) {
    let (task, other) = (kept(&store, 1).await, kept(&store, 2).await);
    for name in ["a", "b"] {
        assert!(store.set(task.key(), &webhook(name, URL), None, 2).await.expect("room"));
    }
    assert!(!store.set(task.key(), &webhook("c", URL), None, 2).await.expect("an answer"));
    assert!(store.set(task.key(), &webhook("a", URL), None, 2).await.expect("an answer"));
    assert!(store.set(other.key(), &webhook("c", URL), None, 2).await.expect("an answer"));
    assert_eq!(webhooks(&store, task.key()).await.len(), 2);
}

/// Deleting it again is fine, and what is still on its way for it leaves nothing behind.
pub async fn a_deleted_webhook_is_gone_for_everybody(store: impl TaskStore + PushStore) {
    let mut task = kept(&store, 1).await;
    let (gone, stays) = (set(&store, task.key(), "a").await, set(&store, task.key(), "b").await);
    write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    for _ in 0..2 {
        store.delete(task.key(), &id("a")).await.expect("a task");
        assert_eq!(store.webhook(&gone).await.expect("a store"), None);
        store.told(&gone, Version(2)).await.expect("nothing to do");
        store.give_up(&gone, &letter(2)).await.expect("nothing to do");
        store.told_after_all(&gone, Version(2)).await.expect("nothing to do");
    }
    assert_eq!(webhooks(&store, task.key()).await.len(), 1);
    assert_eq!(open(&store).await, [stays]);
    let again = set(&store, task.key(), "a").await;
    assert_ne!(again.number, gone.number);
}

/// What a webhook has been told only grows.
pub async fn a_webhook_is_told_from_now_on_or_from_a_version(store: impl TaskStore + PushStore) {
    let mut task = kept(&store, 1).await;
    write(&store, &mut task, &[status(TaskState::Working), piece("x", "y", false)], 6).await;
    let now = set(&store, task.key(), "now").await;
    let then = set_after(&store, task.key(), "then", Some(Version(1))).await;
    assert_eq!((told(&store, &now).await, told(&store, &then).await), (3, 1));
    store.told(&then, Version(3)).await.expect("a webhook");
    store.told(&then, Version(2)).await.expect("a webhook");
    assert_eq!(told(&store, &then).await, 3);
}

/// The others are open all the same while their task lives.
pub async fn what_is_due_is_what_has_changes_that_were_not_told(store: impl TaskStore + PushStore) {
    let mut task = kept(&store, 1).await;
    let (a, b) = (set(&store, task.key(), "a").await, set(&store, task.key(), "b").await);
    assert_eq!((due(&store).await, open(&store).await), (vec![], vec![a.clone(), b.clone()]));
    write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    assert_eq!(due(&store).await, [a.clone(), b.clone()]);
    store.told(&a, Version(2)).await.expect("a webhook");
    assert_eq!((due(&store).await, open(&store).await), (vec![b.clone()], vec![a, b]));
}

/// So is one that was set when its task had ended.
pub async fn a_webhook_of_an_ended_task_is_over_when_it_was_told_all(
    store: impl TaskStore + PushStore,
) {
    let mut task = kept(&store, 1).await;
    let a = set(&store, task.key(), "a").await;
    let done = [status(TaskState::Working), status(TaskState::Completed)];
    write(&store, &mut task, &done, 6).await;
    set(&store, task.key(), "late").await;
    assert_eq!((due(&store).await, open(&store).await), (vec![a.clone()], vec![a.clone()]));
    store.told(&a, Version(2)).await.expect("a webhook");
    assert_eq!((due(&store).await, open(&store).await), (vec![a.clone()], vec![a.clone()]));
    store.told(&a, Version(3)).await.expect("a webhook");
    assert_eq!((due(&store).await, open(&store).await), (vec![], vec![]));
    assert_eq!(webhooks(&store, task.key()).await.len(), 2, "they can still be read");
}

/// It goes on after it.
pub async fn what_was_given_up_is_not_due(store: impl TaskStore + PushStore) {
    let mut task = kept(&store, 1).await;
    let a = set(&store, task.key(), "a").await;
    let done = [status(TaskState::Working), status(TaskState::Completed)];
    write(&store, &mut task, &done, 6).await;
    store.give_up(&a, &letter(2)).await.expect("a webhook");
    assert_eq!((told(&store, &a).await, due(&store).await), (2, vec![a.clone()]));
    store.give_up(&a, &letter(3)).await.expect("a webhook");
    assert_eq!((due(&store).await, open(&store).await), (vec![], vec![]));
    // Again, as when the answer of the store has got lost.
    store.give_up(&a, &letter(3)).await.expect("a webhook");
    store.told_after_all(&a, Version(3)).await.expect("a webhook");
    assert_eq!(due(&store).await, []);
}

/// When the store removes a task, nothing is left of its webhooks.
pub async fn webhooks_go_with_their_task(store: impl TaskStore + PushStore) {
    let mut task = kept(&store, 1).await;
    let a = set(&store, task.key(), "a").await;
    let done = [status(TaskState::Working), status(TaskState::Completed)];
    write(&store, &mut task, &done, 6).await;
    store.give_up(&a, &letter(2)).await.expect("a webhook");
    assert_eq!(store.purge_ended_before(at(100)).await.expect("a store"), 1);
    assert_eq!(store.webhook(&a).await.expect("a store"), None);
    assert_eq!((due(&store).await, open(&store).await), (vec![], vec![]));
    // A task that comes later has no webhook of an earlier one.
    let next = kept(&store, 2).await;
    assert_eq!(webhooks(&store, next.key()).await, []);
}
