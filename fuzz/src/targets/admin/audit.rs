//! What is written down of a request: one line that says who did what to what, and nothing of what was sent.

use crate::conversation::Asked;
use a2ad_domain::AgentId;
use axum::http::StatusCode;
use serde_json::Value;

/// All that a line may say.
const MEMBERS: [&str; 9] =
    ["at", "operation", "subject", "operator", "peer", "outcome", "status", "tasks", "canceled"];

/// Checks what was written while a request was answered.
pub(super) fn check(
    text: &str,
    asked: &Asked,
    operator: Option<&str>,
    status: StatusCode,
    answer: Option<&Value>,
) {
    let (line, "") = text.split_once('\n').unwrap_or_default() else {
        panic!("no line, or more than one: {text:?}")
    };
    let line: Value = serde_json::from_str(line).expect("a line of JSON");
    let members = line.as_object().expect("an object");
    let other = members.keys().find(|name| !MEMBERS.contains(&&***name));
    assert_eq!(other, None, "{line}");
    let says = |name: &str| line[name].as_str();
    assert!(says("at").is_some());
    assert_eq!(says("operator"), operator, "{line}");
    assert_eq!(says("peer"), Some("127.0.0.1"));
    assert_eq!(line["status"], status.as_u16());
    assert_eq!(says("outcome"), Some(if status.is_success() { "done" } else { "refused" }));
    let path = asked.uri.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let (name, subject) = operation(asked.method.as_str(), &segments);
    if says("operation") == Some("none") {
        assert!(!status.is_success(), "done and not named: {line}");
        // An id that none can have may stand in the place of one.
        assert!(name == "none" || subject.is_some(), "{line}");
        return assert_eq!(says("subject"), None, "{line}");
    }
    assert_eq!(says("operation"), Some(name), "{line}");
    let added =
        if name == "agents.add" && operator.is_some() { added(asked, status) } else { None };
    let subject = added.as_deref().or(subject);
    let same = |said: &str, subject: &str| said.eq_ignore_ascii_case(subject);
    match (says("subject"), subject) {
        (Some(said), Some(subject)) => assert!(same(said, subject), "{line}"),
        (said, subject) => assert_eq!(said, subject, "{line}"),
    }
    let ends = ["agents.unpublish", "agents.remove"].contains(&name) && status.is_success();
    assert!(!ends || says("tasks").is_some(), "{line}");
    let canceled = answer.filter(|_| ends).and_then(|answer| answer.get("canceled"));
    assert_eq!(line.get("canceled"), canceled, "{line}");
}

/// The agent that was to be added, where what was sent was read and says it.
fn added(asked: &Asked, status: StatusCode) -> Option<String> {
    if [408, 413, 415].contains(&status.as_u16()) {
        return None;
    }
    let body: Value = serde_json::from_slice(&asked.body).ok()?;
    AgentId::new(body.get("id")?.as_str()?).ok().map(|id| id.to_string())
}

/// What a request is called, and what it is about.
fn operation<'a>(verb: &str, path: &[&'a str]) -> (&'static str, Option<&'a str>) {
    match (verb, path) {
        ("GET", ["agents"]) => ("agents.list", None),
        ("POST", ["agents"]) => ("agents.add", None),
        ("GET", ["agents", id]) => ("agents.get", Some(id)),
        ("PUT", ["agents", id]) => ("agents.change", Some(id)),
        ("DELETE", ["agents", id]) => ("agents.remove", Some(id)),
        ("POST", ["agents", id, "publish"]) => ("agents.publish", Some(id)),
        ("POST", ["agents", id, "unpublish"]) => ("agents.unpublish", Some(id)),
        ("GET", ["tasks"]) => ("tasks.list", None),
        ("GET", ["tasks", id]) => ("tasks.get", Some(id)),
        ("POST", ["tasks", id, "cancel"]) => ("tasks.cancel", Some(id)),
        _ => ("none", None),
    }
}
