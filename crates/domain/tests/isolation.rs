//! Nobody outside a scope can tell a task from one that never was, with any call, in any state; and none
//! of their calls is felt inside.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::{ListTasks, Resume, SendMessage};
use a2ad_domain::testing::sample::{call, foreign_scopes};
use a2ad_domain::testing::{ScriptedAgent, Setup, World};
use a2ad_domain::{Error, Scope, TaskState, Version, WhileWorking};

const UNKNOWN: &str = "00000000-0000-4000-8000-0000000000ff";

/// What every call that names a task says to somebody.
async fn answers(world: &World, scope: &Scope, id: &str) -> Vec<String> {
    let service = &world.service;
    let for_it = || SendMessage { task: Some(id.into()), wait: Some(false), ..call("hi") };
    let elsewhere = a2ad_domain::testing::sample::context("elsewhere");
    let resume = Some(Resume { seen: Version(1), snapshot: false });
    let errors: [Option<Error>; 8] = [
        service.get(scope, id).await.err(),
        service.cancel(scope, id).await.err(),
        service.attach(scope, id, None).await.err(),
        service.attach(scope, id, resume).await.err(),
        service.send(scope, for_it()).await.err(),
        service.stream(scope, for_it()).await.err(),
        service.send(scope, SendMessage { context: Some(elsewhere), ..for_it() }).await.err(),
        service.send(scope, SendMessage { wait: Some(true), ..for_it() }).await.err(),
    ];
    let text = |error: Option<Error>| format!("{:?}", error.expect("an error")).replace(id, "ID");
    errors.into_iter().map(text).collect()
}

#[tokio::test]
async fn a_foreign_task_is_answered_like_one_that_never_was() {
    for while_working in [WhileWorking::Refuse, WhileWorking::Append] {
        let mut setup = Setup::default();
        setup.settings.while_working = while_working;
        let world = World::with(ScriptedAgent::new([]), setup);
        let keys: Vec<_> = TaskState::ALL.into_iter().map(|state| world.task_in(state)).collect();
        let before = world.store.tasks();
        for scope in foreign_scopes() {
            let unknown = answers(&world, &scope, UNKNOWN).await;
            assert!(unknown.iter().all(|answer| answer.starts_with("TaskNotFound")), "{unknown:?}");
            for key in &keys {
                let foreign = answers(&world, &scope, &key.id.to_string()).await;
                assert_eq!(foreign, unknown, "{scope:?} {}", world.task(key).state());
            }
            let page = world.service.list(&scope, ListTasks { limit: 100, ..ListTasks::default() });
            let page = page.await.unwrap();
            assert_eq!((page.tasks.len(), page.total), (0, 0));
        }
        assert_eq!(world.store.tasks(), before, "a foreign call was felt");
        assert_eq!(world.bus.published(), []);
        assert!(world.spawner.stopped().is_empty());
        assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
    }
}

#[tokio::test]
async fn the_owner_still_reaches_the_task_that_others_could_not() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::InputRequired);
    let id = key.id.to_string();
    assert!(world.service.get(&world.scope, &id).await.is_ok());
    assert!(world.service.attach(&world.scope, &id, None).await.is_ok());
    assert!(world.service.cancel(&world.scope, &id).await.is_ok());
}

#[tokio::test]
async fn conversations_of_the_same_name_do_not_meet() {
    let world = World::new(ScriptedAgent::new([]));
    let chat = |text: &str| SendMessage {
        context: Some(a2ad_domain::testing::sample::context("c1")),
        wait: Some(false),
        ..call(text)
    };
    world.service.send(&world.scope, chat("secret")).await.unwrap();
    for scope in foreign_scopes() {
        let theirs = world.service.send(&scope, chat("hi")).await.unwrap().into_task();
        let list = ListTasks {
            context: Some(theirs.context().clone()),
            limit: 100,
            ..ListTasks::default()
        };
        let page = world.service.list(&scope, list).await.unwrap();
        assert_eq!(page.total, 1);
        assert!(!format!("{page:?}").contains("secret"));
    }
}
