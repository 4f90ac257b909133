//! Everything that can go wrong in a call, and the one code that each failure has
//! (specification 0.3 §8, 1.0 §5.4 and §9.5).

use crate::ids::TaskId;
use crate::state::TaskState;
use std::sync::Arc;

/// The codes that callers see. `docs/errors.md` has a paragraph for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The body is not JSON.
    ParseError,
    /// The body is JSON and no request.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// The parameters do not fit the method.
    InvalidParams,
    /// The server failed.
    Internal,
    /// The server cannot take the call now; it may be repeated.
    Unavailable,
    /// No task of that id is visible to the caller.
    TaskNotFound,
    /// The task has ended and cannot be canceled.
    TaskNotCancelable,
    /// The agent sends no push notifications.
    PushNotificationNotSupported,
    /// The operation is not possible here or now.
    UnsupportedOperation,
    /// A media type that the agent does not take or make.
    ContentTypeNotSupported,
    /// The agent broke the rules of the protocol.
    InvalidAgentResponse,
    /// The agent has no extended card.
    ExtendedCardNotConfigured,
    /// The agent requires an extension that the call does not name.
    ExtensionSupportRequired,
    /// The version of the protocol is not served.
    VersionNotSupported,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [ErrorCode; 15] = [
        ErrorCode::ParseError,
        ErrorCode::InvalidRequest,
        ErrorCode::MethodNotFound,
        ErrorCode::InvalidParams,
        ErrorCode::Internal,
        ErrorCode::Unavailable,
        ErrorCode::TaskNotFound,
        ErrorCode::TaskNotCancelable,
        ErrorCode::PushNotificationNotSupported,
        ErrorCode::UnsupportedOperation,
        ErrorCode::ContentTypeNotSupported,
        ErrorCode::InvalidAgentResponse,
        ErrorCode::ExtendedCardNotConfigured,
        ErrorCode::ExtensionSupportRequired,
        ErrorCode::VersionNotSupported,
    ];

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.row().0
    }

    /// The machine-readable reason of the 1.0 line.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        self.row().1
    }

    /// The standard message.
    #[must_use]
    pub const fn message(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (i32, &'static str, &'static str) {
        match self {
            Self::ParseError => (-32700, "PARSE_ERROR", "Invalid JSON payload"),
            Self::InvalidRequest => (-32600, "INVALID_REQUEST", "Request payload validation error"),
            Self::MethodNotFound => (-32601, "METHOD_NOT_FOUND", "Method not found"),
            Self::InvalidParams => (-32602, "INVALID_PARAMS", "Invalid parameters"),
            Self::Internal => (-32603, "INTERNAL_ERROR", "Internal error"),
            Self::Unavailable => (-32000, "UNAVAILABLE", "Server is busy"),
            Self::TaskNotFound => (-32001, "TASK_NOT_FOUND", "Task not found"),
            Self::TaskNotCancelable => (-32002, "TASK_NOT_CANCELABLE", "Task cannot be canceled"),
            Self::PushNotificationNotSupported => {
                (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "Push Notification is not supported")
            }
            Self::UnsupportedOperation => {
                (-32004, "UNSUPPORTED_OPERATION", "This operation is not supported")
            }
            Self::ContentTypeNotSupported => {
                (-32005, "CONTENT_TYPE_NOT_SUPPORTED", "Incompatible content types")
            }
            Self::InvalidAgentResponse => {
                (-32006, "INVALID_AGENT_RESPONSE", "Invalid agent response")
            }
            Self::ExtendedCardNotConfigured => (
                -32007,
                "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
                "Authenticated Extended Card is not configured",
            ),
            Self::ExtensionSupportRequired => {
                (-32008, "EXTENSION_SUPPORT_REQUIRED", "Extension support required")
            }
            Self::VersionNotSupported => (-32009, "VERSION_NOT_SUPPORTED", "Version not supported"),
        }
    }
}

/// Why an operation is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A message for, or a re-attach to, a task that has ended.
    Terminal(TaskState),
    /// A message for a task that is at work, at an agent that takes none then.
    AtWork,
    /// The task already holds as many messages, or as many bytes, as it may.
    HistoryFull,
    /// The agent refuses the message.
    Refused,
}

/// Why the server cannot take a call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// As many runs as the agent may have are under way or queued.
    Runs,
    /// The store is full of live tasks.
    Store,
    /// The caller has as many live tasks as one may have.
    Tasks,
    /// The caller follows as many tasks as one may.
    Streams,
    /// The server is shutting down.
    Draining,
    /// The agent was withdrawn while the message was on its way.
    Withdrawn,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No task of that id is visible in the scope, whether it exists elsewhere or not.
    #[error("task {id} not found")]
    TaskNotFound {
        /// The id as the caller wrote it.
        id: Arc<str>,
    },
    /// The task has ended.
    #[error("task {id} is {state} and cannot be canceled")]
    TaskNotCancelable {
        /// The task.
        id: TaskId,
        /// Its terminal state.
        state: TaskState,
    },
    /// The operation is not possible here or now.
    #[error("unsupported operation: {why:?}")]
    UnsupportedOperation {
        /// The task, where the call is about one.
        id: Option<TaskId>,
        /// Why.
        why: Unsupported,
    },
    /// A parameter does not fit.
    #[error("{field}: {problem}")]
    InvalidParams {
        /// The path of the field, as in `message.parts[0].text`.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A media type that the agent does not take or make.
    #[error("unsupported content type at {field}")]
    ContentTypeNotSupported {
        /// The path of the field.
        field: String,
    },
    /// The call asks for push notifications and the agent sends none.
    #[error("push notifications are not supported")]
    PushNotificationNotSupported,
    /// The agent has no extended card.
    #[error("no extended card is configured")]
    ExtendedCardNotConfigured,
    /// The server cannot take the call now.
    #[error("unavailable: {0:?}")]
    Unavailable(Busy),
    /// The server failed. The source is for the log only.
    #[error("internal error {reference}")]
    Internal {
        /// The id that the log and the caller both get.
        reference: uuid::Uuid,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The code of the failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TaskNotFound { .. } => ErrorCode::TaskNotFound,
            Self::TaskNotCancelable { .. } => ErrorCode::TaskNotCancelable,
            Self::UnsupportedOperation { .. } => ErrorCode::UnsupportedOperation,
            Self::InvalidParams { .. } => ErrorCode::InvalidParams,
            Self::ContentTypeNotSupported { .. } => ErrorCode::ContentTypeNotSupported,
            Self::PushNotificationNotSupported => ErrorCode::PushNotificationNotSupported,
            Self::ExtendedCardNotConfigured => ErrorCode::ExtendedCardNotConfigured,
            Self::Unavailable(_) => ErrorCode::Unavailable,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// A parameter that does not fit.
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::InvalidParams { field: field.into(), problem: problem.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_code_has_its_own_number_and_reason() {
        let numbers: HashSet<i32> = ErrorCode::ALL.iter().map(|code| code.number()).collect();
        let reasons: HashSet<&str> = ErrorCode::ALL.iter().map(|code| code.reason()).collect();
        assert_eq!(numbers.len(), ErrorCode::ALL.len());
        assert_eq!(reasons.len(), ErrorCode::ALL.len());
    }
}
