//! An executor that counts the runs of another one.

use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn,
};
use a2ad_domain::service::TaskWriter;
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Counts runs, and how many of one task go on at the same time.
pub(crate) struct Counted {
    executor: Arc<dyn AgentExecutor>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Default)]
struct Counts {
    started: usize,
    going_on: HashMap<String, usize>,
    most_at_once: usize,
}

impl Counted {
    pub(crate) fn new(executor: Arc<dyn AgentExecutor>) -> Arc<Self> {
        Arc::new(Self { executor, counts: Arc::default() })
    }

    /// How many runs have started.
    pub(crate) fn started(&self) -> usize {
        self.counts.lock().expect("no panic under the lock").started
    }

    /// The greatest number of runs that one task had at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.counts.lock().expect("no panic under the lock").most_at_once
    }
}

struct GoingOn {
    task: String,
    counts: Arc<Mutex<Counts>>,
}

impl GoingOn {
    fn enter(task: String, counts: &Arc<Mutex<Counts>>) -> Self {
        let mut locked = counts.lock().expect("no panic under the lock");
        locked.started += 1;
        let now = locked.going_on.entry(task.clone()).or_default();
        *now += 1;
        let now = *now;
        locked.most_at_once = locked.most_at_once.max(now);
        drop(locked);
        Self { task, counts: counts.clone() }
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        if let Ok(mut counts) = self.counts.lock()
            && let Some(now) = counts.going_on.get_mut(&self.task)
        {
            *now -= 1;
        }
    }
}

#[async_trait]
impl AgentExecutor for Counted {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        self.executor.accept(request).await
    }

    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let _going_on = GoingOn::enter(turn.task.key().id.to_string(), &self.counts);
        self.executor.run(turn, out).await
    }
}
