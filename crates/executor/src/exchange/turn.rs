//! The document that says what a run is about.

use super::part::{MessageOut, raw};
use a2ad_domain::Message;
use a2ad_domain::ports::{AgentError, Turn};
use serde::Serialize;
use std::sync::Arc;

/// Grows when a member changes its meaning. New members may come without.
const VERSION: u8 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a, M> {
    version: u8,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    owner: &'a str,
    task_id: String,
    context_id: &'a str,
    text: String,
    message: MessageOut<'a>,
    history: Vec<MessageOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reference_task_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<M>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    accepted_output_modes: &'a [String],
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
}

/// The document of a run, as JSON on one line. `history` is what was said before.
pub(crate) fn document(turn: &Turn, history: &[Arc<Message>]) -> Result<Vec<u8>, AgentError> {
    let request = &turn.request;
    let document = Document {
        version: VERSION,
        agent: request.scope.agent().as_str(),
        tenant: request.scope.tenant().map(|tenant| tenant.as_str()),
        owner: request.scope.owner().as_str(),
        task_id: turn.task.key().id.to_string(),
        context_id: request.context.as_str(),
        text: request.text(),
        message: MessageOut(&request.message),
        history: history.iter().map(|message| MessageOut(message)).collect(),
        reference_task_ids: request.references.iter().map(ToString::to_string).collect(),
        metadata: request.metadata.as_ref().map(raw),
        accepted_output_modes: &request.accepted_output_modes,
        attempt: turn.attempt(),
        deadline: turn.task.deadline().map(|deadline| deadline.to_string()),
    };
    serde_json::to_vec(&document).map_err(AgentError::failed)
}
