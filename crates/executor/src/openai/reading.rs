//! What a model says, token by token or at once.

use super::failure;
use crate::exchange::{Decision, Event, Sink, invalid};
use crate::outgoing::Answer;
use a2ad_domain::ports::AgentError;
use a2ad_domain::{Parts, RawJson};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The data of the event after the last.
const DONE: &str = "[DONE]";

/// What a caller is told of an answer that is none.
const INVALID: &str = "The model server gave an invalid response";

/// A chunk of a stream, or a whole answer: of either only what is looked at, since servers differ in the
/// rest.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    model: Option<String>,
    usage: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<IgnoredAny>>,
}

/// What is known of an answer so far.
#[derive(Default)]
struct Said {
    /// Whether a choice has come at all, and whether one with a text has.
    chosen: bool,
    anything: bool,
    refusal: String,
    finish: Option<String>,
    model: Option<String>,
    usage: Option<Box<RawValue>>,
}

/// Reads an answer into the task.
pub(crate) async fn read(answer: Answer, sink: &mut Sink<'_>) -> Result<(), AgentError> {
    let mut said = Said::default();
    // A server that does not know `stream` answers at once.
    if answer.media_type() == "application/json" {
        said.take(&answer.whole().await?, sink).await?;
        said.finish.get_or_insert_with(|| "stop".to_owned());
        return said.end(sink).await;
    }
    let mut events = answer.events();
    let mut done = false;
    while !done && let Some(data) = events.next().await? {
        done = data.trim() == DONE;
        if !done {
            said.take(data.as_bytes(), sink).await?;
        }
    }
    if !done && said.finish.is_none() {
        return Err(AgentError::explained(
            "The model broke off its answer",
            "the stream ended without [DONE] and without a finish_reason",
        ));
    }
    said.end(sink).await
}

impl Said {
    async fn take(&mut self, json: &[u8], sink: &mut Sink<'_>) -> Result<(), AgentError> {
        let chunk: Chunk =
            serde_json::from_slice(json).map_err(|error| AgentError::explained(INVALID, error))?;
        if let Some(error) = chunk.error {
            return Err(failure::reported(error.get()));
        }
        self.model = chunk.model.or(self.model.take());
        self.usage = chunk.usage.or(self.usage.take());
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(()) };
        self.chosen = true;
        self.finish = choice.finish_reason.or(self.finish.take());
        let Some(delta) = choice.delta else { return Ok(()) };
        if delta.tool_calls.is_some_and(|calls| !calls.is_empty()) {
            return Err(AgentError::explained(
                "The model asked for tools, and it has none here",
                "tool_calls in the answer; the parameters must not offer tools",
            ));
        }
        self.refusal.push_str(delta.refusal.as_deref().unwrap_or_default());
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.anything = true;
            sink.text(text).await?;
        }
        Ok(())
    }

    /// Notes what the answer has cost, and refuses where the model does.
    async fn end(self, sink: &mut Sink<'_>) -> Result<(), AgentError> {
        if !self.chosen {
            return Err(AgentError::explained(INVALID, "the answer has no choices"));
        }
        sink.metadata(self.metadata()?);
        let filtered = self.finish.as_deref() == Some("content_filter") && !self.anything;
        if self.refusal.is_empty() && !filtered {
            return Ok(());
        }
        let why = if self.refusal.is_empty() {
            "The model declined to answer.".to_owned()
        } else {
            self.refusal
        };
        sink.take(Event::Decision(Decision::Reject(Parts::text(why)))).await
    }

    fn metadata(&self) -> Result<RawJson, AgentError> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            model: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            finish_reason: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            usage: Option<&'a RawValue>,
        }
        let metadata = Metadata {
            model: self.model.as_deref(),
            finish_reason: self.finish.as_deref(),
            usage: self.usage.as_deref(),
        };
        let json = serde_json::to_string(&metadata).map_err(AgentError::failed)?;
        RawJson::parse(&json).map_err(|error| invalid(error.to_string()))
    }
}
