//! How many tasks each scope has in each state, so that the total of a list costs nothing.

use super::record::state_of;
use a2ad_domain::TaskState;
use rusqlite::Connection;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counts as they were committed. Only the writer changes them, after its commits; a page that was
/// read a moment before or after a commit may have a total that differs by what was committed.
#[derive(Default)]
pub(super) struct Tally(Mutex<HashMap<(i64, TaskState), i64>>);

/// What a transaction does to the counts.
#[derive(Default)]
pub(super) struct Moves(Vec<(i64, TaskState, i64)>);

impl Moves {
    pub(super) fn came(&mut self, scope: i64, state: TaskState) {
        self.0.push((scope, state, 1));
    }

    pub(super) fn went(&mut self, scope: i64, state: TaskState) {
        self.0.push((scope, state, -1));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Tally {
    /// Counts what is in the file.
    pub(super) fn count(file: &Connection) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut statement =
            file.prepare("SELECT scope, state, count(*) FROM task GROUP BY scope, state")?;
        let mut rows = statement.query([])?;
        let mut counts = HashMap::new();
        while let Some(row) = rows.next()? {
            counts.insert((row.get(0)?, state_of(row.get_ref(1)?.as_str()?)?), row.get(2)?);
        }
        Ok(Self(Mutex::new(counts)))
    }

    /// How many tasks a scope has in these states.
    pub(super) fn total(&self, scope: i64, states: &[TaskState]) -> i64 {
        let counts = self.counts();
        states.iter().filter_map(|state| counts.get(&(scope, *state))).sum()
    }

    /// A transaction was committed.
    pub(super) fn apply(&self, moves: &mut Moves) {
        if moves.0.is_empty() {
            return;
        }
        let mut counts = self.counts();
        for (scope, state, by) in moves.0.drain(..) {
            let count = counts.entry((scope, state)).or_default();
            *count += by;
            if *count == 0 {
                counts.remove(&(scope, state));
            }
        }
    }

    /// Nothing that is done under this lock panics half-way, so a poisoned one is used on.
    fn counts(&self) -> MutexGuard<'_, HashMap<(i64, TaskState), i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
