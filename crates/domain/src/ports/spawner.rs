//! Starts runs and stops them.

use crate::agent::Agent;
use crate::ids::TaskKey;
use crate::service::Run;
use std::future::Future;
use std::pin::Pin;

/// As many runs of the agent as may be are under way or queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no more runs can be started")]
pub struct NoSlot;

/// Runs the executors. Keeps the limits of each agent and its deadline, turns a panic into an end, and
/// gives a stopped executor its grace period.
pub trait Spawner: Send + Sync {
    /// Sets a place aside before anything is stored, so that a refused message leaves no trace.
    ///
    /// # Errors
    /// [`NoSlot`] when the agent has all the runs it may have.
    fn reserve(&self, agent: &Agent) -> Result<Box<dyn Slot>, NoSlot>;
    /// Tells the task's run, if there is one, that the task is over. Returns at once.
    fn stop(&self, key: &TaskKey);
    /// Lets something go on to its end that its caller has left.
    fn see_through(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>);
}

/// A place for one run; dropping it gives the place back.
pub trait Slot: Send {
    /// Starts the run, or queues it until one of the agent's runs has ended.
    fn start(self: Box<Self>, run: Run);
}
