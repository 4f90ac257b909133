//! Writes the shapes of the 0.3 line (specification 0.3 §6 and §7.2).

use crate::dialect::profile::Profile;
use crate::dialect::{Answer, Event, View};
use crate::json::{self, Object};
use a2ad_domain::ports::Page;
use a2ad_domain::{
    Artifact, ArtifactUpdate, Change, Content, ContextId, Details, Message, Part, Role, Task,
    TaskId, TaskState, Timestamp,
};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;

pub(super) fn answer(answer: &Answer<'_>, profile: &Profile, out: &mut Vec<u8>) {
    match answer {
        Answer::Task(task, view) => self::task(task, *view, profile, out),
        Answer::Message(message, context) => {
            json::object(out, |o| members_of_message(o, message, None, context, profile));
        }
        Answer::Page { page, view, .. } if profile.bare_list => tasks(page, *view, profile, out),
        Answer::Page { page, size, token, view } => json::object(out, |o| {
            tasks(page, *view, profile, o.member("tasks"));
            o.string("nextPageToken", token);
            o.plain("pageSize", size);
            o.plain("totalSize", page.total);
        }),
    }
}

fn tasks(page: &Page, view: View, profile: &Profile, out: &mut Vec<u8>) {
    json::array(out, &page.tasks, |out, task| self::task(task, view, profile, out));
}

fn kind(o: &mut Object<'_>, kind: &str, profile: &Profile) {
    if profile.kind {
        o.string("kind", kind);
    }
}

fn task(task: &Task, view: View, profile: &Profile, out: &mut Vec<u8>) {
    let (id, context) = (task.key().id, task.context());
    json::object(out, |o| {
        kind(o, "task", profile);
        o.ascii("id", &id.to_ascii());
        o.string("contextId", context.as_str());
        status(
            o,
            task.state(),
            task.status_at(),
            task.status_message().map(|message| &**message),
            (id, context),
            profile,
        );
        if view.artifacts && !task.artifacts().is_empty() {
            o.array("artifacts", task.artifacts(), |out, each| artifact(each, profile, out));
        }
        let history = task.history_tail(view.history);
        // A client that asks for messages gets the member, even if there are none to put into it.
        if !history.is_empty() || view.history.is_some_and(|limit| limit > 0) {
            o.array("history", history, |out, message| {
                json::object(out, |o| members_of_message(o, message, Some(id), context, profile));
            });
        }
    });
}

fn status(
    o: &mut Object<'_>,
    state: TaskState,
    at: Timestamp,
    message: Option<&Message>,
    (id, context): (TaskId, &ContextId),
    profile: &Profile,
) {
    o.object("status", |o| {
        o.string("state", profile.state(state));
        o.ascii("timestamp", &at.to_ascii());
        if let Some(message) = message {
            o.object("message", |o| members_of_message(o, message, Some(id), context, profile));
        }
    });
}

fn members_of_message(
    o: &mut Object<'_>,
    message: &Message,
    task: Option<TaskId>,
    context: &ContextId,
    profile: &Profile,
) {
    kind(o, "message", profile);
    let role = match message.role {
        Role::User => "user",
        Role::Agent => "agent",
    };
    o.string("role", role);
    o.string("messageId", message.id.as_str());
    if let Some(task) = task {
        o.ascii("taskId", &task.to_ascii());
    }
    o.string("contextId", context.as_str());
    o.array("parts", message.parts.as_slice(), |out, each| part(each, profile, out));
    if !message.references.is_empty() {
        o.strings("referenceTaskIds", message.references.iter());
    }
    if !message.extensions.is_empty() {
        o.strings("extensions", message.extensions.iter());
    }
    if let Some(metadata) = &message.metadata {
        o.raw("metadata", metadata.as_str());
    }
}

fn part(part: &Part, profile: &Profile, out: &mut Vec<u8>) {
    json::object(out, |o| {
        let label = part.label.as_deref();
        let file = |o: &mut Object<'_>, content: &dyn Fn(&mut Object<'_>)| {
            kind(o, "file", profile);
            o.object("file", |o| {
                content(o);
                o.maybe("mimeType", label.and_then(|label| label.media_type.as_deref()));
                o.maybe("name", label.and_then(|label| label.filename.as_deref()));
            });
        };
        match &part.content {
            Content::Text(text) => {
                kind(o, "text", profile);
                o.string("text", text);
            }
            Content::Bytes(bytes) => {
                file(o, &|o| o.displayed("bytes", Base64Display::new(bytes, &STANDARD)));
            }
            Content::Url(url) => file(o, &|o| o.string("uri", url)),
            Content::Data(data) => {
                kind(o, "data", profile);
                o.raw("data", data.as_str());
            }
        }
        if let Some(metadata) = label.and_then(|label| label.metadata.as_ref()) {
            o.raw("metadata", metadata.as_str());
        }
    });
}

fn artifact(artifact: &Artifact, profile: &Profile, out: &mut Vec<u8>) {
    json::object(out, |o| {
        o.string("artifactId", artifact.id.as_str());
        details(o, artifact.details.as_deref());
        merged_parts(artifact, profile, o.member("parts"));
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
fn merged_parts(artifact: &Artifact, profile: &Profile, out: &mut Vec<u8>) {
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
            part(first, profile, out);
            continue;
        }
        let mut run = vec![first];
        while let Some(next) = parts.next_if(|next| next.plain_text().is_some()) {
            run.push(next);
        }
        json::object(out, |o| {
            kind(o, "text", profile);
            json::joined(o.member("text"), run.iter().filter_map(|part| part.plain_text()));
        });
    }
    out.push(b']');
}

pub(super) fn change(event: &Event<'_>, profile: &Profile, out: &mut Vec<u8>) -> bool {
    let Event { key, context, change, last } = event;
    let status_change = match &change.change {
        Change::Message(_) => return false,
        Change::Artifact(update) => {
            json::object(out, |o| {
                kind(o, "artifact-update", profile);
                o.ascii("taskId", &key.id.to_ascii());
                o.string("contextId", context.as_str());
                piece(o, update, profile);
                o.plain("append", update.append);
                o.plain("lastChunk", update.last);
            });
            return true;
        }
        Change::Status(status) => status,
    };
    json::object(out, |o| {
        kind(o, "status-update", profile);
        o.ascii("taskId", &key.id.to_ascii());
        o.string("contextId", context.as_str());
        let message = status_change.message.as_deref();
        status(o, status_change.state, change.at, message, (key.id, context), profile);
        o.plain("final", last);
    });
    true
}

fn piece(o: &mut Object<'_>, update: &ArtifactUpdate, profile: &Profile) {
    o.object("artifact", |o| {
        o.string("artifactId", update.id.as_str());
        details(o, update.details.as_deref());
        o.array("parts", update.parts.as_slice(), |out, each| part(each, profile, out));
    });
}
