//! Stores that fail: the caller learns of it and of no details, nothing is shown that is not stored, and
//! no task stays at work with nobody working on it.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{Clock, Outcome, StoreError, TaskStore};
use a2ad_domain::service::{RunEnd, Swept};
use a2ad_domain::testing::sample::{at, call, key, opened, piece};
use a2ad_domain::testing::{
    FakeStore, Fault, MockTaskStore, Op, PATIENCE, ScriptedAgent, Setup, Step, World, all,
};
use a2ad_domain::{Error, ErrorCode, Parts, StatusChange, Task, TaskState};
use std::sync::Arc;
use std::time::Duration;

fn unavailable() -> StoreError {
    StoreError::Unavailable("secret-connection-text".into())
}

/// A world whose service sees a mock; what the mock does not expect fails the test.
fn mocked(mock: MockTaskStore) -> World {
    let store = Arc::new(FakeStore::new());
    World::over(Arc::new(mock), store, ScriptedAgent::new([]), Setup::default())
}

fn assert_internal(error: &Error) {
    assert_eq!(error.code(), ErrorCode::Internal);
    assert!(!error.to_string().contains("secret"), "{error}");
}

/// Opens a task, then lets its run work with these faults at its appends. Time passes as it is waited for;
/// how much did, in milliseconds, comes last.
async fn run_with(script: Vec<Step>, faults: Vec<Fault>) -> (World, Arc<Task>, i64) {
    let world = World::new(ScriptedAgent::new(script));
    let key = world.open("go").await;
    world.store.script(Op::Append, faults);
    let began = world.clock.now();
    let time = async {
        loop {
            world.clock.advance_when_awaited(Duration::from_millis(1)).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = world.spawner.finish_next() => {}
        () = time => {}
    }
    let (task, took) = (world.task(&key), world.clock.now().as_millis() - began.as_millis());
    (world, task, took)
}

/// Waits, but not for ever: whoever is never told fails the test instead of hanging it.
async fn told<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, Box::pin(work)).await.expect("somebody waits for ever")
}

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_an_error_and_starts_nothing() {
    let mut mock = MockTaskStore::new();
    mock.expect_insert().times(1).returning(|_| Err(unavailable()));
    let world = mocked(mock);
    assert_internal(&world.service.send(&world.scope, call("go")).await.unwrap_err());
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
}

#[tokio::test]
async fn an_id_that_is_taken_already_is_the_servers_fault() {
    let mut mock = MockTaskStore::new();
    mock.expect_insert().times(1).returning(|_| Err(StoreError::Exists));
    let world = mocked(mock);
    assert_internal(&world.service.send(&world.scope, call("go")).await.unwrap_err());
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_or_stored_is_an_error_and_starts_nothing() {
    let parked = || {
        let ask = StatusChange::ending(TaskState::InputRequired, None);
        Arc::new(a2ad_domain::testing::sample::applied(opened(key(1), 0), &[ask], 1).0)
    };
    let answer = a2ad_domain::testing::sample::call_for(&key(1), "go");
    let mut mock = MockTaskStore::new();
    mock.expect_load().times(1).returning(|_| Err(unavailable()));
    let world = mocked(mock);
    assert_internal(&world.service.send(&world.scope, answer.clone()).await.unwrap_err());

    let mut mock = MockTaskStore::new();
    mock.expect_load().times(1).returning(move |_| Ok(parked()));
    mock.expect_append().times(1).returning(|_, _, _, _| Err(unavailable()));
    let world = mocked(mock);
    assert_internal(&world.service.send(&world.scope, answer).await.unwrap_err());
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
    assert_eq!(world.bus.published(), []);
}

#[tokio::test]
async fn a_waiting_send_that_cannot_read_its_task_says_so() {
    let mut setup = Setup::default();
    setup.limits.wait = Duration::from_secs(1);
    let world = World::with(ScriptedAgent::new([Step::Forever]), setup);
    world.store.script(Op::Load, [Fault::Down]);
    let sent = world.service.send(&world.scope, call("go"));
    let time = world.clock.advance_when_awaited(Duration::from_secs(1));
    assert_internal(&tokio::join!(sent, time).0.unwrap_err());
}

#[tokio::test]
async fn a_sweep_counts_only_what_was_stored() {
    let mut mock = MockTaskStore::new();
    mock.expect_waiting_since().returning(|_, _, _| Ok(Vec::new()));
    mock.expect_agents().returning(|| Ok(Vec::new()));
    mock.expect_purge_ended_before().times(2).returning({
        let mut first = true;
        move |_| if std::mem::take(&mut first) { Err(unavailable()) } else { Ok(3) }
    });
    let world = mocked(mock);
    assert_internal(&world.service.sweep().await.unwrap_err());
    assert_eq!(world.service.sweep().await.unwrap(), Swept { failed: 0, removed: 3 });
}

#[tokio::test]
async fn a_write_that_fails_stops_the_run_and_fails_the_task() {
    let script = || {
        let chunk = |text: &str| Step::Chunk("a", text.to_owned());
        vec![Step::Working(None), chunk("x"), chunk("y"), Step::NeedAuth("key"), Step::ask("?")]
    };
    for position in 0..4 {
        for unclear in [false, true] {
            let fault = if unclear { Fault::Unclear } else { Fault::Down };
            let faults = (0..position).map(|_| Fault::None).chain([fault]).collect();
            let (world, task, took) = run_with(script(), faults).await;
            assert_eq!(task.state(), TaskState::Failed, "write {position}");
            assert_eq!(took, 0, "the end was stored at the first try");
            let said = task.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap();
            assert!(
                said.starts_with("What the agent did could not be stored (reference "),
                "{said}"
            );
            let log = world.store.log(task.key());
            assert_eq!(log.len(), position + 1 + usize::from(unclear), "write {position}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_run_is_tried_again_until_it_is_stored() {
    for failures in 1..6 {
        let faults = (0..failures).map(|_| Fault::Down).collect();
        let (world, task, took) = run_with(vec![Step::complete("done")], faults).await;
        assert_eq!(task.state(), TaskState::Completed, "after {failures} failures");
        assert_eq!(took, [50, 150, 350, 750, 1550][failures - 1], "the pauses double");
        assert!(world.bus.closed().is_empty());
    }
}

#[tokio::test]
async fn an_end_that_can_never_be_stored_is_told_to_whoever_waits() {
    let world = World::new(ScriptedAgent::new([Step::complete("done")]));
    let streamed = world.service.stream(&world.scope, call("go")).await.unwrap();
    let (opened, mut watch) = streamed.into_task();
    world.store.script(Op::Append, (0..6).map(|_| Fault::Down));
    let reading = async {
        let told = watch.next().await.unwrap();
        assert_internal(&told.unwrap_err());
    };
    let time = async {
        for _ in 0..5 {
            world.clock.advance_when_awaited(Duration::from_secs(1)).await;
        }
    };
    told(async { tokio::join!(reading, world.spawner.finish_next(), time) }).await;
    let key = opened.unwrap().key().clone();
    assert_eq!(world.bus.closed(), std::slice::from_ref(&key));
    assert_eq!(world.bus.published(), [], "the end was shown and not stored");
    assert_eq!(world.task(&key).state(), TaskState::Submitted);

    // It is not given up, and whoever follows the task by then hears of it.
    let mut unended = world.spawner.unended().remove(0);
    world.store.script(Op::Append, [Fault::Down]);
    assert!(!unended.again().await);
    let streamed = world.service.attach(&world.scope, &key.id.to_string(), None).await.unwrap();
    let (_, mut watch) = streamed.into_task();
    assert!(unended.again().await);
    assert_eq!(world.task(&key).state(), TaskState::Completed);
    assert_eq!(all(&mut watch).await, world.store.log(&key));
}

#[tokio::test]
async fn an_end_that_could_not_be_stored_does_not_touch_what_has_ended_meanwhile() {
    let world = World::new(ScriptedAgent::new([Step::complete("done")]));
    let key = world.open("go").await;
    world.store.script(Op::Append, (0..6).map(|_| Fault::Down));
    let time = async {
        for _ in 0..5 {
            world.clock.advance_when_awaited(Duration::from_secs(1)).await;
        }
    };
    told(async { tokio::join!(world.spawner.finish_next(), time) }).await;
    let canceled = world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
    assert!(world.spawner.unended().remove(0).again().await);
    assert_eq!(world.task(&key), canceled);
}

#[tokio::test]
async fn an_end_that_was_stored_although_the_store_said_no_is_written_once_and_shown() {
    for outcome in [
        Outcome::Completed(Some(Parts::text("done"))),
        Outcome::InputRequired(Parts::text("which?")),
        Outcome::Rejected(Parts::text("no")),
    ] {
        let world = World::new(ScriptedAgent::new([Step::End(outcome.clone())]));
        let streamed = world.service.stream(&world.scope, call("go")).await.unwrap();
        let (opened, mut watch) = streamed.into_task();
        world.store.script(Op::Append, [Fault::Unclear]);
        let time = world.clock.advance_when_awaited(Duration::from_secs(1));
        let (changes, (), ()) =
            told(async { tokio::join!(all(&mut watch), world.spawner.finish_next(), time) }).await;
        let log = world.store.log(opened.unwrap().key());
        assert_eq!(changes, log, "{outcome:?}");
        let statuses = log.iter().filter(|change| change.state().is_some()).count();
        assert_eq!(statuses, 1, "{outcome:?} was written twice");
    }
}

#[tokio::test]
async fn an_end_of_unclear_fate_does_not_touch_the_run_after_it() {
    let agent = ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::Forever]]);
    let world = World::new(agent);
    let key = world.open("go").await;
    let mut first = world.spawner.next().await;
    let end = first.work().await;
    assert!(matches!(end, RunEnd::Returned(Ok(_))));
    world.store.script(Op::Append, [Fault::Unclear]);
    let ending = first.end(end);
    let answering = async {
        // The end is stored, and the client is quicker than the second try.
        while !world.task(&key).state().is_terminal() && world.task(&key).is_running() {
            tokio::task::yield_now().await;
        }
        let answer = a2ad_domain::testing::sample::call_for(&key, "this");
        let answer = a2ad_domain::service::SendMessage { wait: Some(false), ..answer };
        world.service.send(&world.scope, answer).await.unwrap();
        world.clock.advance_when_awaited(Duration::from_secs(1)).await;
    };
    told(async { tokio::join!(ending, answering) }).await;
    let task = world.task(&key);
    assert_eq!(task.state(), TaskState::Working, "the first run spoke into the second");
    assert!(task.is_running());
}

#[tokio::test]
async fn a_cancel_that_was_stored_although_the_store_said_no_releases_whoever_waits() {
    let world = World::new(ScriptedAgent::new([Step::Working(None), Step::UntilCanceled]));
    let streamed = world.service.stream(&world.scope, call("go")).await.unwrap();
    let (opened, mut watch) = streamed.into_task();
    let key = opened.unwrap().key().clone();
    let id = key.id.to_string();
    let canceling = async {
        while world.task(&key).state() != TaskState::Working {
            tokio::task::yield_now().await;
        }
        world.store.script(Op::Append, [Fault::Unclear]);
        assert_internal(&world.service.cancel(&world.scope, &id).await.unwrap_err());
        // The caller tries again and learns that it was done.
        let again = world.service.cancel(&world.scope, &id).await.unwrap_err();
        assert_eq!(again.code(), ErrorCode::TaskNotCancelable);
    };
    let (changes, (), ()) =
        told(async { tokio::join!(all(&mut watch), world.spawner.finish_next(), canceling) }).await;
    assert_eq!(changes, world.store.log(&key));
    assert_eq!(changes.last().unwrap().state(), Some(TaskState::Canceled));
}

#[tokio::test]
async fn nothing_that_was_refused_by_the_store_is_handed_out() {
    let mut mock = MockTaskStore::new();
    let live = Arc::new(opened(key(1), 0));
    let loaded = live.clone();
    mock.expect_load().returning(move |_| Ok(loaded.clone()));
    mock.expect_append().times(1).returning(|_, _, _, _| Err(StoreError::NotFound));
    let world = mocked(mock);
    let error = world.service.cancel(&world.scope, &live.key().id.to_string()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TaskNotFound);
    assert_eq!(world.bus.published(), []);
    assert!(world.spawner.stopped().is_empty());
}

#[tokio::test]
async fn a_failed_append_of_the_fake_is_reported_and_an_unclear_one_is_done() {
    let store = FakeStore::new();
    let task = opened(key(1), 0);
    store.insert(&Arc::new(task.clone())).await.unwrap();
    store.script(Op::Append, [Fault::Down, Fault::Unclear]);
    let (changed, recorded) =
        a2ad_domain::testing::sample::applied(task.clone(), &[piece("a", "x", false)], 1);
    for expected in [task.version(), changed.version()] {
        let append = store.append(&key(1), task.version(), &recorded, &changed).await;
        assert!(matches!(append, Err(StoreError::Unavailable(_))));
        assert_eq!(store.task(&key(1)).unwrap().version(), expected);
    }
    assert_eq!(changed.created(), at(0));
}
