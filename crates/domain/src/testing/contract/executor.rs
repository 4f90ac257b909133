//! What every executor holds to, so that a task can rely on any of them.

use crate::change::Recorded;
use crate::ids::{TaskKey, Version};
use crate::ports::AgentExecutor;
use crate::service::RunEnd;
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::{Fault, ManualRun, Op, Setup, World, sample};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// Makes an executor.
pub type Make<'a, E> = &'a dyn Fn() -> Arc<E>;

/// How many times a run is interrupted at most; further ones are taken to be no different.
const POINTS: usize = 512;

/// A world in which every operation of the store is a place where a run may be dropped.
fn world<E: AgentExecutor + 'static>(make: Make<'_, E>) -> World {
    let world = World::with(make(), Setup::default());
    world.store.set_yielding();
    world
}

/// Polls the run until it waits for the `point`th time; `None` when it ended before.
async fn work_until(run: &mut ManualRun, point: usize) -> Option<RunEnd> {
    let mut work = pin!(run.work());
    let mut waited = 0;
    poll_fn(|context| {
        if waited == point {
            return Poll::Ready(None);
        }
        waited += 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

/// A task is what its changes make of it.
fn assert_folds(world: &World, key: &TaskKey) {
    let task = world.task(key);
    let log: Vec<Recorded> = world.store.log(key);
    assert_eq!(task.version().0, log.len() as u64 + 1);
    for (index, change) in log.iter().enumerate() {
        assert_eq!(change.version, Version(index as u64 + 2));
    }
}

/// On a message that it says it takes, a run ends, and the task with it is at rest.
pub async fn a_run_ends_with_a_decision<E: AgentExecutor + 'static>(make: Make<'_, E>, text: &str) {
    let world = world(make);
    let key = world.open(text).await;
    let mut run = world.spawner.next().await;
    let end = run.work().await;
    assert!(matches!(end, RunEnd::Returned(Ok(_))), "{end:?}");
    run.end(end).await;
    let task = world.task(&key);
    assert!(!task.is_running() && !task.state().is_active(), "{}", task.state());
    assert_folds(&world, &key);
}

/// Runs of one executor do not depend on one another.
pub async fn an_executor_serves_one_run_after_the_other<E: AgentExecutor + 'static>(
    make: Make<'_, E>,
    text: &str,
) {
    let world = world(make);
    let (first, second) = (world.open(text).await, world.open(text).await);
    let (mut one, mut two) = (world.spawner.next().await, world.spawner.next().await);
    let _ = work_until(&mut one, 3).await;
    let end = two.work().await;
    two.end(end).await;
    // The first was interrupted; the second must not have noticed.
    one.end(RunEnd::DeadlinePassed).await;
    let third = world.open(text).await;
    world.spawner.finish_next().await;
    assert!(world.task(&first).state().is_terminal());
    assert_eq!(world.task(&second).state(), world.task(&third).state());
    let artifacts = |key| world.task(key).artifacts().len();
    assert_eq!(artifacts(&second), artifacts(&third));
}

/// A run that is dropped at any point leaves a task that can be ended, and a log without a hole.
pub async fn a_run_may_be_dropped_wherever_it_waits<E: AgentExecutor + 'static>(
    make: Make<'_, E>,
    text: &str,
) {
    for point in 0..POINTS {
        let world = world(make);
        let key = world.open(text).await;
        let mut run = world.spawner.next().await;
        let ended = work_until(&mut run, point).await;
        let whole = ended.is_some();
        run.end(ended.unwrap_or(RunEnd::DeadlinePassed)).await;
        let task = world.task(&key);
        assert!(!task.is_running(), "dropped at point {point}: {}", task.state());
        assert_folds(&world, &key);
        if whole {
            return;
        }
        assert_eq!(task.state(), TaskState::Failed, "dropped at point {point}");
    }
}

/// A run whose task is canceled, at any point, ends by itself and changes nothing any more.
pub async fn a_run_stops_when_its_task_is_canceled<E: AgentExecutor + 'static>(
    make: Make<'_, E>,
    text: &str,
) {
    for point in 0..POINTS {
        let world = world(make);
        let key = world.open(text).await;
        let mut run = world.spawner.next().await;
        let mut canceled = None;
        let mut whole = false;
        let end = {
            let mut work = pin!(run.work());
            let mut waited = 0;
            // The run is not dropped: it goes on after the cancel, as in its grace period.
            let before = poll_fn(|context| {
                if waited == point {
                    return Poll::Ready(None);
                }
                waited += 1;
                work.as_mut().poll(context).map(Some)
            })
            .await;
            match before {
                Some(end) => {
                    whole = true;
                    end
                }
                None => {
                    let task = world.service.cancel(&world.scope, &key.id.to_string()).await;
                    canceled = Some(task.expect("a live task"));
                    work.await
                }
            }
        };
        run.end(end).await;
        if whole {
            return;
        }
        assert_eq!(Some(world.task(&key)), canceled, "canceled at point {point}");
        assert_eq!(world.task(&key).state(), TaskState::Canceled);
        assert_folds(&world, &key);
    }
}

/// A run that begins when its task is over already, as one from the queue may.
pub async fn nothing_is_written_to_a_task_that_has_ended<E: AgentExecutor + 'static>(
    make: Make<'_, E>,
    text: &str,
) {
    for state in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        let world = world(make);
        let key = world.open(text).await;
        world.store.commit(&key, sample::status(state), sample::at(0));
        let ended: Arc<Task> = world.task(&key);
        world.spawner.finish_next().await;
        assert_eq!(world.task(&key), ended, "{state}");
    }
}

/// When nothing can be stored the run ends, and so does the task as soon as the store is back.
pub async fn a_store_that_fails_ends_the_run<E: AgentExecutor + 'static>(
    make: Make<'_, E>,
    text: &str,
) {
    for healthy in 0..POINTS {
        let world = world(make);
        let key = world.open(text).await;
        let before = world.store.calls(Op::Append);
        let faults = (0..healthy).map(|_| Fault::None).chain([Fault::Down]);
        world.store.script(Op::Append, faults);
        let mut run = world.spawner.next().await;
        let end = run.work().await;
        let appends = world.store.calls(Op::Append) - before;
        if appends <= healthy {
            // The whole run was done before the store failed; how its end is stored is not its affair.
            return;
        }
        assert_eq!(appends, healthy + 1, "a run went on after a write that failed");
        assert!(matches!(end, RunEnd::Returned(Err(_))), "{end:?}");
        run.end(end).await;
        assert_eq!(world.task(&key).state(), TaskState::Failed, "after {healthy} writes");
    }
}
