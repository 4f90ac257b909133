//! The one owner of the set of agents: those of the configuration or of the program, and over them what
//! operators have decided. Nobody else changes which agents there are.

mod description;
mod entry;
mod operate;

use crate::ConfigError;
use crate::config::Config;
use crate::guards::Guards;
use a2ad_domain::ports::{AgentStore, KeptAgent, StoreError};
use a2ad_domain::{Agent, AgentId, Service};
use a2ad_http::{Access, Front, Live, Router};
use description::Description;
use entry::{Entry, Source};
use std::sync::{Arc, OnceLock};
use tokio::sync::Mutex;

/// Makes the routes of a set of agents.
pub(crate) type Routes = Box<dyn Fn(Vec<Front>, &Front) -> Router + Send + Sync>;

/// The agents.
pub(crate) struct Directory {
    service: Service,
    kept: Arc<dyn AgentStore>,
    /// Changes come one after the other: this is held from before something is looked at until it is stored
    /// and in force. Messages do not wait for it.
    entries: Mutex<Entries>,
    /// Where the routes are, and how they are made; set when the server knows its address.
    live: OnceLock<(Live, Routes)>,
}

/// What there is to know about the agents.
pub(crate) struct Entries {
    config: Config,
    guards: Guards,
    /// Whether an agent that everybody may call is nobody's oversight.
    may_be_open: bool,
    /// In the order in which they are shown.
    all: Vec<Entry>,
}

impl Directory {
    pub(crate) fn new(service: Service, kept: Arc<dyn AgentStore>, entries: Entries) -> Self {
        Self { service, kept, entries: Mutex::new(entries), live: OnceLock::new() }
    }

    /// Puts what was kept about agents over the configuration. To be called before anything is served.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn restore(&self) -> Result<(), StoreError> {
        let mut entries = self.entries.lock().await;
        let kept = self.kept.kept().await?;
        for agent in kept {
            entries.restore(agent);
        }
        self.service.set_agents(entries.agents());
        Ok(())
    }

    /// The routes as the agents are now; `routes` makes them again whenever the agents change.
    pub(crate) async fn serve(&self, routes: Routes) -> Result<(Live, Front), ConfigError> {
        let entries = self.entries.lock().await;
        let default = entries.default().ok_or_else(no_agent)?;
        let live = Live::new(routes(entries.fronts(), default));
        let _ = self.live.set((live.clone(), routes));
        Ok((live, default.clone()))
    }

    /// Puts a changed set of agents in force.
    fn publish_set(&self, entries: &Entries) {
        self.service.set_agents(entries.agents());
        if let (Some((live, routes)), Some(default)) = (self.live.get(), entries.default()) {
            live.replace(routes(entries.fronts(), default));
        }
    }
}

fn no_agent() -> ConfigError {
    ConfigError::new("agent", "add at least one [[agent]]")
}

impl Entries {
    /// The agents that a program and the configuration bring. The program's come first and take the place of
    /// configured ones of the same id.
    pub(crate) fn new(
        config: Config,
        agents: Vec<Arc<Agent>>,
        guards: Guards,
        may_be_open: bool,
    ) -> Result<Self, ConfigError> {
        let mut entries = Self { config, guards, may_be_open, all: Vec::new() };
        for agent in agents {
            let config = entries.config.agent.iter().find(|it| it.id == agent.id.as_str()).cloned();
            entries.given(agent, config.as_ref());
        }
        for config in entries.config.agent.clone() {
            if !entries.all.iter().any(|known| known.id.as_str() == config.id) {
                let made = config.agent().ok_or_else(|| {
                    ConfigError::new("agent", format!("{:?} is no agent id", config.id))
                })?;
                entries.given(Arc::new(made), Some(&config));
            }
        }
        if entries.default().is_none() {
            return Err(no_agent());
        }
        Ok(entries)
    }

    fn given(&mut self, agent: Arc<Agent>, config: Option<&crate::config::AgentConfig>) {
        let front = self.guards.front(&agent, config);
        let missing = config.map(|config| config.executor.kind().missing()).unwrap_or_default();
        let is_default = config.is_some_and(|config| config.default);
        let (id, source) = (agent.id.clone(), Source::Given);
        self.all.push(Entry { id, source, served: Ok(front), wanted: true, is_default, missing });
    }

    /// The first agent that everybody may call.
    pub(crate) fn open(&self) -> Option<&AgentId> {
        let open =
            |entry: &&Entry| entry.front().is_some_and(|it| matches!(it.access, Access::Open));
        self.all.iter().find(open).map(|entry| &entry.id)
    }

    /// The first agent that would show its extended card to callers of whom nothing is known.
    pub(crate) fn exposing(&self) -> Option<&AgentId> {
        let exposes =
            |entry: &&Entry| entry.front().is_some_and(Front::shows_extended_card_to_everybody);
        self.all.iter().find(exposes).map(|entry| &entry.id)
    }

    pub(crate) fn agents(&self) -> Vec<Arc<Agent>> {
        self.all.iter().filter_map(Entry::front).map(|front| front.agent.clone()).collect()
    }

    fn fronts(&self) -> Vec<Front> {
        self.all.iter().filter_map(Entry::front).cloned().collect()
    }

    /// The agent that says so, otherwise the first of the file, otherwise the first that was added.
    fn default(&self) -> Option<&Front> {
        let said = self.all.iter().find(|entry| entry.is_default && entry.front().is_some());
        let first = self.config.agent.first();
        let first = first.and_then(|it| self.all.iter().find(|entry| entry.id.as_str() == it.id));
        said.or(first).or(self.all.first()).and_then(Entry::front)
    }

    fn find(&self, id: &AgentId) -> Option<usize> {
        self.all.iter().position(|entry| entry.id == *id)
    }

    /// Puts what was kept about one agent in its place. What the configuration describes stays what it says;
    /// what cannot be served any more is kept and shown with the reason.
    fn restore(&mut self, kept: KeptAgent) {
        let KeptAgent { id, description, published } = kept;
        match (self.find(&id), description) {
            (Some(index), description) => {
                if description.is_some() {
                    tracing::warn!(agent = %id, "the configuration describes an agent that operators have added; the configuration counts");
                }
                if let Some(front) = self.all[index].front() {
                    front.agent.set_published(published);
                }
            }
            (None, Some(text)) => {
                let description = Description::kept(text);
                let made = self.make(&description, None);
                if let Err(problem) = &made {
                    tracing::error!(agent = %id, problem, "an agent that operators have added is not served");
                }
                let entry = Entry::added(id, description, made, published);
                if let Some(front) = entry.front() {
                    front.agent.set_published(published);
                }
                self.all.push(entry);
            }
            // The agent that this was about is not in the configuration any more.
            (None, None) => {}
        }
    }
}
