//! Why a delivery has not arrived, and whether it is worth another attempt.

use super::lookup::Unresolved;
use super::refused::Refused;
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The longest that a receiver is waited for because it asks for it. It also keeps times computable.
const LONGEST: Duration = Duration::from_secs(3600);

/// Why a delivery has not arrived. The text names nothing of the network; what a library has said is the
/// source, and goes to the log only.
#[derive(Debug)]
pub enum DeliveryError {
    /// The rules do not allow the target, or what its name leads to by now.
    Refused(Refused),
    /// No connection, or one that broke before the receiver had answered.
    Unreachable(reqwest::Error),
    /// The receiver has not answered in time.
    TimedOut(reqwest::Error),
    /// The receiver has answered that it does not take it.
    Status {
        /// What it has answered.
        status: StatusCode,
        /// How long it asks to be left alone.
        wait: Option<Duration>,
    },
}

/// Whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It would end the same way.
    Never,
    /// It may arrive later, and not before this time has passed.
    After(Duration),
}

impl DeliveryError {
    /// What became of a request that was not answered.
    pub(super) fn unanswered(error: reqwest::Error) -> Self {
        // The URL may hold a secret of the receiver.
        let error = error.without_url();
        match refusal(&error) {
            Some(refused) => Self::Refused(refused),
            None if error.is_timeout() => Self::TimedOut(error),
            None => Self::Unreachable(error),
        }
    }

    /// What became of a request that was answered with something else than success.
    pub(super) fn declined(response: &Response) -> Self {
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let seconds = header.and_then(|text| text.trim().parse().ok());
        let wait = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST));
        Self::Status { status: response.status(), wait }
    }

    /// Whether another attempt makes sense.
    #[must_use]
    pub fn retry(&self) -> Retry {
        match self {
            Self::Refused(_) => Retry::Never,
            Self::Unreachable(_) | Self::TimedOut(_) => Retry::After(Duration::ZERO),
            Self::Status { status, wait } if passes(*status) => {
                Retry::After(wait.unwrap_or_default())
            }
            Self::Status { .. } => Retry::Never,
        }
    }
}

/// Whether a status speaks of the moment and not of what was sent.
fn passes(status: StatusCode) -> bool {
    let passing =
        [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
    status.is_server_error() || passing.contains(&status)
}

/// The refusal by the guard over names, wherever the client has wrapped it.
fn refusal(error: &reqwest::Error) -> Option<Refused> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(Unresolved::Refused(refused)) = error.downcast_ref() {
            return Some(*refused);
        }
        cause = error.source();
    }
    None
}

impl Display for DeliveryError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(formatter),
            Self::Unreachable(_) => formatter.write_str("the receiver cannot be reached"),
            Self::TimedOut(_) => formatter.write_str("the receiver has not answered in time"),
            Self::Status { status, .. } => {
                write!(formatter, "the receiver has answered {}", status.as_u16())
            }
        }
    }
}

impl Error for DeliveryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable(error) | Self::TimedOut(error) => Some(error),
            Self::Refused(_) | Self::Status { .. } => None,
        }
    }
}
