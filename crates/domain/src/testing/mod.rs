//! Mocks, fakes, generators and contract suites, for tests of this project and of others.
//!
//! [`World`] puts the use cases on fakes of every port. [`store_contract!`](crate::store_contract),
//! [`bus_contract!`](crate::bus_contract) and [`executor_contract!`](crate::executor_contract) are what
//! an adapter of a port runs in its own tests; they need `tokio` among the dev-dependencies.
//!
//! What is here panics when a test has gone wrong; that is its job.

mod agent;
mod bus;
mod clock;
pub mod contract;
pub mod generate;
mod ids;
pub mod sample;
mod spawner;
mod store;
mod webhooks;
mod world;

pub use crate::ports::MockTaskStore;
pub use agent::{ScriptedAgent, Step};
pub use bus::FakeBus;
pub use clock::ManualClock;
pub use ids::SequentialIds;
pub use spawner::{ManualRun, ManualSpawner};
pub use store::{FakeStore, Fault, Op};
pub use webhooks::{Bells, Receiver};
pub use world::{Setup, World, all, next_changes, poll_now};

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// How long a test waits for what has to happen, wherever it waits. It is there so that a test that would
/// hang fails instead, and is far more than a slow, busy or halted machine needs: what is asserted is that
/// something happens, never when.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Lets everybody else run once. The place where a test may drop a future.
pub async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A test that panicked has failed already; what it leaves behind is still read by the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
