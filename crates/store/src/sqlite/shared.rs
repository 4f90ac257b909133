//! What the threads of a store and its callers share.

use super::answers::Answers;
use super::cache::Cache;
use super::room::Room;
use super::tally::Tally;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The cache, the counts of what was committed, and whether the file serves.
pub(super) struct Shared {
    pub(super) cache: Cache,
    pub(super) tally: Tally,
    pub(super) answers: Answers,
    tasks: AtomicI64,
    bytes: AtomicI64,
    commits: AtomicU64,
    /// Whether the newest transaction or read that could have failed for the file did.
    failing: AtomicBool,
}

impl Shared {
    pub(super) fn new(tally: Tally) -> Self {
        Self {
            cache: Cache::default(),
            tally,
            answers: Answers::default(),
            tasks: AtomicI64::new(0),
            bytes: AtomicI64::new(0),
            commits: AtomicU64::new(0),
            failing: AtomicBool::new(false),
        }
    }

    pub(super) fn publish(&self, room: &Room) {
        self.tasks.store(room.tasks, Ordering::Relaxed);
        self.bytes.store(room.bytes, Ordering::Relaxed);
    }

    pub(super) fn committed(&self, room: &Room) {
        self.publish(room);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.failing.store(false, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(super) fn tasks(&self) -> i64 {
        self.tasks.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> i64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
