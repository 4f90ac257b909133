//! Programs that are not ours: the documented client in Python, and the documented lines of curl.

use super::{AGENT, cancel, get, running, send};
use crate::support::TestServer;
use crate::support::agents::soon;
use crate::support::template::Names;
use serde_json::{Value, json};
use tokio::process::Command;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/praison_client.py");

/// What a program prints. It has to succeed.
async fn output(command: &mut Command) -> String {
    // Nothing between the program and the server.
    let command = command.env("NO_PROXY", "*").env("no_proxy", "*").kill_on_drop(true);
    let program = command.as_std().get_program().to_owned();
    let ended = soon("the end of a program", command.output()).await;
    let ended = ended.unwrap_or_else(|error| {
        panic!("this test runs {program:?}, which has to be installed: {error}")
    });
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{program:?} ended with {}: {text}\n{errors}", ended.status);
    text
}

async fn client(server: &TestServer, text: &str) -> String {
    let url = format!("http://{}", server.address());
    output(Command::new("python3").arg(CLIENT).arg(url).arg(text)).await
}

const AFTER: &str = "conversation: one context
unknown: error -32000 Task not found: task-of-nobody
unnamed: error -32602 Invalid params: 'id' required
unheard: error -32601 Method not found
";

/// With an agent that answers at once a cancel comes too late.
#[tokio::test]
async fn the_client_meets_an_agent_that_answers_at_once() {
    let server = TestServer::with_config(AGENT).await;
    let text = client(&server, "Analyze a basket of quinces").await;
    let refused = "canceled: error -32002 Task not cancelable: already completed\n";
    let first = "sent: completed\nread: completed\n";
    assert_eq!(text, format!("{first}{refused}read: completed\n{refused}{AFTER}"));
    server.finish().await;
}

/// With an agent that takes its time, and sends that return, the client cancels as documented.
#[tokio::test]
async fn the_client_cancels_an_agent_that_takes_its_time() {
    let server = TestServer::with_config(&format!("{AGENT}send_default = \"return\"\n")).await;
    let text = client(&server, "hang over the quinces").await;
    // It may look before the agent has begun.
    let mut lines = text.splitn(3, '\n');
    for what in ["sent", "read"] {
        let line = lines.next().expect("a line");
        let state = line.strip_prefix(what).and_then(|rest| rest.strip_prefix(": "));
        assert!(matches!(state, Some("submitted" | "working")), "{line}");
    }
    let refused = "canceled: error -32002 Task not cancelable: already cancelled\n";
    let rest = format!("canceled: cancelled\nread: cancelled\n{refused}{AFTER}");
    assert_eq!(lines.next(), Some(&*rest));
    server.finish().await;
}

/// A call by curl, as it would be typed: host, port and id are this server's.
async fn curl(server: &TestServer, method: &str, params: &Value) -> Value {
    let line = r#"
curl -X POST http://localhost:8000/a2a \
  -H "Content-Type: application/json" \
  -d '{
    "jsonrpc": "2.0",
    "method": "METHOD",
    "id": "1",
    "params": PARAMS
  }'
"#;
    let line = line.replace("localhost:8000", &server.address().to_string());
    let params = serde_json::to_string_pretty(params).expect("JSON");
    let line = line.replace("METHOD", method).replace("PARAMS", &params);
    let text = output(Command::new("bash").args(["-e", "-c", &line])).await;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn curl_reads_a_task() {
    let server = TestServer::with_config(AGENT).await;
    let task = send(&server, "Hello").await;
    let answer = curl(&server, "tasks/get", &json!({ "id": task["id"] })).await;
    let said = |role: &str| json!({ "role": role, "parts": [{ "text": "Hello" }], "+more": "" });
    let shown = json!({
        "jsonrpc": "2.0",
        "id": "1",
        "result": {
            "id": task["id"],
            "contextId": task["contextId"],
            "status": { "state": "completed", "+more": "" },
            "history": [said("user"), said("agent")],
            "artifacts": [{ "artifactId": "$artifact", "parts": [{ "text": "Hello" }] }],
        },
    });
    Names::default().check(&shown, &answer);
    server.finish().await;
}

/// The id of the documented lines is one that no server has given.
#[tokio::test]
async fn curl_is_told_that_there_is_no_such_task() {
    let server = TestServer::with_config(AGENT).await;
    for method in ["tasks/get", "tasks/cancel"] {
        let answer = curl(&server, method, &json!({ "id": "task-uuid-123" })).await;
        let error = json!({ "code": -32000, "message": "Task not found: task-uuid-123" });
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "1", "error": error }), "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn curl_lists_the_tasks_of_a_context() {
    let server = TestServer::with_config(AGENT).await;
    let task = send(&server, "Hello").await;
    for (context, tasks) in
        [(&task["contextId"], json!([task])), (&json!("ctx-uuid-456"), json!([]))]
    {
        let answer = curl(&server, "tasks/list", &json!({ "contextId": context })).await;
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "1", "result": tasks }));
    }
    server.finish().await;
}

#[tokio::test]
async fn curl_cancels_a_task_once() {
    let server = TestServer::with_config(AGENT).await;
    let task = running(&server).await;
    let named = json!({ "id": task["id"] });
    let answer = curl(&server, "tasks/cancel", &named).await;
    let status = json!({ "state": "cancelled", "+more": "" });
    let shown = json!({
        "jsonrpc": "2.0",
        "id": "1",
        "result": { "id": task["id"], "status": status, "+more": "" },
    });
    Names::default().check(&shown, &answer);
    assert_eq!(get(&server, &task).await["status"]["state"], "cancelled");

    let done = send(&server, "Hello").await;
    for (task, state) in [(&task, "cancelled"), (&done, "completed")] {
        let answer = curl(&server, "tasks/cancel", &json!({ "id": task["id"] })).await;
        let message = format!("Task not cancelable: already {state}");
        let error = json!({ "code": -32002, "message": message });
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "1", "error": error }));
    }
    let waiting = send(&server, "ask what").await;
    cancel(&server, &waiting).await;
    server.finish().await;
}
