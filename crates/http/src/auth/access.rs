//! Who may call an agent, and whom what they do there belongs to.

use super::{Authenticator, Caller, Scheme, Unauthenticated};
use crate::routes::Front;
use a2ad_domain::{Agent, AgentId, Owner};
use axum::http::request::Parts;
use std::sync::Arc;
use std::time::Duration;

/// Who may call an agent.
#[derive(Clone)]
pub enum Access {
    /// Everybody. They are all the same owner, who is nobody else.
    Open,
    /// Those who show who they are.
    Guarded {
        /// Knows them.
        by: Arc<dyn Authenticator>,
        /// Whether tasks belong to all callers of the agent together instead of to each.
        share_tasks: bool,
    },
}

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Nobody knows who sends it.
    Unauthenticated,
    /// Its sender is known and may not call the agent.
    Forbidden,
    /// Its sender asks too often, and may do so again after this time.
    TooOften(Duration),
}

impl Access {
    /// What callers can show; nothing where they need not show anything.
    #[must_use]
    pub fn schemes(&self) -> &[Scheme] {
        match self {
            Self::Open => &[],
            Self::Guarded { by, .. } => by.schemes(),
        }
    }

    /// The one owner of everything at the agent, where its callers are not told apart.
    pub(crate) fn common_owner(&self) -> Option<Owner> {
        match self {
            Self::Open => Some(Owner::anonymous()),
            Self::Guarded { share_tasks: true, .. } => Some(Owner::shared()),
            Self::Guarded { share_tasks: false, .. } => None,
        }
    }

    /// The owner that the head of a request shows; `None` where everybody is welcome.
    pub(crate) async fn admit(
        &self,
        agent: &AgentId,
        head: &Parts,
    ) -> Result<Option<Owner>, Refused> {
        let Self::Guarded { by, .. } = self else { return Ok(None) };
        match by.authenticate(head).await {
            Ok(caller) if caller.may_call(agent) => Ok(Some(caller.owner)),
            Ok(_) => Err(Refused::Forbidden),
            Err(Unauthenticated) => Err(Refused::Unauthenticated),
        }
    }
}

/// The agents, of those that are published, which whoever sends this request may call. Whoever knows
/// callers is asked once, for however many agents.
pub(crate) async fn callable<'a>(fronts: &'a [Front], head: &Parts) -> Vec<&'a Agent> {
    let mut asked: Vec<(_, Result<Caller, Unauthenticated>)> = Vec::new();
    let mut callable = Vec::new();
    for Front { agent, access, .. } in fronts.iter().filter(|it| it.agent.is_published()) {
        let Access::Guarded { by, .. } = access else {
            callable.push(&**agent);
            continue;
        };
        if !asked.iter().any(|(known, _)| Arc::ptr_eq(known, by)) {
            asked.push((by.clone(), by.authenticate(head).await));
        }
        let said = asked.iter().find(|(known, _)| Arc::ptr_eq(known, by));
        if let Some((_, Ok(caller))) = said
            && caller.may_call(&agent.id)
        {
            callable.push(&**agent);
        }
    }
    callable
}
