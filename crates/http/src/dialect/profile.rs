//! A profile is a table of small differences on top of a dialect, chosen by the route.

use a2ad_domain::{ErrorCode, TaskState};

/// Spellings, codes and templates of one family of clients.
pub(crate) struct Profile {
    /// Whether objects name their kind.
    pub(crate) kind: bool,
    /// The states' names, in the order of [`TaskState::ALL`].
    pub(crate) states: [&'static str; 8],
    /// Whether a message may come without an id and a role; the server then fills them in.
    pub(crate) sparse_messages: bool,
    /// The code of a send without any parameters.
    pub(crate) send_without_params: ErrorCode,
    /// Whether error objects have a `data` member.
    pub(crate) error_data: bool,
    /// Number and message of an unknown task; `{}` is the id. `None` for the standard ones.
    pub(crate) not_found: Option<(i32, &'static str)>,
    /// The message of a cancel that comes too late; `{}` is the state. `None` for the standard one.
    pub(crate) not_cancelable: Option<&'static str>,
    /// The message of a parameter that does not fit; `{}` says which and why. `None` for the standard one.
    pub(crate) invalid_params: Option<&'static str>,
    /// Whether a list is a bare array of whole tasks.
    pub(crate) bare_list: bool,
}

impl Profile {
    pub(crate) fn state(&self, state: TaskState) -> &'static str {
        self.states[state as usize]
    }
}

/// The 0.3 line as it is written down.
pub(crate) static PLAIN: Profile = Profile {
    kind: true,
    states: [
        "submitted",
        "working",
        "input-required",
        "auth-required",
        "completed",
        "failed",
        "canceled",
        "rejected",
    ],
    sparse_messages: false,
    send_without_params: ErrorCode::InvalidRequest,
    error_data: true,
    not_found: None,
    not_cancelable: None,
    invalid_params: None,
    bare_list: false,
};

/// What PraisonAI's clients expect.
pub(crate) static PRAISON: Profile = Profile {
    kind: false,
    states: [
        "submitted",
        "working",
        "input_required",
        "auth_required",
        "completed",
        "failed",
        "cancelled",
        "rejected",
    ],
    sparse_messages: true,
    send_without_params: ErrorCode::InvalidParams,
    error_data: false,
    not_found: Some((-32000, "Task not found: {}")),
    not_cancelable: Some("Task not cancelable: already {}"),
    invalid_params: Some("Invalid params: {}"),
    bare_list: true,
};
