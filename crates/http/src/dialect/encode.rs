//! Writes tasks, messages and events, as a shape says (specification 0.3 §6 and §7.2, 1.0 §4.1 and §4.2).

use super::compat;
use super::push;
use super::shape::{PartStyle, Shape};
use super::{Answer, Artifacts, Event, View};
use crate::json::{self, Object};
use a2ad_domain::ports::Page;
use a2ad_domain::{
    Artifact, ArtifactUpdate, Change, Content, ContextId, Details, Message, Part, Role, Task,
    TaskId, TaskState, Timestamp,
};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;

pub(crate) fn answer(answer: &Answer<'_>, shape: &Shape, out: &mut Vec<u8>) {
    match answer {
        Answer::Task(task, view) => self::task(task, *view, shape, out),
        Answer::Sent(task, view) => {
            wrapped("task", shape, out, |out| self::task(task, *view, shape, out));
        }
        Answer::Message(message, context) => {
            wrapped("message", shape, out, |out| {
                json::object(out, |o| members_of_message(o, message, None, context, shape));
            });
        }
        Answer::Page { page, view, .. } if shape.bare_list => tasks(page, *view, shape, out),
        Answer::Page { page, size, token, view } => json::object(out, |o| {
            tasks(page, *view, shape, o.member("tasks"));
            o.string("nextPageToken", token);
            o.plain("pageSize", size);
            o.plain("totalSize", page.total);
        }),
        Answer::Webhook(task, webhook) => push::webhook(task, webhook, shape, out),
        Answer::Webhooks { task, page, token } => push::webhooks(task, page, *token, shape, out),
        Answer::Nothing => json::object(out, |_| {}),
    }
}

/// Writes a value within an object whose only member says what it is, where the shape wants that.
fn wrapped(name: &str, shape: &Shape, out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    if shape.wrapped {
        json::object(out, |o| value(o.member(name)));
    } else {
        value(out);
    }
}

fn tasks(page: &Page, view: View, shape: &Shape, out: &mut Vec<u8>) {
    json::array(out, &page.tasks, |out, task| self::task(task, view, shape, out));
}

fn kind(o: &mut Object<'_>, name: &str, shape: &Shape) {
    if shape.kind {
        o.string("kind", name);
    }
}

fn task(task: &Task, view: View, shape: &Shape, out: &mut Vec<u8>) {
    let (id, context) = (task.key().id, task.context());
    json::object(out, |o| {
        kind(o, "task", shape);
        o.ascii("id", &id.to_ascii());
        o.string("contextId", context.as_str());
        status(
            o,
            task.state(),
            task.status_at(),
            task.status_message().map(|message| &**message),
            (id, context),
            shape,
        );
        let artifacts = match view.artifacts {
            Artifacts::Hidden => false,
            Artifacts::IfAny => !task.artifacts().is_empty(),
            Artifacts::Always => true,
        };
        if artifacts {
            o.array("artifacts", task.artifacts(), |out, each| artifact(each, shape, out));
        }
        let history = task.history_tail(view.history);
        // A client that asks for messages gets the member, even if there are none to put into it.
        if !history.is_empty() || view.history.is_some_and(|limit| limit > 0) {
            o.array("history", history, |out, message| {
                json::object(out, |o| members_of_message(o, message, Some(id), context, shape));
            });
        }
        if let Some(metadata) = task.metadata() {
            o.raw("metadata", metadata.as_str());
        }
    });
}

fn status(
    o: &mut Object<'_>,
    state: TaskState,
    at: Timestamp,
    message: Option<&Message>,
    (id, context): (TaskId, &ContextId),
    shape: &Shape,
) {
    o.object("status", |o| {
        o.string("state", shape.state(state));
        o.ascii("timestamp", &at.to_ascii());
        if let Some(message) = message {
            o.object("message", |o| members_of_message(o, message, Some(id), context, shape));
        }
    });
}

fn members_of_message(
    o: &mut Object<'_>,
    message: &Message,
    task: Option<TaskId>,
    context: &ContextId,
    shape: &Shape,
) {
    kind(o, "message", shape);
    let [user, agent] = shape.roles;
    o.string("role", if message.role == Role::User { user } else { agent });
    o.string("messageId", message.id.as_str());
    if let Some(task) = task {
        o.ascii("taskId", &task.to_ascii());
    }
    o.string("contextId", context.as_str());
    o.array(shape.message_parts, message.parts.as_slice(), |out, each| part(each, shape, out));
    if shape.references && !message.references.is_empty() {
        o.strings("referenceTaskIds", message.references.iter());
    }
    if !message.extensions.is_empty() {
        o.strings("extensions", message.extensions.iter());
    }
    if let Some(metadata) = &message.metadata {
        o.raw("metadata", metadata.as_str());
    }
}

fn part(part: &Part, shape: &Shape, out: &mut Vec<u8>) {
    json::object(out, |o| match shape.part {
        PartStyle::Flat => flat_part(o, part),
        PartStyle::Nested | PartStyle::Proto => nested_part(o, part, shape),
    });
}

fn flat_part(o: &mut Object<'_>, part: &Part) {
    match &part.content {
        Content::Text(text) => o.string("text", text),
        Content::Bytes(bytes) => o.displayed("raw", Base64Display::new(bytes, &STANDARD)),
        Content::Url(url) => o.string("url", url),
        Content::Data(data) => o.raw("data", data.as_str()),
    }
    let Some(label) = part.label.as_deref() else { return };
    o.maybe("mediaType", label.media_type.as_deref());
    o.maybe("filename", label.filename.as_deref());
    if let Some(metadata) = &label.metadata {
        o.raw("metadata", metadata.as_str());
    }
}

fn nested_part(o: &mut Object<'_>, part: &Part, shape: &Shape) {
    let proto = shape.part == PartStyle::Proto;
    let label = part.label.as_deref();
    let mut metadata = label.and_then(|label| label.metadata.clone());
    let file = |o: &mut Object<'_>, content: &dyn Fn(&mut Object<'_>)| {
        kind(o, "file", shape);
        o.object("file", |o| {
            content(o);
            o.maybe("mimeType", label.and_then(|label| label.media_type.as_deref()));
            o.maybe("name", label.and_then(|label| label.filename.as_deref()));
        });
    };
    match &part.content {
        Content::Text(text) => {
            kind(o, "text", shape);
            o.string("text", text);
        }
        Content::Bytes(bytes) => {
            let name = if proto { "fileWithBytes" } else { "bytes" };
            file(o, &|o| o.displayed(name, Base64Display::new(bytes, &STANDARD)));
        }
        Content::Url(url) => {
            file(o, &|o| o.string(if proto { "fileWithUri" } else { "uri" }, url));
        }
        Content::Data(data) => {
            kind(o, "data", shape);
            let data = if data.is_object() {
                data.clone()
            } else {
                // This line has objects only; the mark tells the reader to take the value out again.
                let mark = compat::mark();
                metadata = Some(metadata.map_or_else(|| mark.clone(), |known| known.merged(&mark)));
                compat::wrap(data)
            };
            if proto {
                o.object("data", |o| o.raw("data", data.as_str()));
            } else {
                o.raw("data", data.as_str());
            }
        }
    }
    if let Some(metadata) = metadata {
        o.raw("metadata", metadata.as_str());
    }
}

fn artifact(artifact: &Artifact, shape: &Shape, out: &mut Vec<u8>) {
    json::object(out, |o| {
        o.string("artifactId", artifact.id.as_str());
        details(o, artifact.details.as_deref());
        merged_parts(artifact, shape, o.member("parts"));
    });
}

fn details(o: &mut Object<'_>, details: Option<&Details>) {
    let Some(details) = details else { return };
    o.maybe("name", details.name.as_deref());
    o.maybe("description", details.description.as_deref());
    if !details.extensions.is_empty() {
        o.strings("extensions", details.extensions.iter());
    }
    if let Some(metadata) = &details.metadata {
        o.raw("metadata", metadata.as_str());
    }
}

/// Writes the parts of an artifact, neighbouring plain texts as one: they are the pieces of a text that
/// was streamed.
fn merged_parts(artifact: &Artifact, shape: &Shape, out: &mut Vec<u8>) {
    let mut parts = artifact.parts().peekable();
    let mut empty = true;
    out.push(b'[');
    while let Some(first) = parts.next() {
        if !std::mem::take(&mut empty) {
            out.push(b',');
        }
        if first.plain_text().is_none()
            || parts.peek().is_none_or(|next| next.plain_text().is_none())
        {
            part(first, shape, out);
            continue;
        }
        let mut run = vec![first];
        while let Some(next) = parts.next_if(|next| next.plain_text().is_some()) {
            run.push(next);
        }
        json::object(out, |o| {
            kind(o, "text", shape);
            json::joined(o.member("text"), run.iter().filter_map(|part| part.plain_text()));
        });
    }
    out.push(b']');
}

/// Writes a change; `false` when subscribers are not shown changes of its kind.
pub(crate) fn change(event: &Event<'_>, shape: &Shape, out: &mut Vec<u8>) -> bool {
    match &event.change.change {
        Change::Message(_) => return false,
        Change::Artifact(update) => wrapped("artifactUpdate", shape, out, |out| {
            json::object(out, |o| {
                head(o, "artifact-update", event, shape);
                piece(o, update, shape);
                flag(o, "append", update.append, shape);
                flag(o, "lastChunk", update.last, shape);
            });
        }),
        Change::Status(status_change) => wrapped("statusUpdate", shape, out, |out| {
            json::object(out, |o| {
                head(o, "status-update", event, shape);
                let message = status_change.message.as_deref();
                let ids = (event.key.id, event.context);
                status(o, status_change.state, event.change.at, message, ids, shape);
                if shape.says_final {
                    flag(o, "final", event.last, shape);
                }
                if let Some(metadata) = status_change.metadata() {
                    o.raw("metadata", metadata.as_str());
                }
            });
        }),
    }
    true
}

fn head(o: &mut Object<'_>, name: &str, event: &Event<'_>, shape: &Shape) {
    kind(o, name, shape);
    o.ascii("taskId", &event.key.id.to_ascii());
    o.string("contextId", event.context.as_str());
}

/// A truth value that is left out where it is false, if the shape wants that.
fn flag(o: &mut Object<'_>, name: &str, value: bool, shape: &Shape) {
    if value || shape.defaults {
        o.plain(name, value);
    }
}

fn piece(o: &mut Object<'_>, update: &ArtifactUpdate, shape: &Shape) {
    o.object("artifact", |o| {
        o.string("artifactId", update.id.as_str());
        details(o, update.details.as_deref());
        o.array("parts", update.parts.as_slice(), |out, each| part(each, shape, out));
    });
}
