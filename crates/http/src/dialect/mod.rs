//! A dialect is a line of the protocol as a table of shapes: names of methods, how their parameters are
//! read and how answers are written. What is done with a call is the same in every dialect.

mod compat;
pub(crate) mod encode;
mod input;
mod part;
pub(crate) mod push;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod v03;
pub(crate) mod v1;

use crate::call::Fault;
use a2ad_domain::ports::Page;
use a2ad_domain::service::{ListTasks, SendMessage, SetPush};
use a2ad_domain::{ContextId, Message, Recorded, Task, TaskKey, Webhook};
use serde_json::value::RawValue;
use shape::Shape;
use text::Borrowed;

/// What the server does, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Attach,
    SetPush,
    GetPush,
    ListPush,
    DeletePush,
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
    SetPush(String, Box<SetPush>),
    /// A webhook of a task; without its id the first one.
    GetPush(String, Option<String>),
    ListPush {
        task: String,
        size: Option<usize>,
        token: Option<String>,
    },
    DeletePush(String, String),
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
    /// A webhook of a task.
    Webhook(&'a str, &'a Webhook),
    Webhooks {
        task: &'a str,
        page: &'a [Webhook],
        token: Option<&'a str>,
    },
    /// It is done, and there is nothing to tell.
    Nothing,
}

/// The most webhooks that a page holds.
pub(crate) const MAX_WEBHOOKS: usize = 100;

impl Method {
    /// Whether it is about webhooks.
    pub(crate) const fn is_push(self) -> bool {
        matches!(self, Self::SetPush | Self::GetPush | Self::ListPush | Self::DeletePush)
    }
}

impl Call {
    /// The call for the webhooks of a task.
    fn list_push(
        task: String,
        size: Option<i64>,
        token: Option<Borrowed<'_>>,
    ) -> Result<Self, Unreadable> {
        let fits = |size: i64| {
            let size = usize::try_from(size).ok();
            let size = size.filter(|size| (1..=MAX_WEBHOOKS).contains(size));
            size.ok_or_else(|| Invalid::new("pageSize", "must be 1 to 100"))
        };
        let token = token.map(|token| token.0.into_owned()).filter(|token| !token.is_empty());
        Ok(Self::ListPush { task, size: size.map(fits).transpose()?, token })
    }
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
    /// The webhook that a message brings along does not fit, which is of no interest where there are no
    /// webhooks.
    Push(Invalid),
    /// The call names a tenant that there is not, and with it a task.
    NoSuchTask(String),
}

impl Unreadable {
    /// What is wrong within the webhook of a message, which stands at `field`.
    fn within(self, field: &str) -> Self {
        match self {
            Self::Invalid(Invalid { field: inner, problem }) => {
                let field =
                    if inner.is_empty() { field.to_owned() } else { push::at(field, &inner) };
                Self::Push(Invalid { field, problem })
            }
            other @ (Self::Push(_) | Self::Missing | Self::NotJson | Self::NoSuchTask(_)) => other,
        }
    }
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
