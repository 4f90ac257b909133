//! A task as it was: its opening, from which its changes lead to any later moment.

use super::Task;

impl Task {
    /// The task as it was opened, as far as anybody is shown it: its deadline is not known any more.
    #[must_use]
    pub fn as_opened(&self) -> Self {
        let (key, context) = (self.key.clone(), self.context.clone());
        Self::open(key, context, self.history[0].clone(), None, self.created)
    }
}
