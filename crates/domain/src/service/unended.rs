//! The end of a run that could not be stored, for as long as the store fails.

use super::writer::TaskWriter;
use crate::causes;
use crate::change::Change;
use crate::ids::TaskKey;

/// A run that has come to its end while the store fails. Its task is at work with nobody working on it, so
/// this is tried again until it is stored; only a server that ends leaves it to the next start.
#[must_use = "its task stays at work until this is stored"]
pub struct Unended {
    writer: TaskWriter,
    changes: Vec<Change>,
}

impl Unended {
    pub(super) fn new(writer: TaskWriter, changes: Vec<Change>) -> Self {
        Self { writer, changes }
    }

    /// The task.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        self.writer.task().key()
    }

    /// Tries once more; says whether the task has ended now. Who follows it hears so.
    pub async fn again(&mut self) -> bool {
        let core = self.writer.core().clone();
        match core.conclude(&mut self.writer, &self.changes).await {
            Ok(()) => {
                tracing::info!(task = %self.key().id, "the end of a run is stored at last");
                true
            }
            Err(error) => {
                tracing::debug!(task = %self.key().id, error = %causes(&error), "the store still fails");
                false
            }
        }
    }
}
