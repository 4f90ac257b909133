//! Runs that take too long, that panic, and that are told to stop.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::testing::sample::artifact_id;
use a2ad_domain::testing::{ScriptedAgent, Step};
use a2ad_domain::{AgentSettings, CancelSignal, OnOverdue, Parts, TaskState};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{Server, told};
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(5);

fn overdue(action: OnOverdue) -> impl FnOnce(&mut AgentSettings) {
    move |settings| {
        settings.deadline = Some(DEADLINE);
        settings.grace = GRACE;
        settings.on_overdue = action;
    }
}

/// Time passes: nothing else does.
async fn pass(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

fn hangs() -> Arc<ScriptedAgent> {
    let early = Step::Artifact("a", "early".to_owned());
    ScriptedAgent::new([Step::Working(None), early, Step::Forever])
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_fails_or_cancels_its_task() {
    for (action, state) in
        [(OnOverdue::Fail, TaskState::Failed), (OnOverdue::Cancel, TaskState::Canceled)]
    {
        let server = Server::new(hangs(), overdue(action));
        let began = Instant::now();
        let task = server.send("go").await;
        assert_eq!(task.state(), state);
        assert_eq!(began.elapsed(), DEADLINE);
        assert_eq!(task.artifacts().len(), 1, "what was there is kept");
        assert_eq!(told(&task), "The agent did not finish within 30 seconds.");
        server.runtime.idle().await;
        server.assert_empty().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_only_reported_goes_on_and_completes() {
    let gate = CancelSignal::new();
    let agent = ScriptedAgent::new([Step::Wait(gate.clone()), Step::complete("done")]);
    let server = Server::new(agent, overdue(OnOverdue::Report));
    let key = server.open("go").await.unwrap();
    pass(DEADLINE * 3).await;
    assert!(server.task(&key).await.is_running());
    gate.raise();
    assert_eq!(server.ended(&key).await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_a_run_may_take_for_ever() {
    let server = Server::new(hangs(), |settings| settings.deadline = None);
    let key = server.open("go").await.unwrap();
    pass(Duration::from_secs(1_000_000)).await;
    assert_eq!(server.task(&key).await.state(), TaskState::Working);
    server.cancel(&key).await.unwrap();
    pass(Duration::from_secs(60)).await;
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn what_an_overdue_executor_would_have_said_is_never_heard() {
    let gate = CancelSignal::new();
    let agent = ScriptedAgent::runs([
        vec![Step::Wait(gate.clone()), Step::complete("LATE")],
        vec![Step::complete("on time")],
    ]);
    let server = Server::new(agent, overdue(OnOverdue::Fail));
    let first = server.send("go").await;
    gate.raise();
    let second = server.send("again").await;
    server.quiet().await;
    for key in [first.key(), second.key()] {
        assert!(!format!("{:?}", server.task(key).await).contains("LATE"));
    }
    assert_eq!(second.state(), TaskState::Completed);
}

#[tokio::test]
async fn a_panic_fails_its_task_and_nothing_else() {
    let agent = ScriptedAgent::runs([
        vec![Step::Working(None), Step::Panic("secret state")],
        vec![Step::complete("done")],
    ]);
    let server = Server::new(agent, |settings| settings.max_running = 1);
    let task = server.send("go").await;
    assert_eq!(task.state(), TaskState::Failed);
    assert!(told(&task).starts_with("The agent failed (reference "));
    assert!(!format!("{task:?}").contains("secret"));
    assert_eq!(server.send("again").await.state(), TaskState::Completed);
    server.assert_empty().await;
}

/// What an executor has done about a cancel.
#[derive(Default)]
struct Seen {
    cleaned: AtomicBool,
    refused: AtomicBool,
    dropped: AtomicBool,
}

/// Works until canceled, then cleans up for a while.
struct Tidy {
    seen: Arc<Seen>,
    cleanup: Duration,
}

struct OnDrop(Arc<Seen>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.dropped.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl AgentExecutor for Tidy {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let _guard = OnDrop(self.seen.clone());
        out.working(None).await?;
        turn.cancel.raised().await;
        let late = out.artifact(artifact_id("late"), Parts::text("late")).await;
        self.seen.refused.store(late.is_err(), Ordering::SeqCst);
        pass(self.cleanup).await;
        self.seen.cleaned.store(true, Ordering::SeqCst);
        Ok(Outcome::Completed(None))
    }
}

fn tidy(cleanup: Duration) -> (Arc<Seen>, Arc<Tidy>) {
    let seen = Arc::new(Seen::default());
    (seen.clone(), Arc::new(Tidy { seen, cleanup }))
}

#[tokio::test(start_paused = true)]
async fn a_canceled_executor_may_clean_up_and_write_nothing() {
    let (seen, agent) = tidy(GRACE / 2);
    let server = Server::new(agent, overdue(OnOverdue::Fail));
    let key = server.open("go").await.unwrap();
    server.quiet().await;
    let began = Instant::now();
    let canceled = server.cancel(&key).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO, "the cancel waited for the executor");
    server.runtime.drain(GRACE * 2).await;
    assert_eq!(began.elapsed(), GRACE / 2);
    assert!(seen.cleaned.load(Ordering::SeqCst) && seen.refused.load(Ordering::SeqCst));
    assert_eq!(server.task(&key).await, canceled);
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_does_not_stop_is_dropped_after_its_grace() {
    let (seen, agent) = tidy(GRACE * 100);
    let server = Server::new(agent, overdue(OnOverdue::Fail));
    let key = server.open("go").await.unwrap();
    server.quiet().await;
    let began = Instant::now();
    let canceled = server.cancel(&key).await.unwrap();
    server.quiet().await;
    assert_eq!(server.runtime.live(), 1, "the executor cleans up");
    let drained = server.runtime.drain(GRACE * 2).await;
    assert_eq!((began.elapsed(), drained.cut_off), (GRACE, 0));
    assert!(seen.dropped.load(Ordering::SeqCst) && !seen.cleaned.load(Ordering::SeqCst));
    assert_eq!(server.task(&key).await, canceled);
    server.assert_empty().await;
}

/// Panics when it is dropped before it has ended.
struct BadGuard;

impl Drop for BadGuard {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped too early");
    }
}

struct PanicsWhenDropped;

#[async_trait]
impl AgentExecutor for PanicsWhenDropped {
    async fn run(&self, _: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let _guard = BadGuard;
        out.working(None).await?;
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_panics_when_it_is_dropped_still_ends_its_task() {
    let server = Server::new(Arc::new(PanicsWhenDropped), overdue(OnOverdue::Fail));
    let key = server.open("go").await.unwrap();
    pass(DEADLINE * 2).await;
    assert_eq!(server.task(&key).await.state(), TaskState::Failed);
    server.assert_empty().await;
}
