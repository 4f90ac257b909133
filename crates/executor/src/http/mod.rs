//! A service for each run: the turn is posted to it, and what it answers goes into the task as it comes.

pub(crate) mod reading;

use crate::Memory;
use crate::exchange::{Sink, document};
use crate::outgoing::{Answer, CallSettings, Service};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Stopped, Turn};
use a2ad_domain::service::TaskWriter;
use async_trait::async_trait;
use reqwest::StatusCode;
use std::time::Duration;

/// How a service is called.
#[derive(Clone, Debug)]
pub struct HttpServiceSettings {
    /// Where turns are posted.
    pub url: String,
    /// Where it is told of runs that are over before they have ended.
    pub cancel_url: Option<String>,
    /// How it is called.
    pub call: CallSettings,
    /// How much of the conversation it is told.
    pub memory: Memory,
}

/// The statuses that say that a call was not taken and may be made again.
const BUSY: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];

/// How long a service may take to hear of a cancel.
const PATIENCE: Duration = Duration::from_secs(10);

/// The media types that are understood.
const ACCEPT: &str = "text/event-stream, application/x-ndjson, application/json, text/plain";

/// Posts turns to a service.
#[derive(Debug)]
pub struct HttpService {
    url: String,
    cancel_url: Option<String>,
    service: Service,
    memory: Memory,
}

impl HttpService {
    /// An executor that calls this service.
    #[must_use]
    pub fn new(settings: HttpServiceSettings) -> Self {
        let HttpServiceSettings { url, cancel_url, call, memory } = settings;
        Self { url, cancel_url, service: Service::new("service", call, &BUSY), memory }
    }

    /// What is missing on this machine to call it, in words for an operator.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.service.missing()
    }

    async fn call(&self, turn: &Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let history = self.memory.recall(out, a2ad_domain::Part::weight).await?;
        let mut sink = Sink::open(out).await?;
        let (key, context) = (turn.task.key(), &turn.request.context);
        let request = self.service.post(&self.url, document(turn, &history)?)?;
        let request = request
            .header("accept", ACCEPT)
            .header("a2a-task-id", key.id.to_string())
            // The turn's own, and the same each time that the call is made, after a crash as well: what a
            // service has done in an earlier attempt it need not do again.
            .header("idempotency-key", format!("{}-{}", key.id, turn.task.turn().message + 1));
        let request = match reqwest::header::HeaderValue::from_str(context.as_str()) {
            Ok(context) => request.header("a2a-context-id", context),
            // A name that no header can hold is in the document.
            Err(_) => request,
        };
        let response = self.service.send(request).await?;
        let status = response.status();
        let answer = Answer::new(response, self.service.name, self.service.settings.max_output);
        if !status.is_success() {
            let reason = format!("The service answered with HTTP status {}", status.as_u16());
            return Err(AgentError::explained(reason, answer.excerpt().await));
        }
        reading::read(answer, &mut sink).await?;
        sink.finish().await
    }

    /// Tells the service that a run is over. It need not listen.
    async fn tell(&self, url: &str, turn: &Turn) {
        let told = serde_json::json!({
            "agent": turn.request.scope.agent().as_str(),
            "taskId": turn.task.key().id.to_string(),
            "contextId": turn.request.context.as_str(),
        });
        let sent = async {
            let request = self.service.post(url, told.to_string().into_bytes())?;
            self.service.send(request).await
        };
        let heard = match tokio::time::timeout(PATIENCE, sent).await {
            Ok(Ok(response)) if response.status().is_success() => return,
            Ok(Ok(response)) => format!("it answers with HTTP status {}", response.status()),
            Ok(Err(AgentError::Explained { reason, source })) => format!("{reason}: {source}"),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        tracing::warn!(task = %turn.task.key().id, heard, "a service did not hear of a cancel");
    }
}

#[async_trait]
impl AgentExecutor for HttpService {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let called = tokio::select! {
            biased;
            called = self.call(&turn, out) => Some(called),
            // The call is dropped where it stands, which closes its connection.
            () = turn.cancel.raised() => None,
        };
        // What is being written when the task ends is refused before the signal is heard.
        if let Some(called) = called
            && !matches!(called, Err(AgentError::Stopped(_)))
        {
            return called.map_err(|error| self.service.redacted(error));
        }
        if let Some(url) = &self.cancel_url {
            self.tell(url, &turn).await;
        }
        Err(Stopped.into())
    }
}
