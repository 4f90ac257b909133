//! Whatever comes in over the 1.0 line or HTTP+JSON, the answer is one that is defined.

use super::client::{JSON, LINE_1, http, rest, rpc, text};
use super::schema;
use crate::support::TestServer;
use crate::support::agents::soon;
use crate::support::rpc::Answered;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Runs `test` on values from `strategy` against one server, which has to be in order afterwards.
fn feed<S: Strategy>(cases: u32, strategy: S, test: impl AsyncFn(&TestServer, S::Value)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(TestServer::start());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&strategy, |value| {
        runtime.block_on(soon("a defined answer", test(&server, value)));
        Ok(())
    });
    if let Err(problem) = outcome {
        panic!("{problem}");
    }
    runtime.block_on(async {
        let body = json!({ "message": text("still there") }).to_string();
        let reply = http(&server, "POST", &rest("echo", "message:send"), &[JSON], Some(body)).await;
        assert_eq!(reply.json()["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        // A stream that was opened and not read is not left over.
        server.finish().await;
    });
}

/// Values at the edges of their types.
fn value() -> impl Strategy<Value = Value> {
    let edges = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1.0),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("\u{0}\u{2028}"),
        json!("ROLE_USER"),
        json!("TASK_STATE_WORKING"),
        json!("1.0"),
        json!("2999-12-31T23:59:59.999999999999Z"),
        json!("9".repeat(400)),
        json!([]),
        json!([null]),
        json!([[[]]]),
        json!({}),
        json!({ "": {} }),
        json!({ "id": "x", "message": {} }),
    ];
    prop_oneof![
        6 => select(edges.to_vec()),
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => any::<String>().prop_map(|text| json!(text)),
    ]
}

/// Good parameters of each call.
fn calls() -> Vec<(&'static str, Value)> {
    let message = json!({
        "role": "ROLE_USER", "messageId": "m", "contextId": "c", "metadata": { "a": [1] },
        "extensions": ["urn:a"], "referenceTaskIds": ["t"],
        "parts": [
            { "text": "x", "metadata": {} },
            { "raw": "aGk=", "mediaType": "image/png", "filename": "a" },
            { "url": "https://example.org/a" },
            { "data": [null] },
        ],
    });
    let configuration =
        json!({ "historyLength": 1, "acceptedOutputModes": ["*/*"], "returnImmediately": false });
    let send =
        json!({ "tenant": "", "message": message, "configuration": configuration, "metadata": {} });
    let list = json!({
        "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 3, "pageToken": "", "historyLength": 0,
        "statusTimestampAfter": "2026-01-01T00:00:00Z", "includeArtifacts": true,
    });
    vec![
        ("SendMessage", send.clone()),
        ("SendStreamingMessage", send),
        ("GetTask", json!({ "tenant": "", "id": "t", "historyLength": 1 })),
        ("CancelTask", json!({ "id": "t", "metadata": {} })),
        ("SubscribeToTask", json!({ "id": "t" })),
        ("ListTasks", list),
        ("GetExtendedAgentCard", json!({})),
        (
            "CreateTaskPushNotificationConfig",
            json!({ "taskId": "t", "url": "https://example.org/" }),
        ),
    ]
}

/// Puts a value somewhere into another one, or takes a member away.
fn spoil(target: &mut Value, mut place: usize, new: &Value, drop: bool) {
    let mut here = target;
    loop {
        let size = match here {
            Value::Object(members) => members.len(),
            Value::Array(items) => items.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        if size == 0 || place.is_multiple_of(3) {
            *here = new.clone();
            return;
        }
        place /= 3;
        let index = place % size;
        place /= size;
        match here {
            Value::Object(members) => {
                let name = members.keys().nth(index).expect("a member").clone();
                if drop && place.is_multiple_of(2) {
                    members.remove(&name);
                    return;
                }
                here = &mut members[&name];
            }
            Value::Array(items) => here = &mut items[index],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        }
    }
}

fn spoiled() -> impl Strategy<Value = (&'static str, Value)> {
    let mistakes = vec((any::<usize>(), value(), any::<bool>()), 1..4);
    (select(calls()), mistakes).prop_map(|((method, mut params), mistakes)| {
        for (place, new, drop) in mistakes {
            spoil(&mut params, place, &new, drop);
        }
        (method, params)
    })
}

/// What an answer over JSON-RPC may be: a result or an error in the shape of the line.
fn check_rpc(reply: &crate::support::Reply, method: Option<&str>) {
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    if reply.headers["content-type"] == "text/event-stream" {
        return;
    }
    let answered = Answered::of(reply);
    match (answered.outcome, method) {
        (Err(error), _) => {
            schema::error(&error);
            assert_ne!(error["code"], -32603, "{error}");
        }
        (Ok(result), Some(method)) => {
            schema::result(method, &serde_json::from_str(&result).expect("JSON"));
        }
        (Ok(result), None) => panic!("bytes made a call: {result}"),
    }
}

#[test]
fn parameters_in_which_anything_is_wrong_get_a_defined_answer() {
    feed(600, spoiled(), async |server, (method, params)| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let reply = server.post(&rpc("echo"), &[JSON, LINE_1], body.to_string()).await;
        check_rpc(&reply, Some(method));
    });
}

#[test]
fn bodies_of_paths_in_which_anything_is_wrong_get_a_defined_answer() {
    feed(500, (spoiled(), any::<bool>()), async |server, ((method, params), old)| {
        let (verb, path) = match method {
            "SendMessage" => ("POST", "message:send"),
            "SendStreamingMessage" => ("POST", "message:stream"),
            "CancelTask" => ("POST", "tasks/t:cancel"),
            "SubscribeToTask" => ("POST", "tasks/t:subscribe"),
            "CreateTaskPushNotificationConfig" => ("POST", "tasks/t/pushNotificationConfigs"),
            _ => ("GET", "tasks/t"),
        };
        let path = format!("{}{path}", if old { "v1/" } else { "" });
        let body = Some(params.to_string());
        let reply = http(server, verb, &rest("echo", &path), &[JSON], body).await;
        check_http(&reply, old);
    });
}

fn check_http(reply: &crate::support::Reply, old: bool) {
    let kind = reply.headers["content-type"].to_str().expect("a text");
    match reply.status {
        200 => assert!(["application/json", "text/event-stream"].contains(&kind)),
        400..500 if old => assert!(reply.json()["code"].is_i64(), "{}", reply.json()),
        400..500 => schema::http_error(reply.status, &reply.json()),
        status => panic!("{status}: {}", String::from_utf8_lossy(&reply.body)),
    }
}

#[test]
fn any_bytes_for_a_body_get_a_defined_answer() {
    let pieces = select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "\"message\"",
        "\"jsonrpc\":\"2.0\"",
        "\u{feff}",
        "\\ud800",
        "1e999",
    ]);
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..60),
        vec(pieces, 0..12).prop_map(|pieces| pieces.concat().into_bytes()),
    ];
    feed(
        400,
        (bytes, select(vec!["rpc", "message:send", "message:stream", "v1/message:send"])),
        async |server, (bytes, path)| {
            if path == "rpc" {
                let reply = server.post(&rpc("echo"), &[JSON, LINE_1], bytes).await;
                return check_rpc(&reply, None);
            }
            let reply = server.post(&rest("echo", path), &[JSON], bytes).await;
            assert_eq!(reply.status, 400);
            check_http(&reply, path.starts_with("v1/"));
        },
    );
}

#[test]
fn any_query_gets_a_defined_answer() {
    let names = select(vec![
        "contextId",
        "status",
        "pageSize",
        "pageToken",
        "historyLength",
        "statusTimestampAfter",
        "includeArtifacts",
        "tenant",
        "id",
        "A2A-Version",
        "context_id",
        "page_size",
        "lastUpdatedAfter",
        "",
        "zzz",
    ]);
    let values = prop_oneof![
        3 => select(vec!["", "1", "0", "-1", "x", "true", "%00", "%FF", "%", "%2", "+", "a=b", "1.0", "2026-01-01T00:00:00Z"])
            .prop_map(str::to_owned),
        1 => "[!-~]{0,12}".prop_map(|text| text.replace(['#', '<', '>', '"', '`', '{', '}', '|', '\\', '^'], "_")),
    ];
    let query = vec((names, values), 0..4);
    let paths = select(vec![
        "tasks",
        "tasks/t",
        "tasks/t:subscribe",
        "v1/tasks",
        "v1/tasks/t",
        "extendedAgentCard",
    ]);
    feed(500, (query, paths), async |server, (query, path)| {
        let pairs: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let path = format!("{}?{}", rest("echo", path), pairs.join("&"));
        let reply = http(server, "GET", &path, &[], None).await;
        check_http(&reply, path.contains("/echo/v1/"));
    });
}

#[test]
fn any_header_of_versions_and_extensions_gets_a_defined_answer() {
    let names = vec![
        "a2a-version",
        "a2a-extensions",
        "x-a2a-extensions",
        "last-event-id",
        "accept",
        "if-none-match",
    ];
    let headers = vec((any::<Index>(), "[ -~]{0,20}"), 0..5);
    feed(300, headers, async |server, headers| {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name.get(&names), value.as_str())).collect();
        let all: Vec<_> = headers.iter().copied().chain([JSON]).collect();
        let body = json!({ "message": text("x") });
        let call = super::client::request("SendMessage", &body).to_string();
        let reply = server.post(&rpc("echo"), &all, call).await;
        assert_eq!(reply.status, 200);
        Answered::of(&reply);
        let reply = server.post(&rest("echo", "message:send"), &all, body.to_string()).await;
        assert!([200, 400].contains(&reply.status), "{}", reply.status);
        reply.json();
        let reply = server.get("/.well-known/agent-card.json", &headers).await;
        assert!([200, 304].contains(&reply.status), "{}", reply.status);
    });
}
