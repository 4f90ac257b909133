//! Webhooks of a task: set, read, listed and deleted, alone and with a message.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used)]

use a2ad_domain::ports::PushStore;
use a2ad_domain::service::{Limits, SendMessage};
use a2ad_domain::testing::sample::{call, call_for, foreign_scopes, set_webhook};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, World};
use a2ad_domain::{Error, PushForm, TaskKey, TaskState, Version};

fn world() -> World {
    let limits = Limits { webhooks: 3, ..Limits::default() };
    World::with(ScriptedAgent::new([]), Setup { limits, ..Setup::default() })
}

async fn ids(world: &World, key: &TaskKey) -> Vec<String> {
    let all = world.service.pushes(&world.scope, &key.id.to_string()).await.unwrap();
    all.iter().map(|webhook| webhook.config.id.to_string()).collect()
}

#[tokio::test]
async fn webhooks_without_a_name_get_names_of_their_own() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    let id = key.id.to_string();
    let set = |name| world.service.set_push(&world.scope, &id, set_webhook(name, PushForm::Line1));
    let made = [set(None).await.unwrap(), set(None).await.unwrap(), set(Some("c1")).await.unwrap()];
    let names: Vec<_> = made.iter().map(|webhook| webhook.config.id.to_string()).collect();
    assert_eq!(ids(&world, &key).await, names);
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| *name != id));
    let rung: Vec<_> = world.bells.take().iter().map(|webhook| webhook.number).collect();
    assert_eq!(rung, made.each_ref().map(|webhook| webhook.number));
    // Without a name the first one is read; by the names that others give it, the first unnamed one.
    let read = async |config: Option<&str>| {
        let read = world.service.push(&world.scope, &id, config).await;
        read.map(|webhook| webhook.config.id.to_string()).ok()
    };
    let first = Some(names[0].clone());
    for config in [None, Some("default"), Some(&*id)] {
        assert_eq!(read(config).await, first, "{config:?}");
    }
    assert_eq!(read(Some("c1")).await.as_deref(), Some("c1"));
    assert_eq!(read(Some("c2")).await, None);
    for name in &names[..2] {
        world.service.delete_push(&world.scope, &id, name).await.unwrap();
        world.service.delete_push(&world.scope, &id, name).await.unwrap();
    }
    assert_eq!(ids(&world, &key).await, ["c1"]);
    assert_eq!(read(Some("default")).await, None);
    assert_eq!(read(None).await.as_deref(), Some("c1"));
    world.service.delete_push(&world.scope, &id, "").await.unwrap();
}

#[tokio::test]
async fn a_task_has_no_more_webhooks_than_it_may() {
    let world = world();
    let key = world.task_in(TaskState::InputRequired);
    let id = key.id.to_string();
    let set = |name| world.service.set_push(&world.scope, &id, set_webhook(name, PushForm::Line1));
    for name in ["a", "b", "c"] {
        set(Some(name)).await.unwrap();
    }
    let refused = set(Some("d")).await;
    let Err(Error::InvalidParams { field, problem }) = refused else { panic!("{refused:?}") };
    assert_eq!(
        (field.as_str(), problem.as_str()),
        ("webhook", "is one more than the 3 that a task may have")
    );
    set(Some("a")).await.unwrap();
    // A message that brings one too many changes nothing.
    let before = world.task(&key);
    for (name, taken) in [(Some("e"), false), (None, false), (Some("b"), true)] {
        let push = Some(Box::new(set_webhook(name, PushForm::Line1)));
        let answer = SendMessage { push, wait: Some(false), ..call_for(&key, "more") };
        let sent = world.service.send(&world.scope, answer).await;
        assert_eq!(sent.is_ok(), taken, "{sent:?}");
        assert_eq!(world.task(&key) == before, !taken);
    }
    assert_eq!(ids(&world, &key).await, ["c", "a", "b"]);
}

#[tokio::test]
async fn a_foreign_task_has_no_webhooks_and_takes_none() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    let id = key.id.to_string();
    world
        .service
        .set_push(&world.scope, &id, set_webhook(Some("a"), PushForm::Line1))
        .await
        .unwrap();
    for scope in foreign_scopes() {
        let unknown = |result: Result<(), Error>| {
            assert!(
                matches!(&result, Err(Error::TaskNotFound { id: told }) if **told == *id),
                "{result:?}"
            );
        };
        let set = set_webhook(Some("b"), PushForm::Line1);
        unknown(world.service.set_push(&scope, &id, set).await.map(|_| ()));
        unknown(world.service.push(&scope, &id, Some("a")).await.map(|_| ()));
        unknown(world.service.push(&scope, &id, None).await.map(|_| ()));
        unknown(world.service.pushes(&scope, &id).await.map(|_| ()));
        unknown(world.service.delete_push(&scope, &id, "a").await);
        unknown(world.service.delete_push(&scope, &id, "").await);
    }
    assert_eq!(ids(&world, &key).await, ["a"]);
}

#[tokio::test]
async fn a_message_brings_its_webhook_along_before_its_run_begins() {
    let world = world();
    let push = Some(Box::new(set_webhook(None, PushForm::Line1)));
    let first = SendMessage { push, wait: Some(false), ..call("x") };
    let key = world.service.send(&world.scope, first).await.unwrap().into_task().key().clone();
    let all = world.store.webhooks(&key).await.unwrap();
    assert_eq!((all.len(), all[0].told), (1, Version::FIRST));
    assert_eq!(world.bells.take().len(), 1);
    // A later message's webhook hears of what that message has begun.
    let asking = world.task_in(TaskState::InputRequired);
    let before = world.task(&asking).version();
    let push = Some(Box::new(set_webhook(Some("b"), PushForm::Line1)));
    let answer = SendMessage { push, wait: Some(false), ..call_for(&asking, "this") };
    world.service.send(&world.scope, answer).await.unwrap();
    assert_eq!(world.store.webhooks(&asking).await.unwrap()[0].told, before);
    assert_eq!(world.bells.take().len(), 1);
}

#[tokio::test]
async fn a_message_that_is_refused_leaves_no_webhook() {
    let world = world();
    let done = world.task_in(TaskState::Completed);
    let push = Some(Box::new(set_webhook(Some("b"), PushForm::Line1)));
    let more = SendMessage { push, ..call_for(&done, "more") };
    let refused = world.service.send(&world.scope, more).await;
    assert!(matches!(refused, Err(Error::UnsupportedOperation { .. })), "{refused:?}");
    assert_eq!(ids(&world, &done).await, [""; 0]);
    world.store.script(Op::Insert, [Fault::Full]);
    let push = Some(Box::new(set_webhook(Some("b"), PushForm::Line1)));
    let full = world.service.send(&world.scope, SendMessage { push, ..call("x") }).await;
    assert!(matches!(full, Err(Error::Unavailable(_))), "{full:?}");
    assert_eq!(world.store.open().await.unwrap(), []);
    assert_eq!(world.bells.take(), []);
}

/// A message with a webhook.
fn with_webhook(message: SendMessage) -> SendMessage {
    SendMessage { push: Some(Box::new(set_webhook(None, PushForm::Line1))), ..message }
}

/// How often the store was asked to write.
fn writes(world: &World) -> usize {
    [Op::Insert, Op::Append, Op::SetWebhook].map(|op| world.store.calls(op)).iter().sum()
}

#[tokio::test]
async fn a_message_and_its_webhook_are_one_write() {
    let world = world();
    let asking = world.task_in(TaskState::InputRequired);
    for message in [call("x"), call_for(&asking, "this")] {
        let before = writes(&world);
        let message = SendMessage { wait: Some(false), ..with_webhook(message) };
        world.service.send(&world.scope, message).await.unwrap();
        assert_eq!(writes(&world) - before, 1);
    }
    assert_eq!((world.store.open().await.unwrap().len(), world.bells.take().len()), (2, 2));
}

#[tokio::test]
async fn a_message_whose_write_fails_is_refused_as_a_whole_and_leaves_nothing() {
    let world = world();
    let asking = world.task_in(TaskState::InputRequired);
    let before = world.task(&asking);
    for message in [call("x"), call_for(&asking, "this")] {
        for op in [Op::Insert, Op::Append, Op::SetWebhook] {
            world.store.script(op, [Fault::Down]);
        }
        let refused = world.service.send(&world.scope, with_webhook(message)).await;
        assert!(matches!(refused, Err(Error::Internal { .. })), "{refused:?}");
    }
    assert_eq!(world.store.tasks(), [before], "there is no other task, and this one is as it was");
    assert_eq!(world.store.open().await.unwrap(), []);
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0), "no run, and no place");
    assert_eq!(world.bells.take(), []);
}

/// Who has the share back may open another task.
#[tokio::test]
async fn a_task_that_was_refused_with_its_webhook_takes_nothing_of_its_owners_share() {
    let limits = Limits { owner_tasks: Some(1), ..Limits::default() };
    let world = World::with(ScriptedAgent::new([]), Setup { limits, ..Setup::default() });
    world.store.script(Op::Insert, [Fault::Down]);
    let refused = world.service.send(&world.scope, with_webhook(call("x"))).await;
    assert!(matches!(refused, Err(Error::Internal { .. })), "{refused:?}");
    let again = SendMessage { wait: Some(false), ..with_webhook(call("x")) };
    world.service.send(&world.scope, again).await.unwrap();
}

#[tokio::test]
async fn a_first_message_brings_no_webhook_where_no_task_may_have_any() {
    let limits = Limits { webhooks: 0, ..Limits::default() };
    let world = World::with(ScriptedAgent::new([]), Setup { limits, ..Setup::default() });
    let refused = world.service.send(&world.scope, with_webhook(call("x"))).await;
    assert!(matches!(refused, Err(Error::InvalidParams { .. })), "{refused:?}");
    assert_eq!((world.store.tasks().len(), world.spawner.taken()), (0, 0));
}
