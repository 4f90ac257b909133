//! Reads what the server answers into the words of the model, and checks on the way what the model has no
//! words for: names that agree and ids that are unique.

use super::reference::{Seen, State, View};
use serde_json::Value;
use std::collections::HashSet;

fn text_of(parts: &Value) -> String {
    let parts = parts.as_array().expect("parts");
    parts
        .iter()
        .map(|part| {
            assert_eq!(part["kind"], "text");
            part["text"].as_str().expect("a text")
        })
        .collect()
}

fn state(status: &Value) -> State {
    let name = status["state"].as_str().expect("a state");
    *State::ALL.iter().find(|state| state.name() == name).unwrap_or_else(|| panic!("state {name}"))
}

/// Milliseconds since the clock was set up; no test takes a second of its time.
fn at(status: &Value) -> i64 {
    let time = status["timestamp"].as_str().expect("a timestamp");
    let millis = time.strip_prefix("2026-01-01T00:00:00.").and_then(|rest| rest.strip_suffix('Z'));
    millis.and_then(|millis| millis.parse().ok()).unwrap_or_else(|| panic!("timestamp {time}"))
}

/// A message of a task: checked, then who said what.
fn message(message: &Value, task: &str, context: &str) -> (String, String) {
    assert_eq!(message["kind"], "message");
    assert_eq!(message["taskId"], task);
    assert_eq!(message["contextId"], context);
    let role = message["role"].as_str().expect("a role");
    (role.to_owned(), text_of(&message["parts"]))
}

fn status_text(status: &Value, task: &str, context: &str) -> Option<String> {
    let (role, text) = message(status.get("message")?, task, context);
    assert_eq!(role, "agent");
    // The id under which the reason is in the log differs from run to run.
    Some(if text.starts_with("The agent failed (reference ") { "failed".to_owned() } else { text })
}

/// A task as the server shows it.
pub(super) fn view(task: &Value, id: &str, context: &str) -> View {
    assert_eq!(task["kind"], "task", "{task}");
    assert_eq!(task["id"], id);
    assert_eq!(task["contextId"], context);
    let shown = task.get("history").map(|history| history.as_array().expect("an array"));
    let messages = shown.map(Vec::as_slice).unwrap_or_default();
    let ids: HashSet<_> =
        messages.iter().map(|m| m["messageId"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), messages.len(), "a message is there twice: {task}");
    let artifact = task.get("artifacts").map(|artifacts| {
        let artifacts = artifacts.as_array().expect("an array");
        assert_eq!(artifacts.len(), 1, "{task}");
        assert_eq!(artifacts[0]["artifactId"], "out-1");
        assert_eq!(artifacts[0]["parts"].as_array().map(Vec::len), Some(1), "merged: {task}");
        text_of(&artifacts[0]["parts"])
    });
    let status = &task["status"];
    View {
        state: state(status),
        at: at(status),
        status_text: status_text(status, id, context),
        history: messages.iter().map(|each| message(each, id, context)).collect(),
        artifact,
    }
}

/// An event as the server shows it.
pub(super) fn event(event: Option<u64>, result: &Value, task: &str, context: &str) -> Seen {
    let id = event.expect("an event without an id");
    let kind = result["kind"].as_str().unwrap_or_else(|| panic!("no event: {result}"));
    if kind == "task" {
        return Seen::Task { id, view: view(result, task, context) };
    }
    assert_eq!(result["taskId"], task);
    assert_eq!(result["contextId"], context);
    let flag = |name: &str| result[name].as_bool().unwrap_or_else(|| panic!("{name}: {result}"));
    if kind == "status-update" {
        let status = &result["status"];
        let text = status_text(status, task, context);
        return Seen::Status {
            id,
            state: state(status),
            at: at(status),
            text,
            last: flag("final"),
        };
    }
    assert_eq!(kind, "artifact-update", "{result}");
    assert_eq!(result["artifact"]["artifactId"], "out-1");
    let text = text_of(&result["artifact"]["parts"]);
    Seen::Piece { id, text, append: flag("append"), last: flag("lastChunk") }
}
