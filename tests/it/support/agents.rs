//! Executors and a store that do what a test tells them while the server runs.

mod burst;
mod counted;
mod flaky_store;
mod gated;
mod ledger;
mod puppet;

pub(crate) use burst::Burst;
pub(crate) use counted::Counted;
pub(crate) use flaky_store::{FlakyStore, Verdict};
pub(crate) use gated::{Gate, Gated, Gates};
pub(crate) use ledger::Ledger;
pub(crate) use puppet::{Puppet, Stage};

use a2ad_domain::ports::AgentExecutor;
use a2ad_domain::testing::PATIENCE;
use a2ad_domain::{Agent, AgentId, AgentSettings, Card};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Waits for what has to happen, and fails with `what` when it does not.
pub(crate) async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, happens).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen"),
    }
}

/// Lets the server run until `holds`, looking again after each turn of the scheduler.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    soon(what, async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Lets this much time pass at once, for all that the test and a server within it wait for.
pub(crate) async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// An agent with default settings.
pub(crate) fn agent(id: &str, executor: Arc<dyn AgentExecutor>) -> Agent {
    agent_with(id, AgentSettings::default(), executor)
}

/// An agent that takes and makes everything.
pub(crate) fn agent_with(
    id: &str,
    settings: AgentSettings,
    executor: Arc<dyn AgentExecutor>,
) -> Agent {
    agent_taking(id, &["*/*"], settings, executor)
}

/// An agent that takes only these media types.
pub(crate) fn agent_taking(
    id: &str,
    input_modes: &[&str],
    settings: AgentSettings,
    executor: Arc<dyn AgentExecutor>,
) -> Agent {
    let card = Card {
        name: id.to_owned(),
        description: "Does what a test tells it.".to_owned(),
        version: "1.0.0".to_owned(),
        skills: Vec::new(),
        input_modes: input_modes.iter().map(|&mode| mode.to_owned()).collect(),
        output_modes: vec!["*/*".to_owned()],
    };
    Agent::new(AgentId::new(id).expect("an agent id"), card, settings, executor)
}
