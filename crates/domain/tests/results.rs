//! What an executor notes for the end of its run: it is stored with the end, at once, and clients see what
//! they would have seen otherwise.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::RunEnd;
use a2ad_domain::testing::sample::{at, call, reply};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, Step, World, all};
use a2ad_domain::{Change, OnCrash, Task, TaskState};
use std::num::NonZeroU32;
use std::sync::Arc;

fn result(text: &str) -> Step {
    Step::Result("out", text.to_owned())
}

fn text(task: &Task, index: usize) -> String {
    task.artifacts()[index].parts().filter_map(|part| part.plain_text()).collect()
}

/// What the changes are, without what they say.
fn kinds(world: &World, task: &Task) -> Vec<String> {
    let log = world.store.log(task.key());
    let name = |change: &a2ad_domain::Recorded| match &change.change {
        Change::Message(_) => "message".to_owned(),
        Change::Status(status) => status.state.name().to_owned(),
        Change::Artifact(update) => format!("artifact {}", update.id.as_str()),
    };
    log.iter().map(name).collect()
}

async fn run(world: &World) -> Arc<Task> {
    let key = world.open("go").await;
    world.spawner.finish_next().await;
    world.task(&key)
}

#[tokio::test]
async fn a_result_is_stored_with_the_end_of_the_run_in_one_step() {
    let world = World::new(ScriptedAgent::new([result("fig"), Step::complete("done")]));
    let task = run(&world).await;
    assert_eq!(kinds(&world, &task), ["working", "artifact out", "message", "completed"]);
    assert_eq!((task.state(), text(&task, 0).as_str()), (TaskState::Completed, "fig"));
    assert_eq!(world.store.calls(Op::Append), 1);
}

#[tokio::test]
async fn a_stream_hands_out_a_result_before_the_end() {
    let script = [Step::Working(None), result("fig"), Step::complete("done")];
    let world = World::new(ScriptedAgent::new(script));
    let (_, mut watch) = world.service.stream(&world.scope, call("go")).await.unwrap().into_task();
    world.spawner.finish_next().await;
    let states: Vec<_> = all(&mut watch).await.iter().map(|change| change.state()).collect();
    // It is working already, and that is not said twice.
    assert_eq!(states, [Some(TaskState::Working), None, None, Some(TaskState::Completed)]);
}

#[tokio::test]
async fn a_result_is_kept_however_the_run_ends() {
    for (end, state) in
        [(Step::Fail("why"), TaskState::Failed), (Step::ask("and now?"), TaskState::InputRequired)]
    {
        let world = World::new(ScriptedAgent::new([result("fig"), end]));
        let task = run(&world).await;
        assert_eq!((task.state(), text(&task, 0).as_str()), (state, "fig"));
    }
    let world = World::new(ScriptedAgent::new([result("fig"), Step::Forever]));
    let key = world.open("go").await;
    let mut run = world.spawner.next().await;
    assert!(a2ad_domain::testing::poll_now(run.work()).await.is_none());
    run.end(RunEnd::DeadlinePassed).await;
    let task = world.task(&key);
    assert_eq!((task.state(), text(&task, 0).as_str()), (TaskState::Failed, "fig"));
}

#[tokio::test]
async fn several_results_keep_their_order_and_the_last_of_a_name_counts() {
    let other = Step::Result("other", "pear".to_owned());
    let world = World::new(ScriptedAgent::new([result("fig"), other, result("plum")]));
    let task = run(&world).await;
    let artifacts = ["artifact out", "artifact other", "artifact out"];
    assert_eq!(kinds(&world, &task)[1..4], artifacts);
    assert_eq!([text(&task, 0), text(&task, 1)], ["plum", "pear"]);
}

#[tokio::test]
async fn a_result_of_a_task_that_was_canceled_is_dropped() {
    let world = World::new(ScriptedAgent::new([result("late"), Step::complete("late")]));
    let key = world.open("go").await;
    let mut run = world.spawner.next().await;
    let end = run.work().await;
    let canceled = world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
    run.end(end).await;
    assert_eq!(world.task(&key), canceled);
}

#[tokio::test]
async fn a_result_that_somebody_overtakes_is_stored_on_top_of_that() {
    let world = World::new(ScriptedAgent::new([result("fig"), Step::complete("done")]));
    let key = world.open("go").await;
    let (there, said) = (key.clone(), Change::Message(reply("r-1", "by the way")));
    let first = Fault::First(Box::new(move |store| store.commit(&there, said, at(1))));
    world.store.script(Op::Append, [first]);
    world.spawner.finish_next().await;
    let task = world.task(&key);
    let all = ["message", "working", "artifact out", "message", "completed"];
    assert_eq!(kinds(&world, &task), all);
}

#[tokio::test]
async fn results_that_together_are_larger_than_a_task_may_be_fail_it() {
    let mut setup = Setup::default();
    setup.limits.task_bytes = 100_000;
    let large = result(&"x".repeat(40_000));
    let world = World::with(ScriptedAgent::new(vec![large; 3]), setup);
    let task = run(&world).await;
    assert_eq!(task.state(), TaskState::Failed);
    assert!(task.weight() < 110_000, "{}", task.weight());
}

/// An attempt that a crash has ended leaves an artifact half-done.
#[tokio::test]
async fn a_result_replaces_what_an_earlier_attempt_has_left() {
    let scripts = [
        vec![Step::Chunk("out", "half".to_owned()), Step::Forever],
        vec![result("whole"), Step::complete("done")],
    ];
    let mut setup = Setup::default();
    setup.settings.on_crash = OnCrash::Retry { max_attempts: NonZeroU32::new(2).unwrap() };
    let world = World::with(ScriptedAgent::runs(scripts), setup);
    let key = world.open("go").await;
    let mut first = world.spawner.next().await;
    assert!(a2ad_domain::testing::poll_now(first.work()).await.is_none());
    drop(first);
    world.service.recover([key.clone()]).await.unwrap();
    world.spawner.finish_next().await;
    let task = world.task(&key);
    assert_eq!((task.artifacts().len(), text(&task, 0).as_str()), (1, "whole"));
}
