//! Why a caller's URL is not called.

use std::fmt::{self, Display, Formatter};

/// Why a URL is refused. The text is for the caller: it speaks of what the caller wrote and of rules that
/// hold for everybody, and says nothing of names and addresses that the server has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is longer than [`MOST_URL`](super::MOST_URL).
    TooLong,
    /// It cannot be read as a URL.
    Unreadable,
    /// It can be read in more than one way.
    Ambiguous,
    /// It does not begin with `https://`.
    Scheme,
    /// It does not begin with `https://` or `http://`, which is allowed here.
    SchemeOfWeb,
    /// It holds a user name or a password.
    Credentials,
    /// It holds a fragment, which is never sent.
    Fragment,
    /// The port is none of those allowed.
    Port,
    /// The host is not a public one, by its name or by its addresses.
    NotPublic,
}

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => "the URL is too long",
            Self::Unreadable => "this is not a URL",
            Self::Ambiguous => {
                "the URL must be written without blanks, control characters and backslashes, \
                 and with two slashes before the host"
            }
            Self::Scheme => "the URL must begin with https://",
            Self::SchemeOfWeb => "the URL must begin with https:// or http://",
            Self::Credentials => "the URL must not hold a user name or a password",
            Self::Fragment => "the URL must not hold a fragment",
            Self::Port => "the port of the URL is not allowed",
            Self::NotPublic => "the URL must lead to a public address",
        })
    }
}

impl std::error::Error for Refused {}
