//! Cancel: decided by the store, once, and then final.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::testing::sample::{artifact_id, at, call, piece, status};
use a2ad_domain::testing::{FakeStore, Fault, Op, ScriptedAgent, Step, World};
use a2ad_domain::{Change, Error, ErrorCode, Parts, TaskKey, TaskState};

async fn cancel(world: &World, key: &TaskKey) -> Result<std::sync::Arc<a2ad_domain::Task>, Error> {
    world.service.cancel(&world.scope, &key.id.to_string()).await
}

#[tokio::test]
async fn a_live_task_is_canceled_and_an_ended_one_is_left_as_it_is() {
    for state in TaskState::ALL {
        let world = World::new(ScriptedAgent::new([]));
        let key = world.task_in(state);
        let before = world.task(&key);
        world.clock.advance(std::time::Duration::from_secs(60));
        match cancel(&world, &key).await {
            Ok(task) => {
                assert!(!state.is_terminal(), "{state}");
                assert_eq!(task.state(), TaskState::Canceled);
                assert_eq!(world.task(&key), task, "a later look sees the same");
                assert_eq!(task.artifacts(), before.artifacts());
                assert_eq!(world.spawner.stopped(), [key]);
            }
            Err(Error::TaskNotCancelable { id, state: ended }) => {
                assert!(state.is_terminal());
                assert_eq!((id, ended), (key.id, state));
                assert_eq!(world.task(&key), before);
                assert_eq!(world.store.calls(Op::Append), 0, "{state}");
                assert_eq!(world.bus.published(), []);
            }
            Err(other) => panic!("{state}: {other:?}"),
        }
    }
}

/// Writes for ever.
struct Floods;

#[async_trait::async_trait]
impl a2ad_domain::ports::AgentExecutor for Floods {
    async fn run(
        &self,
        _: a2ad_domain::ports::Turn,
        out: &mut a2ad_domain::service::TaskWriter,
    ) -> Result<a2ad_domain::ports::Outcome, a2ad_domain::ports::AgentError> {
        loop {
            out.artifact(artifact_id("a"), Parts::text("more")).await?;
        }
    }
}

/// Lets a future go on only every eighth time that it could: between its read and its write others write.
async fn slowed<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut asked = 0_u32;
    std::future::poll_fn(|context| {
        asked += 1;
        if asked.is_multiple_of(8) {
            return work.as_mut().poll(context);
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await
}

#[tokio::test]
async fn a_run_that_writes_without_a_pause_cannot_keep_a_cancel_or_its_deadline_out() {
    for deadline in [false, true] {
        let world = World::new(std::sync::Arc::new(Floods));
        world.store.set_yielding();
        let key = world.open("go").await;
        let mut run = world.spawner.next().await;
        let overdue = run.run().overdue();
        let ends = async {
            if deadline {
                assert!(overdue.end_task().await);
            } else {
                world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
            }
        };
        let (end, ()) = tokio::join!(run.work(), slowed(ends));
        let ended = world.task(&key);
        let state = if deadline { TaskState::Failed } else { TaskState::Canceled };
        assert_eq!(ended.state(), state);
        run.end(end).await;
        assert_eq!(world.task(&key), ended);
    }
}

#[tokio::test]
async fn a_second_cancel_is_refused() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::Working);
    let first = cancel(&world, &key).await.unwrap();
    let second = cancel(&world, &key).await.unwrap_err();
    assert_eq!(second.code(), ErrorCode::TaskNotCancelable);
    assert_eq!(world.task(&key), first);
}

#[tokio::test]
async fn cancel_wins_over_a_running_agent() {
    let agent = ScriptedAgent::new([
        Step::Working(None),
        Step::Artifact("out", "early".to_owned()),
        Step::UntilCanceled,
        Step::Artifact("out", "late".to_owned()),
        Step::complete("done"),
    ]);
    let world = World::new(agent);
    let sent = world.service.send(&world.scope, call("go"));
    let canceling = async {
        tokio::task::yield_now().await;
        let key = world.store.tasks()[0].key().clone();
        cancel(&world, &key).await.unwrap()
    };
    let (sent, (), canceled) = tokio::join!(sent, world.spawner.finish_next(), canceling);
    assert_eq!(sent.unwrap().into_task(), canceled, "the waiting send gets the canceled task");
    assert_eq!(world.task(canceled.key()), canceled);
    assert!(!format!("{canceled:?}").contains("late"));
}

#[tokio::test]
async fn a_cancel_that_comes_after_the_end_is_refused_and_the_end_stays() {
    for end in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        let world = World::new(ScriptedAgent::new([]));
        let key = world.task_in(TaskState::Working);
        let of = key.clone();
        let finish = move |store: &FakeStore| store.commit(&of, status(end), at(5));
        world.store.script(Op::Append, [Fault::First(Box::new(finish))]);
        match cancel(&world, &key).await {
            Err(Error::TaskNotCancelable { state, .. }) => assert_eq!(state, end),
            other => panic!("{other:?}"),
        }
        assert_eq!(world.task(&key).state(), end);
    }
}

#[tokio::test]
async fn a_cancel_looks_again_as_often_as_the_run_is_faster() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::Working);
    let write = |number: usize| {
        let of = key.clone();
        let text = number.to_string();
        Fault::First(Box::new(move |store: &FakeStore| {
            store.commit(&of, piece("b", &text, false), at(5));
        }))
    };
    world.store.script(Op::Append, (0..20).map(write));
    let task = cancel(&world, &key).await.unwrap();
    assert_eq!(task.state(), TaskState::Canceled);
    let text: String = task.artifacts()[1].parts().filter_map(|part| part.plain_text()).collect();
    assert_eq!(text, "19", "what the run stored before is kept");
    let log = world.store.log(&key);
    let canceled = log.iter().filter(|change| change.state() == Some(TaskState::Canceled));
    assert_eq!(canceled.count(), 1);
    assert!(matches!(log.last().unwrap().change, Change::Status(_)));
}

#[tokio::test]
async fn a_queued_run_of_a_canceled_task_writes_nothing() {
    let world = World::new(ScriptedAgent::new([Step::Working(None), Step::complete("x")]));
    let key = world.open("go").await;
    let canceled = cancel(&world, &key).await.unwrap();
    world.spawner.finish_next().await;
    assert_eq!(world.task(&key), canceled);
}

#[tokio::test]
async fn a_cancel_between_the_answer_and_its_run_stops_the_run() {
    // The executor writes nothing, so only the signal can tell it.
    let world = World::new(ScriptedAgent::new([Step::UntilCanceled]));
    let key = world.task_in(TaskState::InputRequired);
    let of = key.clone();
    world.store.script(Op::Append, [Fault::None]);
    let call = a2ad_domain::testing::sample::call_for(&key, "go");
    let call = a2ad_domain::service::SendMessage { wait: Some(false), ..call };
    world.service.send(&world.scope, call).await.unwrap();
    // Somebody else's cancel, whose word to the spawner came before the run was known there.
    world.store.commit(&of, status(TaskState::Canceled), at(5));
    let mut run = world.spawner.next().await;
    let end = a2ad_domain::testing::poll_now(run.work()).await;
    assert!(end.is_some(), "a run goes on for a task that has ended");
}

#[tokio::test]
async fn an_unknown_task_is_not_found() {
    let world = World::new(ScriptedAgent::new([]));
    for id in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
        match world.service.cancel(&world.scope, id).await {
            Err(Error::TaskNotFound { id: named }) => assert_eq!(&*named, id),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_store_that_is_down_cancels_nothing_and_stops_nothing() {
    for op in [Op::Load, Op::Append] {
        let world = World::new(ScriptedAgent::new([]));
        let key = world.task_in(TaskState::Working);
        world.store.script(op, [Fault::Down]);
        let error = cancel(&world, &key).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
        assert!(!error.to_string().contains("secret"));
        assert_eq!(world.task(&key).state(), TaskState::Working);
        assert!(world.spawner.stopped().is_empty());
    }
}
