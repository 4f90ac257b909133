//! A shutdown waits for runs, not for ever, and every run that it cuts off ends in a decision.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::Spawner;
use a2ad_domain::testing::sample::scope;
use a2ad_domain::testing::{ScriptedAgent, Step, all};
use a2ad_domain::{CancelSignal, Error, TaskState};
use std::time::Duration;
use support::{Server, told};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn without_runs_a_drain_is_over_at_once() {
    let server = Server::new(ScriptedAgent::new([]), |_| {});
    let began = Instant::now();
    assert_eq!(server.runtime.drain(LIMIT).await.cut_off, 0);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_runs_under_way_and_queued() {
    let gate = CancelSignal::new();
    let agent = ScriptedAgent::new([Step::Wait(gate.clone()), Step::complete("done")]);
    let server = Server::new(agent, |settings| settings.max_running = 1);
    let keys = [server.open("1").await.unwrap(), server.open("2").await.unwrap()];
    server.service.drain();
    let opening = async {
        server.quiet().await;
        assert_eq!(server.runtime.live(), 2);
        gate.raise();
    };
    let (drained, ()) = tokio::join!(server.runtime.drain(LIMIT), opening);
    assert_eq!(drained.cut_off, 0);
    for key in &keys {
        assert_eq!(server.task(key).await.state(), TaskState::Completed);
    }
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_in_time_is_ended_and_whoever_follows_it_hears_so() {
    // One run hangs and one waits behind it; neither will end by itself.
    let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
    let server = Server::new(agent, |settings| {
        (settings.max_running, settings.deadline) = (1, None);
    });
    let keys = [server.open("1").await.unwrap(), server.open("2").await.unwrap()];
    server.quiet().await;
    let id = keys[0].id.to_string();
    let attached = server.service.attach(&scope(), &id, None).await.unwrap();
    let (_, mut watch) = attached.into_task();
    let began = Instant::now();
    let (drained, changes) = tokio::join!(server.runtime.drain(LIMIT), all(&mut watch));
    drop(watch);
    assert_eq!(drained.cut_off, 2);
    assert_eq!(began.elapsed(), LIMIT, "there is no more grace when the server has waited");
    assert_eq!(changes.last().unwrap().state(), Some(TaskState::Failed));
    for key in &keys {
        let task = server.task(key).await;
        assert_eq!(task.state(), TaskState::Failed);
        assert_eq!(told(&task), "The server shut down before the agent had finished.");
    }
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_slips_in_after_the_limit_is_ended_too() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
    let server = Server::new(agent, |_| {});
    server.open("1").await.unwrap();
    server.quiet().await;
    server.runtime.drain(LIMIT).await;
    // A message that had passed the gate before it was closed.
    let late = server.open("2").await.unwrap();
    let began = Instant::now();
    server.runtime.drain(LIMIT).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(server.task(&late).await.state(), TaskState::Failed);
    server.assert_empty().await;
}

#[tokio::test]
async fn a_canceled_task_stays_canceled_through_a_drain() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::UntilCanceled]);
    let server = Server::new(agent, |_| {});
    let key = server.open("1").await.unwrap();
    server.quiet().await;
    let canceled = server.cancel(&key).await.unwrap();
    assert_eq!(server.runtime.drain(LIMIT).await.cut_off, 0);
    assert_eq!(server.task(&key).await, canceled);
    server.runtime.stop(&key);
    let again = server.cancel(&key).await.unwrap_err();
    assert!(matches!(again, Error::TaskNotCancelable { .. }));
    server.assert_empty().await;
}
