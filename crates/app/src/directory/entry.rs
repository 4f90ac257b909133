//! What is known of one agent.

use super::description::{Description, Made};
use a2ad_domain::AgentId;
use a2ad_http::Front;
use a2ad_http::admin::{AgentView, Origin};

/// Whose it is.
pub(super) enum Source {
    /// The configuration's or the program's.
    Given,
    /// An operator's, who has described it like this.
    Added(Description),
}

/// One agent.
pub(super) struct Entry {
    pub(super) id: AgentId,
    pub(super) source: Source,
    /// What is served; or why it is not.
    pub(super) served: Result<Front, String>,
    /// Whether it is to be published, where it is not served.
    pub(super) wanted: bool,
    /// Whether it says that it is the default.
    pub(super) is_default: bool,
    /// What is missing on this machine for it to do its work.
    pub(super) missing: Vec<String>,
}

impl Entry {
    /// One that an operator has added.
    pub(super) fn added(
        id: AgentId,
        description: Description,
        made: Result<Made, String>,
        wanted: bool,
    ) -> Self {
        let source = Source::Added(description);
        match made {
            Ok(Made { front, is_default, missing }) => {
                Self { id, source, served: Ok(front), wanted, is_default, missing }
            }
            Err(problem) => {
                let missing = Vec::new();
                Self { id, source, served: Err(problem), wanted, is_default: false, missing }
            }
        }
    }

    pub(super) fn front(&self) -> Option<&Front> {
        self.served.as_ref().ok()
    }

    pub(super) fn is_published(&self) -> bool {
        self.front().is_some_and(|front| front.agent.is_published())
    }

    pub(super) fn view(&self, default: Option<&Front>) -> AgentView {
        let front = self.front();
        let (origin, description) = match &self.source {
            Source::Given => (Origin::Configuration, None),
            Source::Added(description) => (Origin::Operator, Some(description.json().clone())),
        };
        AgentView {
            id: self.id.clone(),
            origin,
            published: self.is_published(),
            default: default.is_some_and(|default| default.agent.id == self.id),
            name: front.map(|front| front.agent.card.name.clone()),
            description,
            problem: self.served.as_ref().err().cloned(),
            missing: self.missing.clone(),
        }
    }
}
