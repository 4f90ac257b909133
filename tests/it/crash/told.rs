//! What clients were told, for the comparison with what is stored in the end.

use crate::support::Event;
use crate::support::caller::id;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What clients did and heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) kills: usize,
    pub(super) sends: usize,
    pub(super) streams: usize,
    pub(super) continues: usize,
    pub(super) cancels: usize,
    pub(super) answers: usize,
    pub(super) frames: usize,
    /// Calls and streams that broke.
    pub(super) broken: usize,
    /// Streams that went on where they had been.
    pub(super) resumes: usize,
}

/// Of one task.
#[derive(Debug, Default)]
pub(super) struct OfTask {
    /// The task as answers showed it, in the order in which they came to the one client that has it.
    pub(super) answers: Vec<Value>,
    /// Streams, each joined over all its connections. The first event of each is the task.
    pub(super) streams: Vec<Vec<Event>>,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Its connection broke before the answer, so it may have been taken or not.
    Unknown,
    /// It was answered with this task.
    Taken(String),
}

/// Everything together.
#[derive(Debug, Default)]
pub(super) struct Told {
    tasks: RefCell<BTreeMap<String, OfTask>>,
    messages: RefCell<BTreeMap<String, Fate>>,
    counts: RefCell<Counts>,
}

impl Told {
    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counts.borrow_mut());
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts.borrow().clone()
    }

    /// A message is on its way.
    pub(super) fn sent(&self, message: &str) {
        self.messages.borrow_mut().insert(message.to_owned(), Fate::Unknown);
    }

    /// The message has led to this task.
    pub(super) fn taken(&self, message: &str, task: &str) {
        let fate = Fate::Taken(task.to_owned());
        self.messages.borrow_mut().insert(message.to_owned(), fate);
        self.tasks.borrow_mut().entry(task.to_owned()).or_default();
    }

    /// An answer has shown the task.
    pub(super) fn stands(&self, task: &Value) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.entry(id(task).to_owned()).or_default().answers.push(task.clone());
    }

    /// A stream of the task has shown these events.
    pub(super) fn followed(&self, task: &str, events: Vec<Event>) {
        self.tasks.borrow_mut().entry(task.to_owned()).or_default().streams.push(events);
    }

    /// All tasks, and all messages.
    pub(super) fn everything(self) -> (BTreeMap<String, OfTask>, BTreeMap<String, Fate>) {
        (self.tasks.into_inner(), self.messages.into_inner())
    }
}
