//! What an agent says to callers who have shown who they are.

use super::agent::{AgentConfig, SkillConfig};
use super::auth::AuthConfig;
use a2ad_domain::Card;
use serde::Deserialize;

/// What the extended card of an agent says besides or instead of what the public one does.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtendedCardConfig {
    /// What it does, instead of the public description.
    pub description: Option<String>,
    /// Its version, instead of the public one.
    pub version: Option<String>,
    /// More skills. One with the id of a public skill stands in its place.
    pub skills: Vec<SkillConfig>,
}

impl ExtendedCardConfig {
    /// Why it makes no sense at this agent.
    pub(super) fn check(&self, agent: &AgentConfig, auth: &AuthConfig) -> Result<(), String> {
        if self.description.is_none() && self.version.is_none() && self.skills.is_empty() {
            return Err(format!(
                "that of {} says nothing that the public card does not; set description, version or \
                 skills, or remove it",
                agent.id
            ));
        }
        let open = match &agent.auth {
            Some(methods) => methods.is_empty(),
            None => auth.methods().is_empty(),
        };
        if open {
            return Err(format!(
                "is for callers who show who they are, and {} asks nobody; describe keys or tokens in \
                 [auth], and name them in auth if the agent has one",
                agent.id
            ));
        }
        Ok(())
    }

    /// The extended card over the public one.
    pub(super) fn over(&self, public: Card) -> Card {
        let mut card = Card {
            description: self.description.clone().unwrap_or(public.description),
            version: self.version.clone().unwrap_or(public.version),
            ..public
        };
        for skill in self.skills.iter().map(SkillConfig::skill) {
            match card.skills.iter_mut().find(|known| known.id == skill.id) {
                Some(known) => *known = skill,
                None => card.skills.push(skill),
            }
        }
        card
    }
}
