//! The shapes of the wire as tables: one for each line and binding, and one for each family of clients
//! with its own spellings. What is written differs in these rows only; how it is written is
//! `encode.rs`.

use a2ad_domain::{ErrorCode, PushForm};

/// How parts are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartStyle {
    /// 0.3: a file is an object of its own.
    Nested,
    /// 1.0: everything is a member of the part.
    Flat,
    /// 0.3 over HTTP+JSON: the JSON form of its protocol buffers.
    Proto,
}

/// How one kind of client is spoken to.
pub(crate) struct Shape {
    /// Whether objects name their kind.
    pub(crate) kind: bool,
    /// The states' names, in the order of `TaskState::ALL`.
    pub(crate) states: [&'static str; 8],
    /// The names of the user's and the agent's role.
    pub(crate) roles: [&'static str; 2],
    /// The member of a message that holds its parts.
    pub(crate) message_parts: &'static str,
    /// Whether messages name the tasks that they refer to.
    pub(crate) references: bool,
    /// How parts are laid out.
    pub(crate) part: PartStyle,
    /// Whether tasks, messages and events are wrapped in a member that says what they are.
    pub(crate) wrapped: bool,
    /// Whether members of events are written although they hold the default.
    pub(crate) defaults: bool,
    /// Whether status events say that they are the last.
    pub(crate) says_final: bool,
    /// Whether a list is a bare array of whole tasks.
    pub(crate) bare_list: bool,
    /// Whether a message may come without an id and a role; the server then fills them in.
    pub(crate) sparse_messages: bool,
    /// In which shape a webhook is told that is registered in this one.
    pub(crate) push: PushForm,
    /// How errors are told.
    pub(crate) errors: Errors,
}

/// How errors are told where that differs within the 0.3 line, and which codes differ between lines.
pub(crate) struct Errors {
    /// The code of a send without any parameters.
    pub(crate) send_without_params: ErrorCode,
    /// The code of a call for the extended card of an agent that has none.
    pub(crate) no_extended_card: ErrorCode,
    /// Whether error objects have a `data` member even when there is nothing to tell.
    pub(crate) data: bool,
    /// Number and message of an unknown task; `{}` is the id. `None` for the standard ones.
    pub(crate) not_found: Option<(i32, &'static str)>,
    /// The message of a cancel that comes too late; `{}` is the state. `None` for the standard one.
    pub(crate) not_cancelable: Option<&'static str>,
    /// The message of a parameter that does not fit; `{}` says which and why. `None` for the standard one.
    pub(crate) invalid_params: Option<&'static str>,
}

impl Shape {
    /// Whether this is a shape of the 0.3 line: the one whose events say which is the last.
    pub(crate) const fn is_line_03(&self) -> bool {
        self.says_final
    }

    pub(crate) fn state(&self, state: a2ad_domain::TaskState) -> &'static str {
        self.states[state as usize]
    }
}

/// The shape of what webhooks of a form are told.
pub(crate) const fn of_webhooks(form: PushForm) -> &'static Shape {
    match form {
        PushForm::Line03 => &PLAIN,
        PushForm::Praison => &PRAISON,
        PushForm::Line1 => &LINE_1,
    }
}

const PLAIN_STATES: [&str; 8] = [
    "submitted",
    "working",
    "input-required",
    "auth-required",
    "completed",
    "failed",
    "canceled",
    "rejected",
];

const PROTO_STATES: [&str; 8] = [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_AUTH_REQUIRED",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_REJECTED",
];

const STANDARD: Errors = Errors {
    send_without_params: ErrorCode::InvalidRequest,
    no_extended_card: ErrorCode::ExtendedCardNotConfigured,
    data: true,
    not_found: None,
    not_cancelable: None,
    invalid_params: None,
};

/// The 0.3 line over JSON-RPC as it is written down.
pub(crate) static PLAIN: Shape = PLAIN_ROW;

const PLAIN_ROW: Shape = Shape {
    kind: true,
    states: PLAIN_STATES,
    roles: ["user", "agent"],
    message_parts: "parts",
    references: true,
    part: PartStyle::Nested,
    wrapped: false,
    defaults: true,
    says_final: true,
    bare_list: false,
    sparse_messages: false,
    push: PushForm::Line03,
    errors: STANDARD,
};

/// What PraisonAI's clients expect.
pub(crate) static PRAISON: Shape = Shape {
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
    bare_list: true,
    sparse_messages: true,
    push: PushForm::Praison,
    errors: Errors {
        send_without_params: ErrorCode::InvalidParams,
        no_extended_card: ErrorCode::ExtendedCardNotConfigured,
        data: false,
        not_found: Some((-32000, "Task not found: {}")),
        not_cancelable: Some("Task not cancelable: already {}"),
        invalid_params: Some("Invalid params: {}"),
    },
    ..PLAIN_ROW
};

/// The 1.0 line, over JSON-RPC and HTTP+JSON alike.
pub(crate) static LINE_1: Shape = Shape {
    kind: false,
    states: PROTO_STATES,
    roles: ["ROLE_USER", "ROLE_AGENT"],
    message_parts: "parts",
    references: true,
    part: PartStyle::Flat,
    wrapped: true,
    defaults: false,
    says_final: false,
    bare_list: false,
    sparse_messages: false,
    push: PushForm::Line1,
    errors: Errors {
        send_without_params: ErrorCode::InvalidParams,
        no_extended_card: ErrorCode::UnsupportedOperation,
        ..STANDARD
    },
};

/// The 0.3 line over HTTP+JSON.
pub(crate) static PROTO: Shape = Shape {
    kind: false,
    states: [
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_AUTH_REQUIRED",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_FAILED",
        "TASK_STATE_CANCELLED",
        "TASK_STATE_REJECTED",
    ],
    roles: ["ROLE_USER", "ROLE_AGENT"],
    message_parts: "content",
    // Its protocol buffers have no such member, and clients that read them strictly refuse it.
    references: false,
    part: PartStyle::Proto,
    // In JSON by the same names as on the 1.0 line, although the protocol buffers call a message `msg`.
    wrapped: true,
    defaults: false,
    says_final: true,
    bare_list: false,
    sparse_messages: false,
    // The published servers tell webhooks of this line one thing, whatever they were registered over.
    push: PushForm::Line03,
    errors: Errors { send_without_params: ErrorCode::InvalidParams, ..STANDARD },
};
