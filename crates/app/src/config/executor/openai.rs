//! A language model.

use super::Kind;
use super::call::Headers;
use super::command::memory;
use super::secret::ValueConfig;
use crate::config::units::{Size, Span};
use a2ad_domain::ports::AgentExecutor;
use a2ad_executor::openai::OWN_PARAMETERS;
use a2ad_executor::{OpenAi, OpenAiSettings, check_header, check_url};
use serde::Deserialize;
use std::sync::Arc;

/// Which model is asked, where and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenAiConfig {
    /// The model's name.
    model: String,
    /// The address of the API.
    #[serde(default = "base_url")]
    base_url: String,
    /// The key.
    api_key: Option<ValueConfig>,
    /// What the model is told before everything else.
    system: Option<String>,
    /// How freely it chooses its words.
    temperature: Option<f64>,
    /// From how many of the likeliest words it chooses.
    top_p: Option<f64>,
    /// How much it may say.
    max_tokens: Option<u32>,
    /// Further members of the request.
    #[serde(default)]
    parameters: toml::Table,
    /// Headers of every request.
    #[serde(default)]
    headers: Headers,
    /// How long making a connection may take.
    connect_timeout: Option<Span>,
    /// How long a whole call may take.
    timeout: Option<Span>,
    /// How often a call is made again that the server has not taken.
    retries: Option<u32>,
    /// How many bytes it may answer.
    max_output: Option<Size>,
    /// How many messages of the conversation it is told.
    history: Option<usize>,
    /// How many bytes of them.
    history_bytes: Option<Size>,
}

fn base_url() -> String {
    "https://api.openai.com/v1".to_owned()
}

impl OpenAiConfig {
    /// The members of the request that are configured, and what is wrong with them.
    fn parameters(&self) -> Result<serde_json::Map<String, serde_json::Value>, String> {
        let mut parameters = serde_json::Map::new();
        for (name, value) in &self.parameters {
            if OWN_PARAMETERS.contains(&name.as_str()) {
                return Err(format!("parameters: {name} is set by the server; leave it out"));
            }
            let value = serde_json::to_value(value);
            let value = value.map_err(|error| format!("parameters: {name}: {error}"))?;
            parameters.insert(name.clone(), value);
        }
        let numbers = [("temperature", self.temperature), ("top_p", self.top_p)];
        for (name, number) in numbers {
            let Some(number) = number else { continue };
            let number = serde_json::Number::from_f64(number);
            let number = number.ok_or_else(|| format!("{name} must be a finite number"))?;
            parameters.insert(name.to_owned(), number.into());
        }
        parameters.extend(self.max_tokens.map(|most| ("max_tokens".to_owned(), most.into())));
        Ok(parameters)
    }

    fn model(&self) -> OpenAi {
        let Self { connect_timeout, timeout, retries, max_output, .. } = *self;
        let mut call = self.headers.call(connect_timeout, timeout, retries, max_output);
        let key = self.api_key.as_ref().map(|key| ("authorization".to_owned(), key.bearer()));
        call.headers.extend(key);
        OpenAi::new(OpenAiSettings {
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            system: self.system.clone(),
            // What is wrong with them was found when the configuration was checked.
            parameters: self.parameters().unwrap_or_default(),
            call,
            memory: memory(self.history, self.history_bytes),
        })
    }
}

impl Kind for OpenAiConfig {
    fn check(&self) -> Result<(), String> {
        if self.model.is_empty() {
            return Err("model must not be empty; name a model".to_owned());
        }
        check_url(&self.base_url).map_err(|problem| format!("base_url: {problem}"))?;
        if self.base_url.contains(['?', '#']) {
            return Err("base_url: must have no query; set headers instead".to_owned());
        }
        if self.api_key.is_some() && self.headers.has("authorization") {
            return Err("headers: authorization is what api_key sets; leave one out".to_owned());
        }
        if let Some(key) = &self.api_key {
            key.check("api_key")?;
            check_header("authorization", &key.value())
                .map_err(|_| "api_key is a secret; say where it is with { env = \"NAME\" } or { file = \"PATH\" }")?;
        }
        self.parameters()?;
        self.headers.check()
    }

    fn missing(&self) -> Vec<String> {
        self.model().missing()
    }

    fn executor(&self) -> Arc<dyn AgentExecutor> {
        Arc::new(self.model())
    }
}
