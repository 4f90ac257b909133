//! Where in a task its newest turn begins, so that it can be begun again after a crash.

use std::num::NonZeroU32;

/// How the newest turn of a task began: the message that it is about, and what there was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnStart {
    /// Which message of the history the turn is about. Messages before it were said in earlier turns.
    pub message: usize,
    /// How many artifacts earlier turns have made.
    pub artifacts: usize,
    /// Which attempt at the turn this is. It is the first until a server ends while it is at work.
    pub attempt: NonZeroU32,
}

impl TurnStart {
    /// The first turn of a task.
    pub const FIRST: Self = Self { message: 0, artifacts: 0, attempt: NonZeroU32::MIN };
}
