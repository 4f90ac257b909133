//! What is written is read back as what it was: all of it in the 1.0 line, and in the 0.3 line all but
//! what `losses` lists.

use super::losses;
use super::reader::{Reader, members, metadata, read};
use super::{Shape, dialects};
use crate::dialect::{Answer, Event, View, encode};
use a2ad_domain::testing::{generate, sample};
use a2ad_domain::{
    Artifact, Change, Content, ContextId, Message, Part, Parts, RawJson, Recorded, Task, Version,
};
use proptest::prelude::*;
use std::sync::Arc;

/// A message whose data is any JSON and not only objects.
fn message() -> impl Strategy<Value = Message> {
    let values = ["null", "[1,{\"a\":null}]", "\"x\\u0000\"", "1.50", "true", "{\"value\":1}"];
    let value = proptest::sample::select(values.to_vec());
    (generate::message(), value, any::<bool>()).prop_map(|(message, value, replace)| {
        let data = RawJson::parse(value).expect("JSON");
        let part = |part: &Part| match &part.content {
            Content::Data(_) if replace => {
                Part { content: Content::Data(data.clone()), label: part.label.clone() }
            }
            Content::Text(_) | Content::Bytes(_) | Content::Url(_) | Content::Data(_) => {
                part.clone()
            }
        };
        let parts = message.parts.as_slice().iter().map(part).collect();
        Message { parts: Parts::new(parts).expect("as many as before"), ..message }
    })
}

fn written(answer: &Answer<'_>, shape: &Shape) -> String {
    let mut out = Vec::new();
    encode::answer(answer, shape, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

/// The parts of an artifact with neighbouring plain texts joined, which is how a task shows them.
fn joined(artifact: &Artifact) -> Parts {
    let mut parts: Vec<Part> = Vec::new();
    for part in artifact.parts() {
        match (parts.last().and_then(Part::plain_text), part.plain_text()) {
            (Some(before), Some(text)) => {
                let text = format!("{before}{text}");
                parts.pop();
                parts.push(Part::text(text));
            }
            _ => parts.push(part.clone()),
        }
    }
    Parts::new(parts).expect("an artifact has parts")
}

fn check_task(text: &str, task: &Task, reader: Reader) {
    let shape = reader.shape;
    let all = members(text);
    assert_eq!(read::<String>(all["id"]), task.key().id.to_string());
    assert_eq!(read::<String>(all["contextId"]), task.context().as_str());
    let said = task.status_message().map(|message| losses::message(message, shape));
    assert_eq!(reader.status(all["status"].get()), (task.state(), task.status_at(), said));
    let history: Vec<&serde_json::value::RawValue> =
        all.get("history").map(|history| read(history)).unwrap_or_default();
    assert_eq!(history.len(), task.history().len());
    for (text, wanted) in history.iter().zip(task.history()) {
        let (message, context, id) = reader.message(text.get());
        assert_eq!(message, losses::message(wanted, shape));
        assert_eq!(context.as_deref(), Some(task.context().as_str()));
        assert_eq!(id, Some(task.key().id.to_string()));
    }
    let artifacts: Vec<&serde_json::value::RawValue> =
        all.get("artifacts").map(|artifacts| read(artifacts)).unwrap_or_default();
    assert_eq!(artifacts.len(), task.artifacts().len());
    for (text, wanted) in artifacts.iter().zip(task.artifacts()) {
        check_artifact(
            text.get(),
            wanted.id.as_str(),
            &joined(wanted),
            wanted.details.as_deref(),
            reader,
        );
    }
}

fn check_artifact(
    text: &str,
    id: &str,
    parts: &Parts,
    details: Option<&a2ad_domain::Details>,
    reader: Reader,
) {
    let all = members(text);
    assert_eq!(read::<String>(all["artifactId"]), id);
    assert_eq!(reader.parts(all["parts"].get()), losses::parts(parts, reader.shape));
    let details = details.cloned().unwrap_or_default();
    let said = |name: &str| all.get(name).map(|text| Arc::from(read::<String>(text)));
    assert_eq!(said("name"), details.name);
    assert_eq!(said("description"), details.description);
    assert_eq!(metadata(&all), details.metadata);
    let extensions: Vec<String> = all.get("extensions").map(|it| read(it)).unwrap_or_default();
    let wanted: Vec<&str> = details.extensions.iter().map(|name| &**name).collect();
    assert_eq!(extensions, wanted);
}

fn check_event(change: &Change, last: bool, reader: Reader) {
    let (key, context) = (sample::key(5), ContextId::new("c-1").expect("a context id"));
    let change = Recorded { version: Version(3), at: sample::at(77), change: change.clone() };
    let event = Event { key: &key, context: &context, change: &change, last };
    let mut out = Vec::new();
    let shown = encode::change(&event, reader.shape, &mut out);
    let text = String::from_utf8(out).expect("UTF-8");
    let all = |name| members(reader.unwrapped(&text, name));
    let flag =
        |all: &super::reader::Members<'_>, name: &str| all.get(name).is_some_and(|it| read(it));
    match &change.change {
        Change::Message(_) => assert!(!shown),
        Change::Status(status) => {
            let all = all("statusUpdate");
            assert_eq!(read::<String>(all["taskId"]), key.id.to_string());
            assert_eq!(read::<String>(all["contextId"]), "c-1");
            let said = status.message.as_deref();
            let said = said.map(|message| losses::message(message, reader.shape));
            assert_eq!(reader.status(all["status"].get()), (status.state, change.at, said));
            assert_eq!(flag(&all, "final"), last && reader.shape.says_final);
        }
        Change::Artifact(piece) => {
            let all = all("artifactUpdate");
            let (id, details) = (piece.id.as_str(), piece.details.as_deref());
            check_artifact(all["artifact"].get(), id, &piece.parts, details, reader);
            let flags = (flag(&all, "append"), flag(&all, "lastChunk"));
            assert_eq!(flags, (piece.append, piece.last));
        }
    }
}

proptest! {
    #[test]
    fn a_message_comes_back(message in message()) {
        let context = ContextId::new("c \"1\"").expect("a context id");
        for (name, dialect, shape) in dialects() {
            let reader = Reader { dialect, shape };
            let text = written(&Answer::Message(&message, &context), shape);
            let inside = reader.unwrapped(&text, "message");
            let (read, in_context, task) = reader.message(inside);
            prop_assert_eq!(&read, &losses::message(&message, shape), "{}", name);
            prop_assert_eq!((in_context.as_deref(), task), (Some("c \"1\""), None));
            // The second time around nothing is lost any more.
            let again = written(&Answer::Message(&read, &context), shape);
            prop_assert_eq!(again, text.clone(), "{}", name);
        }
    }

    #[test]
    fn a_task_comes_back(task in generate::task()) {
        for (_, dialect, shape) in dialects() {
            let reader = Reader { dialect, shape };
            check_task(&written(&Answer::Task(&task, View::WHOLE), shape), &task, reader);
            let sent = written(&Answer::Sent(&task, View::WHOLE), shape);
            check_task(reader.unwrapped(&sent, "task"), &task, reader);
        }
    }

    #[test]
    fn an_event_comes_back(change in generate::change(), last in any::<bool>()) {
        for (_, dialect, shape) in dialects() {
            check_event(&change, last, Reader { dialect, shape });
        }
    }
}
