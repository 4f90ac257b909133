//! A service for each run.

use super::Kind;
use super::call::Headers;
use super::command::memory;
use crate::config::units::{Size, Span};
use a2ad_domain::ports::AgentExecutor;
use a2ad_executor::{HttpService, HttpServiceSettings, check_url};
use serde::Deserialize;
use std::sync::Arc;

/// How a service is called.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpConfig {
    /// Where turns are posted.
    url: String,
    /// Where it is told of runs that are over before they have ended.
    cancel_url: Option<String>,
    /// Headers of every request.
    #[serde(default)]
    headers: Headers,
    /// How long making a connection may take.
    connect_timeout: Option<Span>,
    /// How long a whole call may take.
    timeout: Option<Span>,
    /// How often a call is made again that the service has not taken.
    retries: Option<u32>,
    /// How many bytes it may answer.
    max_output: Option<Size>,
    /// How many messages of the conversation it is told.
    history: Option<usize>,
    /// How many bytes of them.
    history_bytes: Option<Size>,
}

impl HttpConfig {
    fn service(&self) -> HttpService {
        let Self { connect_timeout, timeout, retries, max_output, .. } = *self;
        HttpService::new(HttpServiceSettings {
            url: self.url.clone(),
            cancel_url: self.cancel_url.clone(),
            call: self.headers.call(connect_timeout, timeout, retries, max_output),
            memory: memory(self.history, self.history_bytes),
        })
    }
}

impl Kind for HttpConfig {
    fn check(&self) -> Result<(), String> {
        check_url(&self.url).map_err(|problem| format!("url: {problem}"))?;
        if let Some(url) = &self.cancel_url {
            check_url(url).map_err(|problem| format!("cancel_url: {problem}"))?;
        }
        self.headers.check()
    }

    fn missing(&self) -> Vec<String> {
        self.service().missing()
    }

    fn executor(&self) -> Arc<dyn AgentExecutor> {
        Arc::new(self.service())
    }
}
