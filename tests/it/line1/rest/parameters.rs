//! Parameters in paths, queries and bodies.

use super::super::client::{JSON, LINE_1, http, rest};
use super::super::schema::{self, field, reason};
use super::{message, ok, waiting};
use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn a_query_says_what_the_parameters_of_a_call_say() {
    let server = TestServer::start().await;
    for (text, context) in [("one", "a b"), ("two", "a b"), ("three", "c"), ("ask which?", "c")] {
        let mut body = message("", text);
        body["message"]["contextId"] = context.into();
        ok(&server, "POST", "message:send", Some(body)).await;
    }
    let found = async |query: &str| {
        let page = ok(&server, "GET", &format!("tasks?{query}"), None).await;
        (page["tasks"].as_array().expect("tasks").len(), page)
    };
    assert_eq!(found("").await.0, 4);
    assert_eq!(found("contextId=a%20b").await.0, 2);
    assert_eq!(found("contextId=a+b&pageSize=1").await.0, 1);
    assert_eq!(found("context_id=c&page_size=5").await.0, 2);
    assert_eq!(found("status=TASK_STATE_INPUT_REQUIRED").await.0, 1);
    assert_eq!(found("statusTimestampAfter=2999-01-01T00:00:00Z").await.0, 0);
    assert_eq!(found("statusTimestampAfter=2000-01-01T00:00:00%2B02:00").await.0, 4);
    assert_eq!(found("contextId=&pageSize=&unknown=1&x").await.0, 4);
    let (_, page) = found("includeArtifacts=true&historyLength=0&contextId=c").await;
    for task in page["tasks"].as_array().expect("tasks") {
        assert!(task.get("artifacts").is_some() && task.get("history").is_none(), "{task}");
    }
    let (_, page) = found("includeArtifacts=false&historyLength=1").await;
    for task in page["tasks"].as_array().expect("tasks") {
        assert!(task.get("artifacts").is_none(), "{task}");
        assert_eq!(task["history"].as_array().map(Vec::len), Some(1), "{task}");
    }
    let (_, first) = found("pageSize=3").await;
    let token = first["nextPageToken"].as_str().expect("a token");
    let (rest, last) = found(&format!("pageSize=3&pageToken={token}")).await;
    assert_eq!((rest, &last["nextPageToken"], &last["totalSize"]), (1, &json!(""), &json!(4)));
    server.finish().await;
}

#[tokio::test]
async fn what_cannot_be_in_a_query_is_refused_by_name() {
    let server = TestServer::start().await;
    for (query, name) in [
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageSize=ten", "pageSize"),
        ("historyLength=-1", "historyLength"),
        ("historyLength=1.5", "historyLength"),
        ("includeArtifacts=yes", "includeArtifacts"),
        ("status=completed", "status"),
        ("statusTimestampAfter=soon", "statusTimestampAfter"),
        ("pageToken=x", "pageToken"),
        ("tenant=acme", "tenant"),
    ] {
        let path = rest("script", &format!("tasks?{query}"));
        let reply = http(&server, "GET", &path, &[LINE_1], None).await;
        assert_eq!(reply.status, 400, "{query}");
        schema::http_error(400, &reply.json());
        assert_eq!(field(&reply.json()), name, "{query}");
        if !["includeArtifacts", "status", "tenant"].contains(&name) {
            let path = rest("script", &format!("v1/tasks?{query}"));
            let reply = http(&server, "GET", &path, &[], None).await;
            assert_eq!((reply.status, &reply.json()["code"]), (400, &json!(-32602)), "{query}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_task_is_read_with_as_much_of_its_history_as_the_query_says() {
    let server = TestServer::start().await;
    let id = waiting(&server).await;
    for base in ["", "v1/"] {
        let length = async |query: &str| {
            let task = ok(&server, "GET", &format!("{base}tasks/{id}{query}"), None).await;
            task.get("history").map(|history| history.as_array().expect("an array").len())
        };
        assert_eq!(length("").await, Some(1));
        assert_eq!(length("?historyLength=0").await, None);
        assert_eq!(length("?historyLength=5").await, Some(1));
    }
    server.finish().await;
}

#[tokio::test]
async fn calls_about_a_task_take_any_body_that_is_an_object_or_none() {
    let server = TestServer::start().await;
    for base in ["", "v1/"] {
        let bodies = [
            None,
            Some(""),
            Some("{}"),
            Some(r#"{"id":"another","metadata":{"why":[null]},"zzz":1}"#),
            Some(r#"{"tenant":""}"#),
            Some(r#"{"tenant":null}"#),
        ];
        for body in bodies {
            let id = waiting(&server).await;
            let path = rest("script", &format!("{base}tasks/{id}:cancel"));
            let body = body.map(str::to_owned);
            let reply = http(&server, "POST", &path, &[JSON], body.clone()).await;
            assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)), "{base} {body:?}");
        }
        // Without a body it does not matter what the body is said to be.
        let id = waiting(&server).await;
        let path = rest("script", &format!("{base}tasks/{id}:cancel"));
        let reply = http(&server, "POST", &path, &[("content-type", "text/plain")], None).await;
        assert_eq!(reply.status, 200);
        let id = waiting(&server).await;
        let path = rest("script", &format!("{base}tasks/{id}:cancel"));
        for body in ["{", "[]", "7", "\"x\"", "{}x", "{\"tenant\":\"\\ud800\"}"] {
            let reply = http(&server, "POST", &path, &[JSON], Some(body.to_owned())).await;
            assert_eq!(reply.status, 400, "{base} {body}");
        }
        let reply =
            http(&server, "POST", &path, &[("content-type", "text/plain")], Some("{}".into()))
                .await;
        assert_eq!(reply.status, 400);
        let task = ok(&server, "GET", &format!("tasks/{id}"), None).await;
        assert_eq!(
            task["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
            "a refused call does nothing"
        );
    }
    server.finish().await;
}

#[tokio::test]
async fn a_tenant_that_there_is_not_has_no_tasks_wherever_it_is_named() {
    let server = TestServer::start().await;
    let id = waiting(&server).await;
    let call = async |verb: &str, path: &str, body: Option<&str>| {
        let path = rest("script", path);
        http(&server, verb, &path, &[JSON, LINE_1], body.map(str::to_owned)).await
    };
    for reply in [
        call("GET", &format!("tasks/{id}?tenant=acme"), None).await,
        call("POST", &format!("tasks/{id}:cancel?tenant=acme"), None).await,
        call("POST", &format!("tasks/{id}:cancel"), Some(r#"{"tenant":"acme"}"#)).await,
        call("POST", &format!("tasks/{id}:subscribe"), Some(r#"{"tenant":"acme"}"#)).await,
        call("GET", &format!("acme/tasks/{id}"), None).await,
    ] {
        assert_eq!(reply.status, 404);
    }
    let mut body = message("", "x");
    body["tenant"] = json!("acme");
    let reply = call("POST", "message:send", Some(&body.to_string())).await;
    assert_eq!((reply.status, field(&reply.json())), (400, "tenant"));
    let task = ok(&server, "GET", &format!("tasks/{id}"), None).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    server.finish().await;
}

#[tokio::test]
async fn a_body_that_is_too_long_or_no_message_is_refused() {
    let server = TestServer::with_config("[server]\nmax_body = 500\n").await;
    let long = message("", &"x".repeat(500)).to_string();
    for base in ["", "v1/"] {
        let post = async |body: &str| {
            let path = rest("script", &format!("{base}message:send"));
            http(&server, "POST", &path, &[JSON], Some(body.to_owned())).await
        };
        let reply = post(&long).await;
        assert_eq!(reply.status, 413, "{base}");
        let body: Value = reply.json();
        if base.is_empty() {
            schema::http_error(413, &body);
            assert_eq!(reason(&body), "INVALID_REQUEST");
        }
        for body in ["", "{", "[]", "null", "{}", "{\"message\":[]}"] {
            assert_eq!(post(body).await.status, 400, "{base} {body}");
        }
    }
    let page = ok(&server, "GET", "tasks", None).await;
    assert_eq!(page["totalSize"], 0);
    server.finish().await;
}
