//! The runtime of runs: limits per agent, deadlines, panics, cancel with grace, drain.

use a2ad_domain::ports::{AgentError, NoSlot, Slot, Spawner};
use a2ad_domain::service::{Run, RunEnd};
use a2ad_domain::{Agent, AgentId, CancelSignal, IdMap, OnOverdue, TaskKey, caught};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep_until};

/// Runs executors on the tokio runtime it is used on. Cheap to clone.
#[derive(Clone, Default)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    lanes: Mutex<HashMap<AgentId, Arc<Lane>>>,
    /// The runs that are under way or queued. A run takes its entry out when it has ended; its number
    /// keeps it from taking out that of the run after it.
    live: Mutex<IdMap<TaskKey, (u64, CancelSignal)>>,
    numbers: AtomicU64,
    /// How many runs are under way or queued. More than there are entries in `live` while a run that
    /// has parked its task goes and the task's next run is there already.
    count: AtomicUsize,
    /// Told when the last run has gone.
    none_left: Notify,
    /// Raised when the server does not wait any longer for runs to end.
    shut_down: CancelSignal,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            lanes: Mutex::default(),
            live: Mutex::default(),
            numbers: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            none_left: Notify::new(),
            shut_down: CancelSignal::new(),
        }
    }
}

/// The places of one agent.
struct Lane {
    running: Semaphore,
    /// Places taken, by runs under way, queued and reserved.
    taken: AtomicUsize,
    places: usize,
}

/// What a drain came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Runs that were ended because they took too long.
    pub cut_off: usize,
}

impl Runtime {
    /// A runtime without runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many runs are under way or queued.
    #[must_use]
    pub fn live(&self) -> usize {
        lock(&self.0.live).len()
    }

    /// Waits until no run is left, at most `limit`; then ends the rest as failed and waits for that.
    pub async fn drain(&self, limit: Duration) -> Drained {
        if tokio::time::timeout(limit, self.idle()).await.is_ok() {
            return Drained { cut_off: 0 };
        }
        let cut_off = self.live();
        self.0.shut_down.raise();
        for (_, signal) in lock(&self.0.live).values() {
            signal.raise();
        }
        self.idle().await;
        Drained { cut_off }
    }

    /// Waits until no run is under way or queued.
    pub async fn idle(&self) {
        loop {
            let told = self.0.none_left.notified();
            // Looked at after the listening has begun, so that the last run cannot go unnoticed.
            if self.0.count.load(Ordering::SeqCst) == 0 {
                return;
            }
            told.await;
        }
    }

    fn lane(&self, agent: &Agent) -> Arc<Lane> {
        let mut lanes = lock(&self.0.lanes);
        if let Some(lane) = lanes.get(&agent.id) {
            return lane.clone();
        }
        let settings = &agent.settings;
        let lane = Arc::new(Lane {
            running: Semaphore::new(settings.max_running.min(Semaphore::MAX_PERMITS)),
            taken: AtomicUsize::new(0),
            places: settings.max_running.saturating_add(settings.max_queued),
        });
        lanes.insert(agent.id.clone(), lane.clone());
        lane
    }
}

impl Spawner for Runtime {
    fn reserve(&self, agent: &Agent) -> Result<Box<dyn Slot>, NoSlot> {
        let lane = self.lane(agent);
        let free = |taken| (taken < lane.places).then_some(taken + 1);
        lane.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).map_err(|_| NoSlot)?;
        Ok(Box::new(Place { runtime: self.clone(), lane }))
    }

    fn stop(&self, key: &TaskKey) {
        let signal = lock(&self.0.live).get(key).map(|(_, signal)| signal.clone());
        if let Some(signal) = signal {
            signal.raise();
        }
    }
}

/// A reserved place; gives itself back when dropped, which is also when its run has ended.
struct Place {
    runtime: Runtime,
    lane: Arc<Lane>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lane.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Slot for Place {
    fn start(self: Box<Self>, run: Run) {
        let inner = &self.runtime.0;
        let number = inner.numbers.fetch_add(1, Ordering::Relaxed);
        let entry = (number, run.cancel_signal().clone());
        lock(&inner.live).insert(run.key().clone(), entry);
        inner.count.fetch_add(1, Ordering::SeqCst);
        // A message that had passed before the server began to shut down. Either this sees the flag, or
        // the drain sees the entry.
        if inner.shut_down.is_raised() {
            run.cancel_signal().raise();
        }
        let listed = Listed { inner: inner.clone(), key: run.key().clone(), number };
        tokio::spawn(async move {
            let place = *self;
            drive(&place.lane, &place.runtime.0.shut_down, run).await;
            drop(listed);
            drop(place);
        });
    }
}

/// A run's entry in the list of live runs.
struct Listed {
    inner: Arc<Inner>,
    key: TaskKey,
    number: u64,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut live = lock(&self.inner.live);
        if live.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            live.remove(&self.key);
        }
        drop(live);
        if self.inner.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.inner.none_left.notify_waiters();
        }
    }
}

/// Lets a run wait for its turn, work and end.
async fn drive(lane: &Lane, shut_down: &CancelSignal, mut run: Run) {
    let cancel = run.cancel_signal().clone();
    let end = {
        let mut turn = pin!(lane.running.acquire());
        let mut stopped = pin!(cancel.raised());
        let permit = poll_fn(|context| {
            // Looked at first: a run that was stopped while it was queued never starts.
            if stopped.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            turn.as_mut().poll(context).map(|permit| permit.ok())
        })
        .await;
        match permit {
            // As a whole, since an executor may also panic while it is dropped. What it leaves half-done
            // is not used: the end of a run reads the task anew.
            Some(_permit) => {
                let supervised = caught(supervise(&mut run, &cancel, shut_down)).await;
                supervised.unwrap_or_else(RunEnd::Panicked)
            }
            None => RunEnd::Stopped,
        }
    };
    // An executor that noticed that it was stopped has not failed.
    let stopped = matches!(end, RunEnd::Stopped | RunEnd::Returned(Err(AgentError::Stopped(_))));
    let cut_off = stopped && shut_down.is_raised();
    let end = if cut_off { RunEnd::ShutDown } else { end };
    run.end(end).await;
}

/// Lets the executor work until it returns, panics, is out of time, or has been stopped and had its grace.
async fn supervise(run: &mut Run, cancel: &CancelSignal, shut_down: &CancelSignal) -> RunEnd {
    let agent = run.agent().clone();
    let (task, settings) = (run.key().id, &agent.settings);
    let mut work = pin!(run.work());
    let mut stopped = pin!(cancel.raised());
    let started = Instant::now();
    let mut due = settings.deadline;
    let mut deadline = None;
    let first = poll_fn(|context| {
        if let Poll::Ready(end) = work.as_mut().poll(context) {
            return Poll::Ready(Some(end));
        }
        if stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        // Made only for a run that has to wait for something; most do not.
        if let Some(after) = due {
            let timer = deadline.get_or_insert_with(|| Box::pin(sleep_until(started + after)));
            if timer.as_mut().poll(context).is_ready() {
                if settings.on_overdue != OnOverdue::Report {
                    return Poll::Ready(Some(RunEnd::DeadlinePassed));
                }
                tracing::warn!(%task, agent = %agent.id, "a run passed its deadline and goes on");
                due = None;
            }
        }
        Poll::Pending
    })
    .await;
    match first {
        Some(end) => end,
        // The task is over. What the executor still does is clean up, and nothing it writes is taken.
        // A server that shuts down has waited already.
        None => tokio::select! {
            biased;
            () = shut_down.raised() => RunEnd::Stopped,
            end = work => end,
            () = tokio::time::sleep(settings.grace) => RunEnd::Stopped,
        },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
