//! Which line a request is in: the method says, and the version has to agree.

use super::client::{JSON, LINE_1, http, request, rest, rpc, text};
use super::schema::{self, reason};
use crate::support::caller::Message;
use crate::support::rpc::Answered;
use crate::support::{Raw, TestServer};
use serde_json::{Value, json};

/// A method and parameters that are good for it.
type Call = (&'static str, Value);

/// Methods of both lines that do the same.
fn pairs() -> [(Call, Call); 6] {
    let old = Message::new("x").params();
    let new = json!({ "message": text("x") });
    let task = json!({ "id": "none" });
    [
        (("message/send", old.clone()), ("SendMessage", new.clone())),
        (("message/stream", old), ("SendStreamingMessage", new)),
        (("tasks/get", task.clone()), ("GetTask", task.clone())),
        (("tasks/list", json!({})), ("ListTasks", json!({}))),
        (("tasks/cancel", task.clone()), ("CancelTask", task.clone())),
        (("tasks/resubscribe", task.clone()), ("SubscribeToTask", task)),
    ]
}

/// One call under a version; what it is answered, which may be the first event of a stream.
async fn answer(server: &TestServer, path: &str, version: &str, body: &Value) -> Answered {
    let headers = [JSON, ("a2a-version", version)];
    let reply = server.post(path, &headers, body.to_string()).await;
    assert_eq!(reply.status, 200);
    if reply.headers["content-type"] == "text/event-stream" {
        let text = String::from_utf8(reply.body).expect("UTF-8");
        let data = text.lines().find_map(|line| line.strip_prefix("data: "));
        return Answered::read(data.expect("an event").as_bytes());
    }
    Answered::of(&reply)
}

/// Fails unless the version was refused, in the words of the 1.0 line.
#[track_caller]
fn check_refused(answered: &Answered, requested: &str) {
    let error = answered.error();
    schema::error(error);
    assert_eq!((error["code"].as_i64(), reason(error)), (Some(-32009), "VERSION_NOT_SUPPORTED"));
    let metadata = &error["data"][0]["metadata"];
    assert_eq!(metadata["requestedVersion"], requested, "{error}");
    assert_eq!(metadata["supportedVersions"], "1.0,0.3", "{error}");
}

#[tokio::test]
async fn a_method_is_served_in_its_own_line_only() {
    let server = TestServer::start().await;
    for ((old, old_params), (new, new_params)) in pairs() {
        for version in ["1.0", "1.0.0", "1.0.7", " 1.0 "] {
            let body = request(new, &new_params);
            let answered = answer(&server, &rpc("echo"), version, &body).await;
            assert!(answered.outcome.as_ref().err().is_none_or(|e| e["code"] == -32001), "{new}");
            let body = request(old, &old_params);
            check_refused(&answer(&server, &rpc("echo"), version, &body).await, "1.0");
        }
        for version in ["", "0.3", "0.3.0", "0.3.9"] {
            let body = request(old, &old_params);
            let answered = answer(&server, &rpc("echo"), version, &body).await;
            assert!(answered.outcome.as_ref().err().is_none_or(|e| e["code"] == -32001), "{old}");
            let requested = if version.is_empty() { "" } else { "0.3" };
            let body = request(new, &new_params);
            check_refused(&answer(&server, &rpc("echo"), version, &body).await, requested);
        }
        for version in ["99.0", "1", "1.1", "0.4", "0.2.5", "2.0", "v1.0", "1.0.x", "latest"] {
            for body in [request(new, &new_params), request(old, &old_params)] {
                check_refused(&answer(&server, &rpc("echo"), version, &body).await, version);
            }
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn every_method_of_the_line_is_known() {
    let server = TestServer::start().await;
    let known = [
        ("SendMessage", Some(-32602)),
        ("SendStreamingMessage", Some(-32602)),
        ("GetTask", Some(-32602)),
        ("ListTasks", None),
        ("CancelTask", Some(-32602)),
        ("SubscribeToTask", Some(-32602)),
        ("CreateTaskPushNotificationConfig", Some(-32602)),
        ("GetTaskPushNotificationConfig", Some(-32602)),
        ("ListTaskPushNotificationConfigs", Some(-32602)),
        ("DeleteTaskPushNotificationConfig", Some(-32602)),
        ("GetExtendedAgentCard", Some(-32004)),
    ];
    for (method, code) in known {
        let answered = answer(&server, &rpc("echo"), "1.0", &request(method, &json!({}))).await;
        assert_eq!(answered.outcome.err().map(|e| e["code"].as_i64()), code.map(Some), "{method}");
        let bare = json!({ "jsonrpc": "2.0", "id": "n-1", "method": method });
        let answered = answer(&server, &rpc("echo"), "1.0", &bare).await;
        assert_eq!(answered.outcome.err().map(|e| e["code"].as_i64()), code.map(Some), "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_method_is_told_in_the_line_of_the_request() {
    let server = TestServer::start().await;
    for method in ["Sendmessage", "sendMessage", "ListTaskPushNotificationConfig", "tasks/forget"] {
        let body = request(method, &json!({}));
        let new = answer(&server, &rpc("echo"), "1.0", &body).await;
        assert_eq!(*new.error(), json!({ "code": -32601, "message": "Method not found" }));
        let old = answer(&server, &rpc("echo"), "", &body).await;
        assert_eq!((old.code(), &old.error()["data"]), (-32601, &Value::Null), "{method}");
        check_refused(&answer(&server, &rpc("echo"), "3.0", &body).await, "3.0");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_query_names_the_version_where_no_header_does() {
    let server = TestServer::start().await;
    let list = request("ListTasks", &json!({}));
    let post = async |query: &str, headers: &[(&str, &str)]| {
        let path = format!("{}{query}", rpc("echo"));
        Answered::of(&server.post(&path, headers, list.to_string()).await)
    };
    for query in ["?A2A-Version=1.0", "?a2a-version=1.0.3", "?x=1&A2A-Version=1.0&y"] {
        assert!(post(query, &[JSON]).await.outcome.is_ok(), "{query}");
    }
    assert!(post("?A2A-Version=0.3", &[JSON, LINE_1]).await.outcome.is_ok());
    check_refused(&post("?A2A-Version=1.0", &[JSON, ("a2a-version", "0.3")]).await, "0.3");
    check_refused(&post("?A2A-Version=7.0", &[JSON]).await, "7.0");
    check_refused(&post("?version=1.0", &[JSON]).await, "");
    server.finish().await;
}

#[tokio::test]
async fn a_refused_caller_without_a_version_is_told_where_to_name_it() {
    let server = TestServer::start().await;
    let body = request("SendMessage", &json!({ "message": text("x") }));
    let refused = answer(&server, &rpc("echo"), "", &body).await;
    let hint = refused.error()["data"][0]["metadata"]["hint"].as_str().expect("a hint").to_owned();
    assert!(hint.contains("A2A-Version"), "{hint}");
    let list = answer(&server, &rpc("echo"), "1.0", &request("ListTasks", &json!({}))).await;
    assert_eq!(list.result()["totalSize"], 0, "a refused message opens no task");
    server.finish().await;
}

#[tokio::test]
async fn a_lenient_server_takes_the_method_for_the_version() {
    let server = TestServer::with_config("[server]\nversion_policy = \"lenient\"\n").await;
    let body = request("SendMessage", &json!({ "message": text("x") }));
    for path in [rpc("echo"), "/".to_owned(), "/a2a".to_owned()] {
        let reply = server.post(&path, &[JSON], body.to_string()).await;
        let result = Answered::of(&reply).result();
        schema::result("SendMessage", &result);
        assert_eq!(result["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
    // It is lenient where nothing is said, and not where something else is said.
    check_refused(&answer(&server, &rpc("echo"), "0.3", &body).await, "0.3");
    check_refused(&answer(&server, &rpc("echo"), "1.1", &body).await, "1.1");
    let old = request("message/send", &Message::new("x").params());
    assert!(answer(&server, &rpc("echo"), "", &old).await.outcome.is_ok());
    check_refused(&answer(&server, &rpc("echo"), "1.0", &old).await, "1.0");
    server.finish().await;
}

#[tokio::test]
async fn every_route_that_takes_calls_speaks_the_line_as_it_is_written() {
    let server = TestServer::start().await;
    for path in
        [rpc("echo"), format!("{}/", rpc("echo")), "/".into(), "/a2a".into(), "/a2a/".into()]
    {
        let send = request("SendMessage", &json!({ "message": text("x") }));
        let result = answer(&server, &path, "1.0", &send).await.result();
        schema::result("SendMessage", &result);
        let get = request("GetTask", &json!({ "id": "none" }));
        let unknown = answer(&server, &path, "1.0", &get).await;
        schema::error(unknown.error());
        assert_eq!((unknown.code(), reason(unknown.error())), (-32001, "TASK_NOT_FOUND"), "{path}");
        let mut sparse = text("x");
        sparse.as_object_mut().expect("an object").remove("messageId");
        let sparse = request("SendMessage", &json!({ "message": sparse }));
        assert_eq!(answer(&server, &path, "1.0", &sparse).await.code(), -32602, "{path}");
    }
    server.finish().await;
}

#[tokio::test]
async fn what_fails_before_the_method_is_known_is_told_in_the_line_that_the_version_names() {
    let server = TestServer::with_config("[server]\nmax_body = 1000\n").await;
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000));
    let cases: [(&str, &str, i64); 5] = [
        ("application/json", "{", -32700),
        ("application/json", "[]", -32600),
        ("application/json", "{}", -32600),
        ("application/json", &large, -32600),
        ("text/plain", "{}", -32005),
    ];
    for (kind, body, code) in cases {
        let post = async |version| {
            let headers = [("content-type", kind), ("a2a-version", version)];
            Answered::of(&server.post(&rpc("echo"), &headers, body.to_owned()).await)
        };
        for version in ["1.0", "9.9"] {
            let new = post(version).await;
            assert_eq!((new.code(), &*new.id), (code, "null"), "{body:.40}");
            schema::error(new.error());
        }
        for version in ["", "0.3"] {
            let old = post(version).await;
            assert_eq!((old.code(), &*old.id), (code, "null"), "{body:.40}");
            assert_eq!(old.error().get("data"), Some(&Value::Null), "{body:.40}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn paths_are_in_one_line_and_refuse_the_version_of_the_other() {
    let server = TestServer::start().await;
    for (path, own, foreign) in [("tasks", "1.0", "0.3"), ("v1/tasks", "0.3", "1.0")] {
        let get = async |version: &str| {
            http(&server, "GET", &rest("echo", path), &[("a2a-version", version)], None).await
        };
        for version in ["", own, &format!("{own}.4")] {
            assert_eq!(get(version).await.status, 200, "{path} {version}");
        }
        for version in [foreign, "2.0", "x"] {
            let reply = get(version).await;
            assert_eq!(reply.status, 400, "{path} {version}");
            let body = reply.json();
            if own == "1.0" {
                schema::http_error(400, &body);
                assert_eq!(reason(&body), "VERSION_NOT_SUPPORTED");
            } else {
                assert_eq!((&body["code"], body.get("error")), (&json!(-32009), None));
            }
        }
        let query = format!("{}?A2A-Version={own}", rest("echo", path));
        assert_eq!(http(&server, "GET", &query, &[], None).await.status, 200, "{query}");
        let query = format!("{}?A2A-Version={foreign}", rest("echo", path));
        assert_eq!(http(&server, "GET", &query, &[], None).await.status, 400, "{query}");
    }
    server.finish().await;
}

#[tokio::test]
async fn names_of_headers_may_be_written_in_any_case() {
    let server = TestServer::start().await;
    let body = request("ListTasks", &json!({})).to_string();
    let mut connection = Raw::connect(server.address()).await;
    for name in ["A2A-Version", "a2a-version", "A2A-VERSION", "a2A-vErSiOn"] {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n{name}: 1.0\r\n\
             Content-Length: {}\r\n\r\n",
            rpc("echo"),
            body.len()
        );
        connection.send(&[head.as_bytes(), body.as_bytes()].concat()).await;
        let answer = connection.answer().await.expect("an answer").json();
        assert_eq!(answer["result"]["totalSize"], 0, "{name}");
    }
    server.finish().await;
}
