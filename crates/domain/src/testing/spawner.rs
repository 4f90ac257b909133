//! A spawner that hands each run to the test, which then decides when and how far it proceeds.

use super::lock;
use crate::agent::Agent;
use crate::ids::TaskKey;
use crate::ports::{NoSlot, Slot, Spawner};
use crate::service::{Run, RunEnd, Unended};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Keeps started runs until a test takes them. Cloning gives another handle on the same runs.
#[derive(Clone, Default)]
pub struct ManualSpawner(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many places there are; `None` for any number.
    places: Option<usize>,
    taken: usize,
    started: VecDeque<Run>,
    stopped: Vec<TaskKey>,
    live: Vec<(TaskKey, crate::signal::CancelSignal)>,
    waiting: Vec<Waker>,
    left: Vec<Left>,
    unended: Vec<Unended>,
}

type Left = Pin<Box<dyn Future<Output = ()> + Send>>;

impl ManualSpawner {
    /// A spawner with room for any number of runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on there are that many places.
    pub fn set_places(&self, places: usize) {
        lock(&self.0).places = Some(places);
    }

    /// How many places are taken, by runs or by messages on their way in.
    #[must_use]
    pub fn taken(&self) -> usize {
        lock(&self.0).taken
    }

    /// How many runs were started and not taken by the test yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.0).started.len()
    }

    /// The tasks whose runs were told to stop, in order.
    #[must_use]
    pub fn stopped(&self) -> Vec<TaskKey> {
        lock(&self.0).stopped.clone()
    }

    /// Waits for the next run to be started and takes it.
    pub async fn next(&self) -> ManualRun {
        let run = poll_fn(|context| {
            let mut state = lock(&self.0);
            match state.started.pop_front() {
                Some(run) => Poll::Ready(run),
                None => {
                    state.waiting.push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
        ManualRun { key: run.key().clone(), run: Some(run), spawner: self.clone() }
    }

    /// Does what callers have left behind.
    pub async fn see_through(&self) {
        let left = std::mem::take(&mut lock(&self.0).left);
        for work in left {
            work.await;
        }
    }

    /// Takes the next run and lets it work to its end.
    pub async fn finish_next(&self) {
        self.next().await.finish().await;
    }

    /// The runs whose end could not be stored, which are then in the hands of the test.
    #[must_use]
    pub fn unended(&self) -> Vec<Unended> {
        std::mem::take(&mut lock(&self.0).unended)
    }
}

/// A run in the hands of a test; gives its place back when dropped.
pub struct ManualRun {
    key: TaskKey,
    run: Option<Run>,
    spawner: ManualSpawner,
}

impl ManualRun {
    /// The task.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.key
    }

    /// The run itself.
    ///
    /// # Panics
    /// When the run has ended.
    #[must_use]
    pub fn run(&self) -> &Run {
        self.run.as_ref().expect("a run that has not ended")
    }

    /// Lets the executor work; dropping the future is a stop at that point.
    pub async fn work(&mut self) -> RunEnd {
        match &mut self.run {
            Some(run) => run.work().await,
            None => RunEnd::Stopped,
        }
    }

    /// Ends the run; what could not be stored of its end is kept by the spawner.
    pub async fn end(mut self, end: RunEnd) {
        if let Some(run) = self.run.take()
            && let Err(unended) = run.end(end).await
        {
            lock(&self.spawner.0).unended.push(*unended);
        }
    }

    /// Lets the executor work and ends the run with what came of it.
    pub async fn finish(mut self) {
        let end = self.work().await;
        self.end(end).await;
    }
}

impl Drop for ManualRun {
    fn drop(&mut self) {
        let mut state = lock(&self.spawner.0);
        state.taken -= 1;
        if let Some(index) = state.live.iter().position(|(key, _)| *key == self.key) {
            state.live.remove(index);
        }
    }
}

impl Spawner for ManualSpawner {
    fn reserve(&self, _agent: &Agent) -> Result<Box<dyn Slot>, NoSlot> {
        let mut state = lock(&self.0);
        if state.places.is_some_and(|places| state.taken >= places) {
            return Err(NoSlot);
        }
        state.taken += 1;
        Ok(Box::new(Reserved { spawner: self.clone(), started: false }))
    }

    fn stop(&self, key: &TaskKey) {
        let mut state = lock(&self.0);
        state.stopped.push(key.clone());
        let signals = state.live.iter().filter(|(live, _)| live == key);
        let signals: Vec<_> = signals.map(|(_, signal)| signal.clone()).collect();
        drop(state);
        signals.iter().for_each(crate::signal::CancelSignal::raise);
    }

    fn see_through(&self, work: Left) {
        lock(&self.0).left.push(work);
    }
}

struct Reserved {
    spawner: ManualSpawner,
    started: bool,
}

impl Slot for Reserved {
    fn start(mut self: Box<Self>, run: Run) {
        self.started = true;
        let mut state = lock(&self.spawner.0);
        state.live.push((run.key().clone(), run.cancel_signal().clone()));
        state.started.push_back(run);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.started {
            lock(&self.spawner.0).taken -= 1;
        }
    }
}
