//! A URL that a caller gave and that may be called.

use super::refused::Refused;
use super::rules::Rules;
use axum::http::Uri;
use std::cell::Cell;
use std::fmt::{self, Debug, Formatter};
use url::{SyntaxViolation, Url};

/// The longest URL, in bytes, as it is written and as it is sent.
pub const MOST_URL: usize = 2048;

/// A URL that has been found to be callable. Its path and query may hold a secret of the receiver, so it is
/// shown as its origin only.
#[derive(Clone, PartialEq, Eq)]
pub struct Target(Url);

impl Target {
    /// Reads a URL. Addresses are understood in every spelling that anybody's parser understands; names are
    /// looked up when the target is called, and their addresses are checked then.
    ///
    /// # Errors
    /// The first rule that the URL breaks.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, Refused> {
        if text.len() > MOST_URL {
            return Err(Refused::TooLong);
        }
        let url = read(text)?;
        // What is encoded is up to three times as long. It is what is sent, and what may be read again.
        if url.as_str().len() > MOST_URL {
            return Err(Refused::TooLong);
        }
        rules.check(&url)?;
        // The client has a parser of its own behind the first one. What it cannot read is no target.
        url.as_str().parse::<Uri>().map_err(|_| Refused::Unreadable)?;
        Ok(Self(url))
    }

    /// Where it leads, without what is secret: for logs.
    #[must_use]
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host that it is on.
    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl Debug for Target {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Target").field(&self.origin()).finish()
    }
}

/// Reads a URL as browsers do, but forgives nothing that another parser might read otherwise.
fn read(text: &str) -> Result<Url, Refused> {
    let violated = Cell::new(None);
    let see = |violation| {
        use SyntaxViolation as V;
        let refused = if matches!(violation, V::EmbeddedCredentials | V::UnencodedAtSign) {
            Refused::Credentials
        } else if matches!(
            violation,
            V::Backslash | V::C0SpaceIgnored | V::ExpectedDoubleSlash | V::TabOrNewlineIgnored
        ) {
            Refused::Ambiguous
        } else {
            // The others are letters in paths and queries that are sent encoded.
            return;
        };
        violated.set(violated.get().or(Some(refused)));
    };
    let url = Url::options().syntax_violation_callback(Some(&see)).parse(text);
    let url = url.map_err(|_| Refused::Unreadable)?;
    violated.get().map_or(Ok(url), Err)
}
