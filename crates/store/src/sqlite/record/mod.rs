//! What is written into the file: JSON that this store owns, so that neither the wire nor the domain can
//! change it by accident. The same structs write, borrowing from the task, and read, borrowing from the row.

mod change;
mod content;
mod snapshot;
mod webhook;

pub(super) use change::{ChangeRow, read_change, write_change};
pub(super) use snapshot::{Row, read_snapshot, write_snapshot};
pub(super) use webhook::{WebhookRow, read_webhook, write_webhook};

use a2ad_domain::{RawJson, TaskState};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What stands in a file and cannot be what this store has written there.
#[derive(Debug)]
pub(super) struct Damaged {
    what: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Damaged {
    /// A value that makes no sense.
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, source: None }
    }

    /// A value that something else says makes no sense.
    pub(super) fn because(
        what: &'static str,
    ) -> impl Fn(Box<dyn Error + Send + Sync>) -> Self + Copy {
        move |source| Self { what, source: Some(source) }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file holds {}", self.what)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, ": {source}"))
    }
}

impl Error for Damaged {}

impl From<serde_json::Error> for Damaged {
    fn from(error: serde_json::Error) -> Self {
        Self::because("a record that cannot be read")(error.into())
    }
}

/// The state of a name.
pub(in crate::sqlite) fn state_of(name: &str) -> Result<TaskState, Damaged> {
    let known = TaskState::ALL.into_iter().find(|state| state.name() == name);
    known.ok_or(Damaged::new("a state of no known name"))
}

/// Text that is borrowed wherever it can be.
#[derive(Serialize, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Text<'a> {
    fn of(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    fn shared(&self) -> Arc<str> {
        Arc::from(&*self.0)
    }
}

/// Reads a member that is there; `null` is a value like any other, since JSON is kept as it was.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// JSON that is carried, for writing. It was parsed when it came in.
fn carried(json: &RawJson) -> Result<&RawValue, Damaged> {
    Ok(serde_json::from_str(json.as_str())?)
}

fn carried_if(json: Option<&RawJson>) -> Result<Option<&RawValue>, Damaged> {
    json.map(carried).transpose()
}
