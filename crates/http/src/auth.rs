//! Who calls. Asked before anything of the body is looked at.

use a2ad_domain::Owner;
use axum::http::HeaderMap;
use std::sync::LazyLock;

/// Why a caller is not let in: what goes into `WWW-Authenticate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge(&'static str);

impl Challenge {
    /// A bearer token is wanted.
    #[must_use]
    pub const fn bearer() -> Self {
        Self("Bearer")
    }

    pub(crate) const fn header(self) -> &'static str {
        self.0
    }
}

/// Tells callers apart.
pub trait Authenticator: Send + Sync {
    /// The owner of what the caller does.
    ///
    /// # Errors
    /// The [`Challenge`] that the caller has not met.
    fn authenticate(&self, headers: &HeaderMap) -> Result<Owner, Challenge>;
}

/// Lets everybody in as one owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anonymous;

impl Authenticator for Anonymous {
    fn authenticate(&self, _headers: &HeaderMap) -> Result<Owner, Challenge> {
        static OWNER: LazyLock<Owner> = LazyLock::new(Owner::anonymous);
        Ok(OWNER.clone())
    }
}
