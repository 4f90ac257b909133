//! What an executor writes with: what it may write, what happens when somebody else writes too, and when
//! it has to stop.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::{RunEnd, SendMessage};
use a2ad_domain::testing::sample::{artifact_id, at, call, message, status};
use a2ad_domain::testing::{FakeStore, Fault, Op, PATIENCE, ScriptedAgent, Setup, Step, World};
use a2ad_domain::{ArtifactUpdate, CancelSignal, Change, Parts, Task, TaskKey, TaskState};
use std::sync::Arc;

/// Everything that a stream still shows; one that never ends fails the test instead of hanging it.
async fn all(watch: &mut a2ad_domain::service::Watch) -> Vec<a2ad_domain::Recorded> {
    let shown = Box::pin(a2ad_domain::testing::all(watch));
    tokio::time::timeout(PATIENCE, shown).await.expect("a stream that ends")
}

fn text(task: &Task, index: usize) -> String {
    task.artifacts()[index].parts().filter_map(|part| part.plain_text()).collect()
}

fn told(task: &Task) -> &str {
    task.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap()
}

/// A message that joins the history right before the next append.
fn a_message_comes_first(key: &TaskKey) -> Fault {
    let of = key.clone();
    Fault::First(Box::new(move |store: &FakeStore| {
        store.commit(&of, Change::Message(Arc::new(message("m-between", "also"))), at(5));
    }))
}

async fn run(world: &World) -> Arc<Task> {
    let key = world.open("go").await;
    world.spawner.finish_next().await;
    world.task(&key)
}

#[tokio::test]
async fn chunks_make_an_artifact_and_extend_it_and_a_whole_one_replaces_it() {
    let world = World::new(ScriptedAgent::new([
        Step::Chunk("a", "one".to_owned()),
        Step::Chunk("a", " two".to_owned()),
        Step::Artifact("b", "x".to_owned()),
        Step::Artifact("b", "y".to_owned()),
        Step::Chunk("b", "z".to_owned()),
    ]));
    let task = run(&world).await;
    assert_eq!((text(&task, 0).as_str(), text(&task, 1).as_str()), ("one two", "yz"));
    assert_eq!(task.state(), TaskState::Completed);
}

#[tokio::test]
async fn saying_that_work_goes_on_writes_only_news() {
    let world = World::new(ScriptedAgent::new([
        Step::Working(None),
        Step::Working(None),
        Step::Working(Some("half")),
        Step::Working(None),
    ]));
    let task = run(&world).await;
    let states: Vec<_> = world.store.log(task.key()).iter().map(|change| change.state()).collect();
    let working = Some(TaskState::Working);
    assert_eq!(states, [working, working, Some(TaskState::Completed)]);
}

#[tokio::test]
async fn a_write_that_another_one_overtakes_is_tried_again_on_top_of_it() {
    let script = [Step::Working(None), Step::Chunk("a", "x".to_owned()), Step::complete("done")];
    for position in 0..3 {
        let world = World::new(ScriptedAgent::new(script.clone()));
        let key = world.open("go").await;
        let faults = (0..position).map(|_| Fault::None).chain([a_message_comes_first(&key)]);
        world.store.script(Op::Append, faults);
        world.spawner.finish_next().await;
        let task = world.task(&key);
        assert_eq!(task.state(), TaskState::Completed, "at write {position}");
        assert_eq!(text(&task, 0), "x", "at write {position}");
        assert_eq!(task.history().len(), 3, "at write {position}");
        assert_eq!(world.store.log(&key).len(), 5, "at write {position}");
    }
}

#[tokio::test]
async fn after_the_task_has_ended_every_write_stops_the_run() {
    let late = || "late".to_owned();
    for write in [
        Step::Working(Some("late")),
        Step::NeedAuth("late"),
        Step::Artifact("a", late()),
        Step::Chunk("a", late()),
        Step::Inbox,
    ] {
        let gate = CancelSignal::new();
        let script = [Step::Wait(gate.clone()), write.clone(), Step::Panic("went on")];
        let world = World::new(ScriptedAgent::new(script));
        let key = world.open("go").await;
        let canceled = world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
        gate.raise();
        let mut run = world.spawner.next().await;
        if matches!(write, Step::Inbox) {
            // Reading is no write: the next write stops the run.
            drop(run);
            continue;
        }
        let end = run.work().await;
        assert!(matches!(end, RunEnd::Returned(Err(_))), "{write:?}: {end:?}");
        run.end(end).await;
        assert_eq!(world.task(&key), canceled, "{write:?}");
    }
}

#[tokio::test]
async fn a_piece_that_extends_nothing_fails_the_task_as_an_invalid_response() {
    let update = ArtifactUpdate {
        id: artifact_id("never-made"),
        parts: Parts::text("x"),
        append: true,
        last: false,
        details: None,
    };
    let script = [Step::Working(None), Step::Update(update), Step::complete("done")];
    let world = World::new(ScriptedAgent::new(script));
    let task = run(&world).await;
    assert_eq!(task.state(), TaskState::Failed);
    let told = told(&task);
    assert!(told.starts_with("The agent gave an invalid response (reference "), "{told}");
    assert!(task.artifacts().is_empty());
}

#[tokio::test]
async fn results_larger_than_a_task_may_be_fail_it() {
    let large = "x".repeat(40_000);
    for step in [
        Step::Chunk("a", large.clone()),
        Step::Artifact("a", large.clone()),
        Step::Working(Some(Box::leak(large.clone().into_boxed_str()))),
    ] {
        let mut setup = Setup::default();
        setup.limits.task_bytes = 100_000;
        let script = vec![step.clone(); 20];
        let world = World::with(ScriptedAgent::new(script), setup);
        let task = run(&world).await;
        if matches!(step, Step::Artifact(..)) {
            // Each one replaces the one before, so the task stays small.
            assert_eq!(task.state(), TaskState::Completed);
            continue;
        }
        assert_eq!(task.state(), TaskState::Failed);
        assert_eq!(told(&task), "The agent's results are larger than a task may be.");
        assert!(task.weight() < 110_000, "{}", task.weight());
    }
}

/// The executor starts to write and gives up half-way, before or after the store has done it; meanwhile a
/// message comes in, so that in the first case the store is at the very version that the run believes to
/// have written itself.
#[tokio::test]
async fn an_abandoned_write_is_not_built_upon() {
    for (polls, result) in [(1, "kept"), (2, "lost, kept")] {
        let (abandoned, go) = (CancelSignal::new(), CancelSignal::new());
        let world = World::new(ScriptedAgent::new([
            Step::Working(None),
            Step::AbandonedChunk(polls, "a", "lost, ".to_owned()),
            Step::Tell(abandoned.clone()),
            Step::Wait(go.clone()),
            Step::Working(None),
            Step::Chunk("a", "kept".to_owned()),
            Step::complete("done"),
        ]));
        world.store.set_yielding();
        let streamed = world.service.stream(&world.scope, call("go")).await.unwrap();
        let (opened, mut watch) = streamed.into_task();
        let key = opened.unwrap().key().clone();
        let other = async {
            abandoned.raised().await;
            let said = Change::Message(Arc::new(message("m-between", "also")));
            world.store.commit(&key, said, at(5));
            go.raise();
        };
        let (changes, (), ()) = tokio::join!(all(&mut watch), world.spawner.finish_next(), other);
        let task = world.task(&key);
        assert_eq!(task.state(), TaskState::Completed);
        assert_eq!(text(&task, 0), result);
        assert_eq!(changes, world.store.log(&key));
    }
}

#[tokio::test]
async fn the_conversation_is_that_of_all_tasks_of_the_context_and_scope() {
    // Written by hand, since the script has no step for it.
    struct Remembers;
    #[async_trait::async_trait]
    impl a2ad_domain::ports::AgentExecutor for Remembers {
        async fn run(
            &self,
            _: a2ad_domain::ports::Turn,
            out: &mut a2ad_domain::service::TaskWriter,
        ) -> Result<a2ad_domain::ports::Outcome, a2ad_domain::ports::AgentError> {
            let said = out.conversation(100).await?;
            let ids: Vec<_> = said.iter().map(|message| message.id.to_string()).collect();
            Ok(a2ad_domain::ports::Outcome::Completed(Some(Parts::text(ids.join(" ")))))
        }
    }
    let world = World::new(Arc::new(Remembers));
    let chat = |text: &str| SendMessage {
        context: Some(a2ad_domain::testing::sample::context("chat")),
        ..call(text)
    };
    let foreign = &a2ad_domain::testing::sample::foreign_scopes()[0];
    let secret = world.service.send(foreign, chat("secret"));
    tokio::join!(secret, world.spawner.finish_next()).0.unwrap();
    for text in ["one", "two"] {
        let sent = world.service.send(&world.scope, chat(text));
        let task = tokio::join!(sent, world.spawner.finish_next()).0.unwrap().into_task();
        let answer = task.history()[1].parts.as_slice()[0].plain_text().unwrap();
        assert!(!answer.contains("secret"), "{answer}");
        let said: Vec<&str> = answer.split(' ').collect();
        match text {
            "one" => assert_eq!(said, [""]),
            _ => assert_eq!((said.len(), said[0]), (2, "m-one"), "the message and its answer"),
        }
    }
}

#[tokio::test]
async fn every_state_that_an_executor_cannot_write_is_refused_by_the_task_and_not_stored() {
    let world = World::new(ScriptedAgent::new([Step::Working(None), Step::Working(Some("x"))]));
    let key = world.open("go").await;
    let of = key.clone();
    let complete = move |store: &FakeStore| store.commit(&of, status(TaskState::Completed), at(5));
    world.store.script(Op::Append, [Fault::None, Fault::First(Box::new(complete))]);
    let mut run = world.spawner.next().await;
    let end = run.work().await;
    assert!(matches!(end, RunEnd::Returned(Err(_))), "{end:?}");
    run.end(end).await;
    assert_eq!(world.task(&key).state(), TaskState::Completed);
    assert_eq!(world.store.log(&key).len(), 2);
}
