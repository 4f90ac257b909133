//! What PraisonAI's documentation of tasks shows: every call, state, error and program of it, at `/a2a`.

mod calls;
mod context;
mod errors;
mod programs;
mod states;
mod store;
mod streams;

use crate::support::TestServer;
use crate::support::agents::{Gated, Gates, agent_with};
use a2ad_domain::AgentSettings;
use serde_json::{Value, json};
use std::time::Duration;

/// The agent that does what its text says answers at `/a2a`. It is not given time to clean up after a
/// cancel, since it would not use it.
const AGENT: &str = r#"
[[agent]]
id = "script"
executor = { kind = "script" }
grace = "0s"
"#;

const RPC: &str = "/a2a";

/// The same agent, which takes `auth-gate …` as well: it requires credentials until it is canceled.
async fn gated() -> (TestServer, Gates) {
    let (executor, gates) = Gated::new();
    let settings = AgentSettings { grace: Duration::ZERO, ..AgentSettings::default() };
    let agent = agent_with("script", settings, executor);
    (TestServer::custom(AGENT, |builder| builder.with_agent(agent)).await, gates)
}

/// A call as the documented clients make it; its answer, which comes over HTTP 200 whatever it is.
async fn call(server: &TestServer, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "method": method, "id": "1", "params": params });
    let answer = server.rpc_at(RPC, body).await;
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("1")), "{answer}");
    answer
}

async fn result(server: &TestServer, method: &str, params: Value) -> Value {
    let mut answer = call(server, method, params).await;
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

async fn error(server: &TestServer, method: &str, params: Value) -> Value {
    let mut answer = call(server, method, params).await;
    assert!(answer.get("result").is_none(), "{answer}");
    answer["error"].take()
}

/// The parameters of a send: parts without a kind, no id of the message.
fn saying(text: &str) -> Value {
    json!({ "message": { "role": "user", "parts": [{ "text": text }] } })
}

async fn send(server: &TestServer, text: &str) -> Value {
    result(server, "message/send", saying(text)).await
}

/// A task that is at work until it is canceled.
async fn running(server: &TestServer) -> Value {
    let mut params = saying("hang on");
    params["configuration"] = json!({ "blocking": false });
    result(server, "message/send", params).await
}

async fn get(server: &TestServer, task: &Value) -> Value {
    result(server, "tasks/get", json!({ "id": task["id"] })).await
}

async fn cancel(server: &TestServer, task: &Value) -> Value {
    result(server, "tasks/cancel", json!({ "id": task["id"] })).await
}
