//! Why a call has no result, and the one code that each failure has before the domain is asked.

use crate::dialect::shape::Shape;
use crate::edge::Limit;
use a2ad_domain::error::{Busy, Unsupported};
use a2ad_domain::{Error, ErrorCode};
use axum::http::StatusCode;

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The body is not JSON.
    Parse,
    /// The body is JSON and no request.
    NotARequest,
    /// The body is a batch.
    Batch,
    /// The body is longer than it may be.
    TooLarge,
    /// The body says that it is something else than JSON.
    ContentType,
    /// No such method; perhaps it has another name now.
    UnknownMethod { successor: Option<&'static str> },
    /// A send without any parameters.
    SendWithoutParams,
    /// A version of the protocol that is not served.
    Version { requested: String },
    /// The agent requires an extension that the call does not name.
    ExtensionRequired { uri: String },
    /// The call failed.
    Failed(Error),
}

impl Fault {
    /// The code of the failure.
    pub(crate) const fn code(&self, shape: &Shape) -> ErrorCode {
        match self {
            Self::Parse => ErrorCode::ParseError,
            Self::NotARequest | Self::Batch | Self::TooLarge => ErrorCode::InvalidRequest,
            Self::ContentType => ErrorCode::ContentTypeNotSupported,
            Self::UnknownMethod { .. } => ErrorCode::MethodNotFound,
            Self::SendWithoutParams => shape.errors.send_without_params,
            Self::Version { .. } => ErrorCode::VersionNotSupported,
            Self::ExtensionRequired { .. } => ErrorCode::ExtensionSupportRequired,
            Self::Failed(Error::ExtendedCardNotConfigured) => shape.errors.no_extended_card,
            Self::Failed(error) => error.code(),
        }
    }

    /// The message of the failure, as far as it is the same for everybody.
    pub(crate) const fn message(&self, shape: &Shape) -> &'static str {
        match self {
            Self::Batch => "Batch requests are not supported",
            Self::TooLarge => "Payload too large",
            Self::Parse
            | Self::NotARequest
            | Self::ContentType
            | Self::UnknownMethod { .. }
            | Self::SendWithoutParams
            | Self::Version { .. }
            | Self::ExtensionRequired { .. }
            | Self::Failed(_) => self.code(shape).message(),
        }
    }

    /// The status to come again with, where the server cannot take the call now.
    pub(crate) const fn busy(&self) -> Option<StatusCode> {
        let Self::Failed(Error::Unavailable(busy)) = self else { return None };
        match busy {
            Busy::Draining | Busy::Withdrawn => Some(StatusCode::SERVICE_UNAVAILABLE),
            Busy::Runs | Busy::Store | Busy::Tasks | Busy::Streams => {
                Some(StatusCode::TOO_MANY_REQUESTS)
            }
        }
    }

    /// The limit that was met, as far as it is not counted where it was met.
    pub(super) const fn limit(&self) -> Option<Limit> {
        let busy = match self {
            Self::Failed(Error::Unavailable(busy)) => *busy,
            Self::Failed(Error::UnsupportedOperation { why: Unsupported::HistoryFull, .. }) => {
                return Some(Limit::TaskSize);
            }
            Self::Parse
            | Self::NotARequest
            | Self::Batch
            | Self::TooLarge
            | Self::ContentType
            | Self::UnknownMethod { .. }
            | Self::SendWithoutParams
            | Self::Version { .. }
            | Self::ExtensionRequired { .. }
            | Self::Failed(_) => return None,
        };
        match busy {
            Busy::Runs => Some(Limit::Runs),
            Busy::Store => Some(Limit::Store),
            Busy::Tasks => Some(Limit::OwnerTasks),
            Busy::Streams => Some(Limit::OwnerStreams),
            Busy::Draining | Busy::Withdrawn => None,
        }
    }

    /// The status over HTTP+JSON (specification 1.0 §5.4) and its name.
    pub(crate) const fn http_status(&self, shape: &Shape) -> (StatusCode, &'static str) {
        if let Some(status) = self.busy() {
            let draining = matches!(status, StatusCode::SERVICE_UNAVAILABLE);
            return (status, if draining { "UNAVAILABLE" } else { "RESOURCE_EXHAUSTED" });
        }
        if let Self::TooLarge = self {
            return (StatusCode::PAYLOAD_TOO_LARGE, "INVALID_ARGUMENT");
        }
        match self.code(shape) {
            ErrorCode::ParseError
            | ErrorCode::InvalidRequest
            | ErrorCode::InvalidParams
            | ErrorCode::ContentTypeNotSupported => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"),
            ErrorCode::MethodNotFound | ErrorCode::TaskNotFound => {
                (StatusCode::NOT_FOUND, "NOT_FOUND")
            }
            ErrorCode::Internal | ErrorCode::InvalidAgentResponse => {
                (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL")
            }
            ErrorCode::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"),
            ErrorCode::TaskNotCancelable
            | ErrorCode::PushNotificationNotSupported
            | ErrorCode::UnsupportedOperation
            | ErrorCode::ExtendedCardNotConfigured
            | ErrorCode::ExtensionSupportRequired
            | ErrorCode::VersionNotSupported => (StatusCode::BAD_REQUEST, "FAILED_PRECONDITION"),
        }
    }
}
