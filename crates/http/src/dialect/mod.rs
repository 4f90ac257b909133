//! A dialect is a line of the protocol as a table of shapes: names of methods, how their parameters are
//! read and how answers are written. What is done with a call is the same in every dialect.

mod compat;
pub(crate) mod encode;
mod input;
mod part;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod v03;
pub(crate) mod v1;

use crate::call::Fault;
use a2ad_domain::ports::Page;
use a2ad_domain::service::{ListTasks, SendMessage};
use a2ad_domain::{ContextId, Message, Recorded, Task, TaskKey};
use serde_json::value::RawValue;
use shape::Shape;

/// What the server does, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Attach,
    PushConfig,
    ExtendedCard,
}

/// What the server does, with everything it needs to know. REST and other bindings make the same calls.
#[derive(Debug)]
pub(crate) enum Call {
    Send(Box<SendMessage>, View),
    Stream(Box<SendMessage>, View),
    Get(String, View),
    List(ListTasks, Option<String>, View),
    Cancel(String),
    Attach(String),
    PushConfig,
    ExtendedCard,
}

/// How much of a task is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// How many of the newest messages; `None` for all.
    pub(crate) history: Option<usize>,
    pub(crate) artifacts: Artifacts,
}

/// Whether a task's artifacts are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Artifacts {
    /// No.
    Hidden,
    /// When there are some.
    IfAny,
    /// Always, be it an empty array.
    Always,
}

impl View {
    pub(crate) const WHOLE: View = View { history: None, artifacts: Artifacts::IfAny };
}

/// What a call came to.
pub(crate) enum Answer<'a> {
    /// A task that was asked for.
    Task(&'a Task, View),
    /// A task that answers a message, where a message may answer as well.
    Sent(&'a Task, View),
    Message(&'a Message, &'a ContextId),
    Page {
        page: &'a Page,
        size: usize,
        token: &'a str,
        view: View,
    },
}

/// A change on its way to a subscriber.
pub(crate) struct Event<'a> {
    pub(crate) key: &'a TaskKey,
    pub(crate) context: &'a ContextId,
    pub(crate) change: &'a Recorded,
    /// Whether the stream ends with it.
    pub(crate) last: bool,
}

/// A parameter that does not fit: its path and what is wrong. An empty path stands for the parameters as
/// a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    pub(crate) field: String,
    pub(crate) problem: String,
}

impl Invalid {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// Why parameters were not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A parameter does not fit.
    Invalid(Invalid),
    /// The parameters are missing altogether.
    Missing,
    /// The text is not JSON that means anything: half a surrogate pair, a member given twice.
    NotJson,
    /// The call asks for push notifications.
    PushNotification,
    /// The call names a tenant that there is not, and with it a task.
    NoSuchTask(String),
}

impl From<Invalid> for Unreadable {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// One line of the protocol: its names and what its parameters look like. What it writes is in its
/// [`Shape`]s.
pub(crate) trait Dialect: Send + Sync {
    /// The method of a name.
    fn method(&self, name: &str) -> Option<Method>;
    /// Reads the parameters of a call.
    fn decode(
        &self,
        method: Method,
        params: Option<&RawValue>,
        shape: &Shape,
    ) -> Result<Call, Unreadable>;
    /// Writes an error object.
    fn fault(&self, fault: &Fault, shape: &Shape, out: &mut Vec<u8>);
    /// The header in which extensions that were activated are named.
    fn extensions_header(&self) -> &'static str;
}

/// The versions that are served, as errors list them.
pub(crate) const SUPPORTED_VERSIONS: &str = "1.0,0.3";
