//! The executors that come with the server and need nothing.

use super::Kind;
use crate::config::units::Span;
use a2ad_domain::ports::AgentExecutor;
use a2ad_executor::{Echo, Script};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// Gives back what it gets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EchoConfig {
    /// How long it takes for each MiB.
    pace: Option<Span>,
}

impl Kind for EchoConfig {
    fn executor(&self) -> Arc<dyn AgentExecutor> {
        Arc::new(Echo::new(self.pace.map_or(Duration::ZERO, |pace| pace.0)))
    }
}

/// Does what the text says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptConfig {}

impl Kind for ScriptConfig {
    fn executor(&self) -> Arc<dyn AgentExecutor> {
        Arc::new(Script)
    }
}
