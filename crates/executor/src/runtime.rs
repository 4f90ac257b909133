//! The runtime of runs: deadlines, panics, cancel with grace, drain. Which run may go on is decided in
//! `admission.rs`.

use crate::admission::{Admission, Place, Turn};
use a2ad_domain::ports::{AgentError, NoSlot, Slot, Spawner};
use a2ad_domain::service::{Run, RunEnd, Unended};
use a2ad_domain::{Agent, AgentId, CancelSignal, IdMap, OnOverdue, TaskId, TaskKey, caught};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long after a try to store the end of a run the next one comes, while the store fails.
const AGAIN: Duration = Duration::from_secs(2);

/// Runs executors on the tokio runtime it is used on. Cheap to clone.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    /// The runs that are under way or queued. A run takes its entry out when it has ended; its number
    /// keeps it from taking out that of the run after it.
    live: Mutex<IdMap<TaskKey, (u64, CancelSignal)>>,
    numbers: AtomicU64,
    /// How many runs are under way or queued, and what callers have left behind. More than there are entries in `live` while a run that
    /// has parked its task goes and the task's next run is there already.
    count: AtomicUsize,
    /// Told when the last run has gone.
    none_left: Notify,
    /// Raised when the server does not wait any longer for runs to end.
    shut_down: CancelSignal,
    /// How many tasks were left at work because the store failed to the end.
    left: AtomicUsize,
}

/// What a drain came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Runs that were ended because they took too long.
    pub cut_off: usize,
    /// Tasks that are left at work, since the store did not take their end. The next start ends them.
    pub left: usize,
}

impl Runtime {
    /// A runtime without runs. At most `max_running` go on at once, whatever each agent may have.
    #[must_use]
    pub fn new(max_running: usize) -> Self {
        Self(Arc::new(Inner {
            admission: Arc::new(Admission::new(max_running)),
            live: Mutex::default(),
            numbers: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            none_left: Notify::new(),
            shut_down: CancelSignal::new(),
            left: AtomicUsize::new(0),
        }))
    }

    /// How many runs are under way or queued.
    #[must_use]
    pub fn live(&self) -> usize {
        lock(&self.0.live).len()
    }

    /// Waits until no run is left, at most `limit`; then ends the rest as failed and waits for that.
    pub async fn drain(&self, limit: Duration) -> Drained {
        if tokio::time::timeout(limit, self.idle()).await.is_ok() {
            return Drained { cut_off: 0, left: 0 };
        }
        let cut_off = self.live();
        self.0.shut_down.raise();
        for (_, signal) in lock(&self.0.live).values() {
            signal.raise();
        }
        self.idle().await;
        Drained { cut_off, left: self.0.left.load(Ordering::SeqCst) }
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
}

impl Spawner for Runtime {
    fn reserve(&self, agent: &Agent) -> Result<Box<dyn Slot>, NoSlot> {
        let place = self.0.admission.reserve(agent).ok_or(NoSlot)?;
        Ok(Box::new(Reserved { runtime: self.clone(), place }))
    }

    fn stop(&self, key: &TaskKey) {
        let signal = lock(&self.0.live).get(key).map(|(_, signal)| signal.clone());
        if let Some(signal) = signal {
            signal.raise();
        }
    }

    fn see_through(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>) {
        // Without a runtime the process is at its end.
        let Ok(here) = Handle::try_current() else { return };
        let counted = Counted::new(&self.0);
        here.spawn(async move {
            work.await;
            drop(counted);
        });
    }
}

/// A place of a run that is about to start.
struct Reserved {
    runtime: Runtime,
    place: Place,
}

impl Slot for Reserved {
    fn start(self: Box<Self>, run: Run) {
        let inner = &self.runtime.0;
        let number = inner.numbers.fetch_add(1, Ordering::Relaxed);
        let entry = (number, run.cancel_signal().clone());
        lock(&inner.live).insert(run.key().clone(), entry);
        let counted = Counted::new(inner);
        // A message that had passed before the server began to shut down. Either this sees the flag, or
        // the drain sees the entry.
        if inner.shut_down.is_raised() {
            run.cancel_signal().raise();
        }
        let listed = Listed { counted, key: run.key().clone(), number };
        tokio::spawn(async move {
            let Self { runtime, mut place } = *self;
            drive(&mut place, &runtime.0, run).await;
            // First, so that whoever waits for the last run to go finds all places free.
            drop(place);
            drop(listed);
        });
    }
}

/// One of those that a drain waits for.
struct Counted(Arc<Inner>);

impl Counted {
    fn new(inner: &Arc<Inner>) -> Self {
        inner.count.fetch_add(1, Ordering::SeqCst);
        Self(inner.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.none_left.notify_waiters();
        }
    }
}

/// A run's entry in the list of live runs.
struct Listed {
    /// Dropped after the entry has gone.
    counted: Counted,
    key: TaskKey,
    number: u64,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut live = lock(&self.counted.0.live);
        if live.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            live.remove(&self.key);
        }
    }
}

/// Lets a run wait for its turn, work and end.
async fn drive(place: &mut Place, inner: &Inner, mut run: Run) {
    let shut_down = &inner.shut_down;
    let cancel = run.cancel_signal().clone();
    let mut due = Due::of(&run);
    let end = {
        let mut turn = pin!(place.turn());
        let mut stopped = pin!(cancel.raised());
        let turn = poll_fn(|context| {
            // Looked at first: a run that was stopped while it was queued never starts.
            if stopped.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(RunEnd::Stopped));
            }
            if let Poll::Ready(turn) = turn.as_mut().poll(context) {
                return Poll::Ready(Ok(turn));
            }
            due.poll(context).map(|()| Err(RunEnd::DeadlinePassed))
        });
        turn.await
    };
    let end = match end {
        // As a whole, since an executor may also panic while it is dropped. What it leaves half-done is
        // not used: the end of a run reads the task anew.
        Ok(turn) => {
            let supervised = caught(supervise(&mut run, &cancel, due, (turn, place), shut_down));
            supervised.await.unwrap_or_else(RunEnd::Panicked)
        }
        Err(end) => end,
    };
    // An executor that noticed that it was stopped has not failed.
    let stopped = matches!(end, RunEnd::Stopped | RunEnd::Returned(Err(AgentError::Stopped(_))));
    let cut_off = stopped && shut_down.is_raised();
    let end = if cut_off { RunEnd::ShutDown } else { end };
    if let Err(unended) = run.end(end).await {
        Box::pin(keep_trying(*unended, inner)).await;
    }
}

/// Stores the end of a run when the store works again. A server that shuts down does not wait for that: the
/// next start ends what is at work.
async fn keep_trying(mut unended: Unended, inner: &Inner) {
    loop {
        let is_last = tokio::select! {
            biased;
            () = inner.shut_down.raised() => true,
            () = tokio::time::sleep(AGAIN) => false,
        };
        if unended.again().await {
            return;
        }
        if is_last {
            tracing::error!(task = %unended.key().id, "the store fails, so a task is left at work");
            inner.left.fetch_add(1, Ordering::SeqCst);
            return;
        }
    }
}

/// Lets the executor work until it returns, panics, is out of time, or has been stopped and had its grace.
async fn supervise(
    run: &mut Run,
    cancel: &CancelSignal,
    mut due: Due,
    (turn, place): (Turn, &mut Place),
    shut_down: &CancelSignal,
) -> RunEnd {
    let (grace, overdue) = (run.agent().settings.grace, run.overdue());
    let mut work = pin!(run.work());
    let mut stopped = pin!(cancel.raised());
    let first = poll_fn(|context| {
        if let Poll::Ready(end) = work.as_mut().poll(context) {
            return Poll::Ready(Some(end));
        }
        if stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        due.poll(context).map(|()| Some(RunEnd::DeadlinePassed))
    })
    .await;
    match first {
        // The task ends first, and its client does not wait for what the executor still does.
        Some(RunEnd::DeadlinePassed) if Box::pin(overdue.end_task()).await => cancel.raise(),
        Some(end) => return end,
        None => {}
    }
    // The task is over. What the executor still does is clean up, and nothing it writes is taken. Its
    // place is free for the next.
    place.leave();
    drop(turn);
    // A server that shuts down has waited already.
    tokio::select! {
        biased;
        () = shut_down.raised() => RunEnd::Stopped,
        end = work => end,
        () = tokio::time::sleep(grace) => RunEnd::Stopped,
    }
}

/// When a run has to end. What is left of its time is counted from when it is started.
struct Due {
    at: Option<Instant>,
    report: Option<(TaskId, AgentId)>,
    /// Made only for a run that has to wait for something; most do not.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Due {
    fn of(run: &Run) -> Self {
        let at = run.left().and_then(|limit| Instant::now().checked_add(limit));
        let agent = run.agent();
        let report = agent.settings.on_overdue == OnOverdue::Report;
        let report = report.then(|| (run.key().id, agent.id.clone()));
        Self { at, report, timer: None }
    }

    /// Ready when the time is up and the run has to end. A run that is only reported goes on.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.at = None;
        let Some((task, agent)) = &self.report else { return Poll::Ready(()) };
        tracing::warn!(%task, %agent, "a run passed its deadline and goes on");
        Poll::Pending
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
