//! The calls as the yardstick reads them: typed, with owned text, as a handler would.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON-RPC call.
#[derive(Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(rename = "jsonrpc")]
    pub(crate) _version: String,
    #[serde(borrow)]
    pub(crate) id: &'a RawValue,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Params,
}

/// The parameters of all calls in one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    pub(crate) message: Option<Message>,
    /// The task that `tasks/get` asks for.
    pub(crate) id: Option<String>,
    #[serde(rename = "configuration")]
    pub(crate) _configuration: Option<Configuration>,
}

/// How a message wants to be answered. The yardstick reads it and does the same either way.
#[derive(Deserialize)]
pub(crate) struct Configuration {
    #[serde(rename = "blocking")]
    pub(crate) _blocking: Option<bool>,
}

/// A message, in a call and in a history.
#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    pub(crate) kind: String,
    pub(crate) role: String,
    pub(crate) message_id: String,
    #[serde(default)]
    pub(crate) task_id: Option<String>,
    #[serde(default)]
    pub(crate) context_id: Option<String>,
    pub(crate) parts: Vec<Part>,
}

/// A part with text, the only sort there is here.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Part {
    pub(crate) kind: String,
    pub(crate) text: String,
}
