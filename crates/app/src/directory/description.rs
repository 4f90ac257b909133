//! Agents as operators describe them: the members of `[[agent]]`, as JSON. They go through the same reader and
//! the same checks as a file does, so that a mistake is told in the same words.

use super::Entries;
use crate::config::AgentConfig;
use a2ad_domain::{Agent, RawJson};
use a2ad_http::{Access, Front};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What an agent is, as it was described, without whether it is published.
#[derive(Clone)]
pub(super) struct Description(RawJson);

/// What becomes of a description.
pub(super) struct Made {
    pub(super) front: Front,
    pub(super) is_default: bool,
    pub(super) missing: Vec<String>,
}

impl Description {
    pub(super) fn of(members: Map<String, Value>) -> Result<Self, String> {
        let text = Value::Object(members).to_string();
        RawJson::parse(&text).map(Self).map_err(|error| error.to_string())
    }

    /// What was kept of an earlier one.
    pub(super) fn kept(json: RawJson) -> Self {
        Self(json)
    }

    pub(super) fn json(&self) -> &RawJson {
        &self.0
    }

    fn config(&self) -> Result<AgentConfig, String> {
        let members = serde_json::from_str::<Value>(self.0.as_str());
        AgentConfig::described(&members.map_err(|error| error.to_string())?)
    }
}

impl Entries {
    /// The agent of a description, on a server like this; `earlier` is the one whose place it takes.
    pub(super) fn make(
        &mut self,
        description: &Description,
        earlier: Option<&Agent>,
    ) -> Result<Made, String> {
        let config = description.config()?;
        config.check(&self.config.auth).map_err(|(key, problem)| format!("{key}: {problem}"))?;
        let may_start = self.config.admin.as_ref().is_some_and(|admin| admin.allow_programs);
        if config.executor.kind().starts_programs() && !may_start {
            let fix = "executor: starts programs, which operators may not; describe the agent in \
                       the configuration, or set admin.allow_programs";
            return Err(fix.to_owned());
        }
        let made = config.agent().ok_or_else(|| format!("id: {:?} is no agent id", config.id))?;
        let made = match earlier {
            Some(earlier) => made.in_place_of(earlier),
            None => made,
        };
        let front = self.guards.front(&Arc::new(made), Some(&config));
        if matches!(front.access, Access::Open) && !self.may_be_open {
            let fix = "auth: the server can be reached from other machines and callers would not \
                       have to say who they are; describe [auth], or start with --allow-anonymous";
            return Err(fix.to_owned());
        }
        if front.shows_extended_card_to_everybody() {
            let fix = "extended_card: it is for callers who show who they are, and the agent asks nobody; \
                       describe [auth], or leave it out";
            return Err(fix.to_owned());
        }
        let missing = config.executor.kind().missing();
        Ok(Made { front, is_default: config.default, missing })
    }
}
