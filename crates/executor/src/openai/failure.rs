//! What a caller is told when a model server refuses.

use a2ad_domain::ports::AgentError;
use reqwest::StatusCode;

/// The code of a conversation that does not fit into the model.
const TOO_LONG: &str = "context_length_exceeded";

/// The failure that a status means; `body` is what the server says about it, for the log.
pub(super) fn of_status(status: StatusCode, body: &str) -> AgentError {
    let reason = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "The model server refused the credentials"
        }
        StatusCode::NOT_FOUND => "The model server does not know the model or the address",
        StatusCode::TOO_MANY_REQUESTS => "The model server is busy",
        _ if body.contains(TOO_LONG) => "The conversation is too long for the model",
        _ if status.is_client_error() => "The model server did not accept the request",
        _ => "The model server failed",
    };
    AgentError::explained(reason, format!("{status}: {body}"))
}

/// The failure that an answer means in which the server reports one.
pub(super) fn reported(error: &str) -> AgentError {
    let reason = if error.contains(TOO_LONG) {
        "The conversation is too long for the model"
    } else {
        "The model server failed"
    };
    AgentError::explained(reason, error.to_owned())
}
