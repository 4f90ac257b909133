//! One request and its answer: what both look like and over what they go.

use super::Fault;
use crate::dialect::shape::Shape;
use crate::dialect::v1;
use crate::dialect::{Answer, Artifacts, Dialect, encode};
use crate::json;
use crate::reply::{self, Reply};
use crate::routes::Shared;
use a2ad_domain::Task;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};

/// Over what a call came.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binding<'a> {
    /// JSON-RPC: answers carry the id of the request, as JSON text, and travel with status 200.
    Rpc { id: &'a str },
    /// HTTP+JSON: answers are bare, errors have a status, and the media type is what the client names.
    Rest { a2a_json: bool },
}

/// Everything an answer needs besides the result.
pub(crate) struct Exchange<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) shape: &'static Shape,
    pub(crate) binding: Binding<'a>,
}

/// What stands around a result and around an error, for a stream, which outlives its request.
pub(super) struct Frame {
    pub(super) result: Vec<u8>,
    pub(super) error: Vec<u8>,
    pub(super) end: &'static [u8],
    pub(super) errors: Errors,
}

/// How errors are written, without what stands around them.
#[derive(Clone, Copy)]
pub(super) struct Errors {
    dialect: &'static dyn Dialect,
    shape: &'static Shape,
    /// HTTP+JSON of the 1.0 line has a form of its own (specification 1.0 §11.6); the 0.3 line only
    /// wants one form for all, and takes that of JSON-RPC.
    with_status: bool,
}

impl Errors {
    pub(super) fn write(self, fault: &Fault, out: &mut Vec<u8>) {
        if !self.with_status {
            return self.dialect.fault(fault, self.shape, out);
        }
        let (status, name) = fault.http_status(self.shape);
        json::object(out, |o| {
            o.object("error", |o| {
                o.plain("code", status.as_u16());
                o.string("status", name);
                o.string("message", fault.message(self.shape));
                v1::details(fault, self.shape, o.member("details"));
            });
        });
    }
}

impl Exchange<'_> {
    /// What stands around each answer.
    pub(super) fn frame(&self) -> Frame {
        let (mut result, mut error) = (Vec::new(), Vec::new());
        self.open("result", &mut result);
        self.open("error", &mut error);
        Frame { result, error, end: self.end(), errors: self.errors() }
    }

    /// `{"jsonrpc":"2.0","id":…,"result":`
    fn open(&self, member: &str, out: &mut Vec<u8>) {
        let Binding::Rpc { id } = self.binding else { return };
        for piece in [r#"{"jsonrpc":"2.0","id":"#, id, ",\"", member, "\":"] {
            out.extend_from_slice(piece.as_bytes());
        }
    }

    const fn end(&self) -> &'static [u8] {
        match self.binding {
            Binding::Rpc { .. } => b"}",
            Binding::Rest { .. } => b"",
        }
    }

    /// The whole body of a result.
    pub(super) fn result(&self, answer: &Answer<'_>) -> Vec<u8> {
        let id = match self.binding {
            Binding::Rpc { id } => id.len(),
            Binding::Rest { .. } => 0,
        };
        let mut out = Vec::with_capacity(id + size_hint(answer));
        self.open("result", &mut out);
        match (answer, self.binding) {
            // JSON-RPC has a word for it; HTTP+JSON has the empty object of protocol buffers.
            (Answer::Nothing, Binding::Rpc { .. }) => out.extend_from_slice(b"null"),
            _ => encode::answer(answer, self.shape, &mut out),
        }
        out.extend_from_slice(self.end());
        out
    }

    /// The whole body of a result that is written already.
    pub(super) fn around(&self, result: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + result.len());
        self.open("result", &mut out);
        out.extend_from_slice(result);
        out.extend_from_slice(self.end());
        out
    }

    /// The answer of a call that succeeded.
    pub(super) fn success(&self, body: Vec<u8>) -> Reply {
        self.typed(reply::json(StatusCode::OK, body))
    }

    fn typed(&self, mut reply: Reply) -> Reply {
        if let Binding::Rest { a2a_json: true } = self.binding {
            let kind = HeaderValue::from_static("application/a2a+json");
            reply.headers_mut().insert(CONTENT_TYPE, kind);
        }
        reply
    }

    fn error(&self, fault: &Fault) -> Vec<u8> {
        if let Some(limit) = fault.limit() {
            self.shared.settings.tally.count(limit);
        }
        let mut out = Vec::with_capacity(256);
        self.open("error", &mut out);
        self.errors().write(fault, &mut out);
        out.extend_from_slice(self.end());
        out
    }

    fn errors(&self) -> Errors {
        let rest = matches!(self.binding, Binding::Rest { .. });
        let with_status = rest && !self.shape.is_line_03();
        Errors { dialect: self.dialect, shape: self.shape, with_status }
    }

    /// The answer of a call that failed.
    pub(crate) fn fault(&self, fault: &Fault) -> Reply {
        let body = self.error(fault);
        match (fault.busy(), self.binding) {
            (Some(status), _) => self.typed(reply::busy(status, body)),
            (None, Binding::Rpc { .. }) => reply::json(StatusCode::OK, body),
            (None, Binding::Rest { .. }) => {
                self.typed(reply::json(fault.http_status(self.shape).0, body))
            }
        }
    }

    /// An error of a call that would have streamed. JSON-RPC clients of the 0.3 line that ask for events
    /// read the answer as events, whatever its type says, so they get one.
    pub(crate) fn stream_fault(&self, fault: &Fault, headers: &HeaderMap) -> Reply {
        let reads_events = matches!(self.binding, Binding::Rpc { .. })
            && self.shape.is_line_03()
            && fault.busy().is_none()
            && accepts_events(headers);
        if !reads_events {
            return self.fault(fault);
        }
        let mut frame = b"data: ".to_vec();
        frame.extend_from_slice(&self.error(fault));
        frame.extend_from_slice(b"\n\n");
        reply::events(frame.into())
    }
}

/// Whether the client names the type of events. The header may come several times; all count.
fn accepts_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|range| {
        range.split(';').next().is_some_and(|range| range.trim() == "text/event-stream")
    })
}

/// About how long an answer will be, so that its buffer is made once.
fn size_hint(answer: &Answer<'_>) -> usize {
    const FRAME: usize = 512;
    let task = |task: &Task, artifacts: Artifacts| {
        let results = task.artifacts().iter().flat_map(|artifact| &artifact.chunks);
        let results = results.map(a2ad_domain::Parts::weight).sum::<usize>();
        let messages: usize =
            task.history().iter().map(|message| message.parts.weight() + 192).sum();
        FRAME + messages + if artifacts == Artifacts::Hidden { 0 } else { results }
    };
    let content = match answer {
        Answer::Task(one, view) | Answer::Sent(one, view) => task(one, view.artifacts),
        Answer::Message(message, _) => message.weight(),
        Answer::Page { page, view, .. } => {
            page.tasks.iter().map(|each| task(each, view.artifacts)).sum()
        }
        Answer::Webhook(..) => FRAME,
        Answer::Webhooks { page, .. } => page.len() * FRAME,
        Answer::Nothing => 0,
    };
    // Escapes make text a little longer.
    FRAME + content + content / 32
}
