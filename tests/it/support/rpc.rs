//! The routes that take JSON-RPC, and what each of their answers holds whatever the call was.

use super::{Reply, TestServer};
use a2ad_domain::ErrorCode;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The echo agent's route, which speaks the 0.3 line as it is written down.
pub(crate) const ECHO: &str = "/api/v1/a2a/echo/jsonrpc";
/// The route with the spellings of PraisonAI's clients.
pub(crate) const PRAISON: &str = "/a2a";
/// All routes of the echo agent.
pub(crate) const ROUTES: [&str; 3] = [ECHO, "/", PRAISON];

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

/// An answer whose frame has been checked. The result is left as text: it may hold what no tree of values
/// keeps, such as long numbers and deep nesting.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    /// The id as it stands.
    pub(crate) id: String,
    pub(crate) outcome: Result<String, Value>,
}

impl Answered {
    /// Checks what a body or a frame holds: one answer, with a result or an error and not both, and of an
    /// error only what callers may see.
    pub(crate) fn read(text: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(&text[..text.len().min(2_000)]);
        let read: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_slice(text);
        let mut members = read.unwrap_or_else(|error| panic!("{error}: {shown}"));
        let version = members.remove("jsonrpc").map(RawValue::get);
        assert_eq!(version, Some("\"2.0\""), "{shown}");
        let id = members.remove("id").unwrap_or_else(|| panic!("no id: {shown}")).get().to_owned();
        assert_eq!(members.len(), 1, "one of result and error: {shown}");
        let outcome = match members.pop_first() {
            Some((name, result)) if name == "result" => Ok(result.get().to_owned()),
            Some((name, error)) if name == "error" => Err(error_object(error.get())),
            _ => panic!("no result and no error: {shown}"),
        };
        Self { id, outcome }
    }

    pub(crate) fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        assert_eq!(reply.headers["content-type"], "application/json");
        Self::read(&reply.body)
    }

    /// The result of a call that has to succeed.
    pub(crate) fn result(&self) -> Value {
        let text = self.outcome.as_ref().unwrap_or_else(|error| panic!("{error}"));
        serde_json::from_str(text).expect("JSON")
    }

    /// The result as it stands.
    pub(crate) fn text(&self) -> &str {
        self.outcome.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The error of a call that has to fail.
    pub(crate) fn error(&self) -> &Value {
        match &self.outcome {
            Ok(result) => panic!("a result: {}", result.chars().take(500).collect::<String>()),
            Err(error) => error,
        }
    }

    pub(crate) fn code(&self) -> i64 {
        self.error()["code"].as_i64().expect("a code")
    }
}

fn error_object(text: &str) -> Value {
    let error: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let members = error.as_object().expect("an error object");
    let known = |name: &String| ["code", "message", "data"].contains(&name.as_str());
    assert!(members.keys().all(known), "{error}");
    let code = error["code"].as_i64().expect("an integer");
    let numbers = ErrorCode::ALL.map(|code| i64::from(code.number()));
    assert!(numbers.contains(&code), "{error}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    error
}

/// One call in any bytes.
pub(crate) async fn call(server: &TestServer, route: &str, body: impl Into<Vec<u8>>) -> Answered {
    Answered::of(&server.post(route, &[JSON], body.into()).await)
}

/// Fails unless an ordinary message is still answered on the route.
pub(crate) async fn still_works(server: &TestServer, route: &str) {
    let body = super::caller::request("message/send", &super::caller::Message::new("x").params());
    let task = call(server, route, body.to_string()).await.result();
    assert_eq!(task["status"]["state"], "completed", "{task}");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "x", "{task}");
}
