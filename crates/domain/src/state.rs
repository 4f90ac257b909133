//! The eight states of a task and the one table that says which state may follow which
//! (specification 0.3 §6.3, 1.0 §4.1.3).

use std::fmt;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskState {
    /// Accepted and stored; no work has been reported yet.
    Submitted,
    /// An executor is at work.
    Working,
    /// Waits for the next message of the client.
    InputRequired,
    /// Waits for credentials, which arrive out of band or with a message.
    AuthRequired,
    /// Ended with a result.
    Completed,
    /// Ended because something went wrong.
    Failed,
    /// Ended because the client asked for it.
    Canceled,
    /// Ended because the agent will not do it.
    Rejected,
}

/// What a state means to whoever waits for the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Work is going on or about to.
    Active,
    /// The task waits for somebody; blocking calls return.
    Interrupted,
    /// The task never changes again.
    Terminal,
}

use TaskState::{
    AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working,
};

/// The successor table: for each state, the states that may be written after it. A state that lists
/// itself may be written again, with a new message or a new time. Terminal states list nothing.
pub const SUCCESSORS: [(TaskState, &[TaskState]); 8] = [
    (
        Submitted,
        &[Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected],
    ),
    (Working, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (InputRequired, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (AuthRequired, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (Completed, &[]),
    (Failed, &[]),
    (Canceled, &[]),
    (Rejected, &[]),
];

impl TaskState {
    /// Every state, in the order of the table.
    pub const ALL: [TaskState; 8] =
        [Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected];

    /// The states that may follow this one.
    #[must_use]
    pub fn successors(self) -> &'static [TaskState] {
        SUCCESSORS[self as usize].1
    }

    /// Whether `next` may be written after this state.
    #[must_use]
    pub fn may_become(self, next: TaskState) -> bool {
        self.successors().contains(&next)
    }

    /// What the state means to whoever waits.
    #[must_use]
    pub const fn phase(self) -> Phase {
        match self {
            Submitted | Working => Phase::Active,
            InputRequired | AuthRequired => Phase::Interrupted,
            Completed | Failed | Canceled | Rejected => Phase::Terminal,
        }
    }

    /// Whether the task never changes again.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self.phase(), Phase::Terminal)
    }

    /// Whether work is going on or about to.
    #[must_use]
    pub const fn is_active(self) -> bool {
        matches!(self.phase(), Phase::Active)
    }

    /// The state's name in logs and messages; the wire has its own spellings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Submitted => "submitted",
            Working => "working",
            InputRequired => "input-required",
            AuthRequired => "auth-required",
            Completed => "completed",
            Failed => "failed",
            Canceled => "canceled",
            Rejected => "rejected",
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, (state, _)) in SUCCESSORS.iter().enumerate() {
            assert_eq!(*state as usize, index);
            assert_eq!(TaskState::ALL[index], *state);
        }
    }

    #[test]
    fn exactly_the_terminal_states_have_no_successor() {
        for state in TaskState::ALL {
            assert_eq!(state.successors().is_empty(), state.is_terminal(), "{state}");
        }
    }

    #[test]
    fn nothing_goes_back_to_submitted_and_every_live_state_can_end_in_every_way() {
        for state in TaskState::ALL.into_iter().filter(|s| !s.is_terminal()) {
            assert_eq!(state.may_become(Submitted), state == Submitted, "{state}");
            for end in [Completed, Failed, Canceled, Rejected] {
                assert!(state.may_become(end), "{state} -> {end}");
            }
        }
    }
}
