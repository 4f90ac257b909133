//! The shapes of the 1.0 line, as strict as its conformance suites: what is not listed must be absent,
//! nothing is null, and everything required is there.

use serde_json::{Map, Value};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

const STATES: [&str; 8] = [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_AUTH_REQUIRED",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_REJECTED",
];

/// The members of an object, all of which are known, with the required ones among them.
#[track_caller]
fn object<'v>(value: &'v Value, required: &[&str], optional: &[&str]) -> &'v Map<String, Value> {
    let members = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    for name in required {
        assert!(members.contains_key(*name), "{name} is missing: {value}");
    }
    for (name, member) in members {
        let known = required.contains(&name.as_str()) || optional.contains(&name.as_str());
        assert!(known, "{name} does not belong here: {value}");
        assert!(!member.is_null() || name == "data", "{name} is null: {value}");
    }
    members
}

#[track_caller]
fn array<'v>(value: &'v Value, what: &str) -> &'v [Value] {
    value.as_array().unwrap_or_else(|| panic!("{what} is no array: {value}"))
}

/// A text, which is not empty where it is required.
#[track_caller]
fn filled(value: &Value) {
    assert!(value.as_str().is_some_and(|text| !text.is_empty()), "no text: {value}");
}

/// Checks the result of a call.
#[track_caller]
pub(crate) fn result(method: &str, value: &Value) {
    match method {
        "SendMessage" => {
            let members = object(value, &[], &["task", "message"]);
            assert_eq!(members.len(), 1, "one of task and message: {value}");
            members.get("task").map(task);
            members.get("message").map(message);
        }
        "GetTask" | "CancelTask" => task(value),
        "ListTasks" => page(value),
        "CreateTaskPushNotificationConfig" | "GetTaskPushNotificationConfig" => webhook(value),
        "ListTaskPushNotificationConfigs" => {
            let page = object(value, &["configs"], &["nextPageToken"]);
            array(&page["configs"], "configs").iter().for_each(webhook);
        }
        "DeleteTaskPushNotificationConfig" => assert!(value.is_null(), "{value}"),
        _ => panic!("{method} has no result over JSON-RPC that is checked"),
    }
}

/// Checks one event of a stream.
#[track_caller]
pub(crate) fn stream(value: &Value) {
    let kinds = ["task", "message", "statusUpdate", "artifactUpdate"];
    let members = object(value, &[], &kinds);
    assert_eq!(members.len(), 1, "exactly one of {kinds:?}: {value}");
    members.get("task").map(task);
    members.get("message").map(message);
    if let Some(event) = members.get("statusUpdate") {
        let event = object(event, &["taskId", "contextId", "status"], &["metadata"]);
        status(&event["status"]);
    }
    if let Some(event) = members.get("artifactUpdate") {
        let optional = ["append", "lastChunk", "metadata"];
        let event = object(event, &["taskId", "contextId", "artifact"], &optional);
        artifact(&event["artifact"]);
        for flag in ["append", "lastChunk"] {
            // What is false is left out.
            assert!(event.get(flag).is_none_or(|flag| *flag == true), "{flag}: {value}");
        }
    }
}

#[track_caller]
fn webhook(value: &Value) {
    let webhook = object(value, &["taskId", "id", "url"], &["token", "authentication"]);
    ["taskId", "id", "url"].iter().for_each(|name| filled(&webhook[*name]));
    if let Some(authentication) = webhook.get("authentication") {
        filled(&object(authentication, &["scheme"], &["credentials"])["scheme"]);
    }
}

#[track_caller]
fn page(value: &Value) {
    let page = object(value, &["tasks", "nextPageToken", "pageSize", "totalSize"], &[]);
    array(&page["tasks"], "tasks").iter().for_each(task);
    assert!(page["nextPageToken"].is_string() && page["pageSize"].is_u64(), "{value}");
    assert!(page["totalSize"].is_u64(), "{value}");
}

#[track_caller]
pub(super) fn task(value: &Value) {
    let optional = ["artifacts", "history", "metadata"];
    let task = object(value, &["id", "contextId", "status"], &optional);
    filled(&task["id"]);
    filled(&task["contextId"]);
    status(&task["status"]);
    if let Some(artifacts) = task.get("artifacts") {
        array(artifacts, "artifacts").iter().for_each(artifact);
    }
    if let Some(history) = task.get("history") {
        array(history, "history").iter().for_each(message);
    }
}

#[track_caller]
fn status(value: &Value) {
    let status = object(value, &["state", "timestamp"], &["message"]);
    assert!(STATES.contains(&status["state"].as_str().unwrap_or_default()), "{value}");
    let time = status["timestamp"].as_str().expect("a time");
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{value}");
    status.get("message").map(message);
}

#[track_caller]
fn message(value: &Value) {
    let optional = ["taskId", "contextId", "metadata", "extensions", "referenceTaskIds"];
    let message = object(value, &["role", "messageId", "parts"], &optional);
    assert!(["ROLE_USER", "ROLE_AGENT"].contains(&message["role"].as_str().unwrap_or_default()));
    filled(&message["messageId"]);
    parts(&message["parts"]);
}

#[track_caller]
fn artifact(value: &Value) {
    let optional = ["name", "description", "metadata", "extensions"];
    let artifact = object(value, &["artifactId", "parts"], &optional);
    filled(&artifact["artifactId"]);
    parts(&artifact["parts"]);
}

#[track_caller]
fn parts(value: &Value) {
    let parts = array(value, "parts");
    assert!(!parts.is_empty(), "no parts: {value}");
    for part in parts {
        let contents = ["text", "raw", "url", "data"];
        let labels = ["metadata", "mediaType", "filename"];
        let members = object(part, &[], &[&contents[..], &labels[..]].concat());
        let held = contents.iter().filter(|content| members.contains_key(**content));
        assert_eq!(held.count(), 1, "one content: {part}");
        assert!(members.get("metadata").is_none_or(Value::is_object), "{part}");
    }
}

/// Checks an error of JSON-RPC, whose code says which details it carries.
#[track_caller]
pub(super) fn error(value: &Value) {
    let bare = [-32700, -32600, -32601].contains(&value["code"].as_i64().expect("a code"));
    let data: &[&str] = if bare { &[] } else { &["data"] };
    let error = object(value, &[&["code", "message"], data].concat(), &[]);
    error.get("data").map(details);
}

/// Checks an error over HTTP+JSON.
#[track_caller]
pub(super) fn http_error(status: u16, value: &Value) {
    let body = object(value, &["error"], &[]);
    let error = object(&body["error"], &["code", "status", "message", "details"], &[]);
    assert_eq!(error["code"], status, "{value}");
    filled(&error["status"]);
    filled(&error["message"]);
    details(&error["details"]);
}

/// Checks the typed details of an error. The first says the reason; what is about one field names it.
#[track_caller]
fn details(value: &Value) {
    let details = array(value, "details");
    let info = object(&details[0], &["@type", "reason", "domain", "metadata"], &[]);
    assert_eq!(info["@type"], ERROR_INFO, "{value}");
    assert_eq!(info["domain"], "a2a-protocol.org", "{value}");
    let reason = info["reason"].as_str().expect("a reason");
    assert!(reason.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{reason}");
    let metadata = info["metadata"].as_object().expect("an object");
    assert!(metadata.values().all(Value::is_string), "a map of texts: {value}");
    for detail in &details[1..] {
        let detail = object(detail, &["@type", "fieldViolations"], &[]);
        assert_eq!(detail["@type"], BAD_REQUEST, "{value}");
        for violation in array(&detail["fieldViolations"], "fieldViolations") {
            let violation = object(violation, &["field", "description"], &[]);
            filled(&violation["field"]);
            filled(&violation["description"]);
        }
    }
}

/// The reason of an error, over JSON-RPC or HTTP+JSON.
#[track_caller]
pub(super) fn reason(error: &Value) -> &str {
    let details = error.get("data").unwrap_or_else(|| &error["error"]["details"]);
    details[0]["reason"].as_str().unwrap_or_else(|| panic!("no reason: {error}"))
}

/// The field that an error is about, over JSON-RPC or HTTP+JSON.
#[track_caller]
pub(super) fn field(error: &Value) -> &str {
    let details = error.get("data").unwrap_or_else(|| &error["error"]["details"]);
    let field = &details[1]["fieldViolations"][0]["field"];
    field.as_str().unwrap_or_else(|| panic!("no field: {error}"))
}
