//! A language model behind a server that speaks the chat completions API of OpenAI.

mod failure;
mod prompt;
pub(crate) mod reading;

use crate::Memory;
use crate::exchange::Sink;
use crate::outgoing::{Answer, CallSettings, Service};
use a2ad_domain::Message;
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Stopped, Turn};
use a2ad_domain::service::TaskWriter;
use async_trait::async_trait;
use reqwest::StatusCode;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Which model is asked, where and how.
#[derive(Clone, Debug)]
pub struct OpenAiSettings {
    /// The address of the API, without `/chat/completions`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// What the model is told before everything else.
    pub system: Option<String>,
    /// Further members of the request, such as `temperature`.
    pub parameters: Map<String, Value>,
    /// How the server is called; the key is one of its headers.
    pub call: CallSettings,
    /// How much of the conversation the model is told.
    pub memory: Memory,
}

/// The statuses after which a call is made again: asking a model changes nothing, so it may be.
const BUSY: [StatusCode; 5] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// Members of the request that are not to be set, because the executor does.
pub const OWN_PARAMETERS: [&str; 5] = ["model", "messages", "stream", "stream_options", "n"];

/// Asks a model.
#[derive(Debug)]
pub struct OpenAi {
    url: String,
    model: String,
    system: Option<String>,
    parameters: Map<String, Value>,
    service: Service,
    memory: Memory,
}

impl OpenAi {
    /// An executor that asks this model.
    #[must_use]
    pub fn new(settings: OpenAiSettings) -> Self {
        let OpenAiSettings { base_url, model, system, parameters, call, memory } = settings;
        let url = format!("{}/chat/completions", base_url.trim_end_matches('/'));
        let service = Service::new("model server", call, &BUSY);
        Self { url, model, system, parameters, service, memory }
    }

    /// What is missing on this machine to ask it, in words for an operator.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.service.missing()
    }

    fn body(&self, said: &[Arc<Message>], message: &Message) -> Vec<u8> {
        let mut body = self.parameters.clone();
        body.insert("model".to_owned(), self.model.as_str().into());
        body.insert("messages".to_owned(), prompt::messages(self.system.as_deref(), said, message));
        body.insert("stream".to_owned(), true.into());
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        Value::Object(body).to_string().into_bytes()
    }

    async fn ask(&self, turn: &Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let said = self.memory.recall(out, prompt::weigh).await?;
        let mut sink = Sink::open(out).await?;
        let request = self.service.post(&self.url, self.body(&said, &turn.request.message))?;
        let response = self.service.send(request.header("accept", "text/event-stream")).await?;
        let status = response.status();
        let answer = Answer::new(response, self.service.name, self.service.settings.max_output);
        if !status.is_success() {
            return Err(failure::of_status(status, &answer.excerpt().await));
        }
        reading::read(answer, &mut sink).await?;
        sink.finish().await
    }
}

#[async_trait]
impl AgentExecutor for OpenAi {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        tokio::select! {
            biased;
            asked = self.ask(&turn, out) => asked.map_err(|error| self.service.redacted(error)),
            // The call is dropped where it stands, which closes its connection.
            () = turn.cancel.raised() => Err(Stopped.into()),
        }
    }
}
