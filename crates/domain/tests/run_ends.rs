//! Every run ends in a decision, whatever became of the executor, and only once.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::Outcome;
use a2ad_domain::service::RunEnd;
use a2ad_domain::testing::sample::{at, status};
use a2ad_domain::testing::{ScriptedAgent, Setup, Step, World, poll_now};
use a2ad_domain::{OnOverdue, Parts, Task, TaskState};
use std::sync::Arc;

fn told(task: &Task) -> &str {
    task.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap()
}

/// Opens a task whose run works for a while and is then ended in some way.
async fn ended(setup: Setup, end: RunEnd) -> Arc<Task> {
    let script = [Step::Working(None), Step::Artifact("out", "early".to_owned()), Step::Forever];
    let world = World::with(ScriptedAgent::new(script), setup);
    let key = world.open("go").await;
    let mut run = world.spawner.next().await;
    assert!(poll_now(run.work()).await.is_none());
    run.end(end).await;
    let task = world.task(&key);
    assert!(task.state().is_terminal());
    assert_eq!(task.artifacts().len(), 1, "what was written before is kept");
    task
}

fn on_overdue(action: OnOverdue) -> Setup {
    let mut setup = Setup::default();
    setup.settings.on_overdue = action;
    setup
}

#[tokio::test]
async fn outcomes_are_written_as_what_they_say() {
    let text = || Parts::text("because");
    for (outcome, state, parked_message) in [
        (Outcome::Completed(None), TaskState::Completed, false),
        (Outcome::Completed(Some(text())), TaskState::Completed, false),
        (Outcome::InputRequired(text()), TaskState::InputRequired, true),
        (Outcome::AuthRequired(text()), TaskState::AuthRequired, true),
        (Outcome::Rejected(text()), TaskState::Rejected, true),
    ] {
        let replies = outcome == Outcome::Completed(Some(text()));
        let world = World::new(ScriptedAgent::new([Step::End(outcome)]));
        let key = world.open("go").await;
        world.spawner.finish_next().await;
        let task = world.task(&key);
        assert_eq!(task.state(), state);
        assert!(!task.is_running());
        assert_eq!(task.status_message().is_some(), parked_message, "{state}");
        assert_eq!(task.history().len(), if replies { 2 } else { 1 }, "{state}");
    }
}

#[tokio::test]
async fn a_panic_fails_the_task_and_its_text_stays_inside() {
    let task = ended(Setup::default(), RunEnd::Panicked("secret state".to_owned())).await;
    assert_eq!(task.state(), TaskState::Failed);
    assert!(told(&task).starts_with("The agent failed (reference "), "{}", told(&task));
    assert!(!format!("{task:?}").contains("secret"));
}

#[tokio::test]
async fn a_passed_deadline_fails_or_cancels_as_the_agent_says() {
    let task = ended(on_overdue(OnOverdue::Fail), RunEnd::DeadlinePassed).await;
    assert_eq!(task.state(), TaskState::Failed);
    assert_eq!(told(&task), "The agent did not finish within 10 minutes.");
    let task = ended(on_overdue(OnOverdue::Cancel), RunEnd::DeadlinePassed).await;
    assert_eq!(task.state(), TaskState::Canceled);
}

#[tokio::test]
async fn a_run_that_is_cut_off_by_a_shutdown_fails_with_that_reason() {
    for end in [RunEnd::ShutDown, RunEnd::Stopped] {
        let task = ended(Setup::default(), end).await;
        assert_eq!(task.state(), TaskState::Failed);
        assert_eq!(told(&task), "The server shut down before the agent had finished.");
    }
}

#[tokio::test]
async fn an_end_that_comes_too_late_changes_nothing() {
    for state in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        for end in [
            RunEnd::Returned(Ok(Outcome::Completed(Some(Parts::text("late"))))),
            RunEnd::Returned(Ok(Outcome::InputRequired(Parts::text("late")))),
            RunEnd::Panicked("late".to_owned()),
            RunEnd::DeadlinePassed,
            RunEnd::Stopped,
            RunEnd::ShutDown,
        ] {
            let world = World::new(ScriptedAgent::new([Step::Forever]));
            let key = world.open("go").await;
            let run = world.spawner.next().await;
            world.store.commit(&key, status(state), at(5));
            let before = world.task(&key);
            run.end(end).await;
            assert_eq!(world.task(&key), before, "{state}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_run_whose_task_is_gone_is_no_concern() {
    let world = World::new(ScriptedAgent::new([Step::Working(None), Step::Fail("x")]));
    let key = world.open("go").await;
    let run = world.spawner.next().await;
    world.store.remove(&key);
    run.finish().await;
    assert!(world.store.tasks().is_empty());
    assert!(world.bus.closed().is_empty());
}

#[tokio::test]
async fn the_end_is_written_after_a_message_that_came_in_between() {
    let world = World::new(ScriptedAgent::new([Step::complete("done")]));
    let key = world.open("go").await;
    let run = world.spawner.next().await;
    let said = Arc::new(a2ad_domain::testing::sample::message("m2", "also"));
    world.store.commit(&key, a2ad_domain::Change::Message(said), at(5));
    run.finish().await;
    let task = world.task(&key);
    assert_eq!((task.state(), task.history().len()), (TaskState::Completed, 3));
}
