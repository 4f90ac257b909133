//! Who calls. Asked before anything of the body is looked at.

mod access;
mod credential;
mod keys;
mod owner;
pub(crate) mod scheme;
mod subject;
mod tokens;
mod watched;

use a2ad_domain::{AgentId, Owner};
use async_trait::async_trait;
use axum::http::request::Parts;
use std::sync::Arc;

pub use access::Access;
pub(crate) use access::{Refused, callable};
pub(crate) use credential::key_in;
pub use credential::{AnyOf, Method};
pub(crate) use keys::Digest;
pub use keys::{Key, KeyFile, KeyRecord, Keys};
pub use scheme::Scheme;
pub use subject::Certificates;
pub(crate) use subject::ClientSubject;
pub use tokens::{Algorithm, IssuerKeys, JwksUrl, TokenSettings, Tokens};
pub(crate) use watched::{Stamp, load};

/// Somebody who has shown who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    owner: Owner,
    /// The agents that may be called; `None` for every one.
    agents: Option<Arc<[AgentId]>>,
}

impl Caller {
    /// A caller of every agent; what the caller does belongs to `owner`.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        Self { owner, agents: None }
    }

    /// The same caller of these agents only.
    #[must_use]
    pub fn only(self, agents: impl Into<Arc<[AgentId]>>) -> Self {
        Self { agents: Some(agents.into()), ..self }
    }

    fn may_call(&self, agent: &AgentId) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(agent))
    }
}

/// Nobody who is known. Why that is so is not part of it: callers learn nothing from a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unauthenticated;

/// Tells callers apart.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// What callers can show. This is what cards and refusals say.
    fn schemes(&self) -> &[Scheme];

    /// Who sends a request with this head.
    ///
    /// # Errors
    /// [`Unauthenticated`] when it says nothing that can be believed.
    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated>;
}
