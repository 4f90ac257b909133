//! Which paths and verbs there are.

use super::super::client::{JSON, http, rest};
use super::{message, ok, waiting};
use crate::support::TestServer;
use crate::support::agents::{agent, soon};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn every_path_answers_with_and_without_a_slash_at_its_end() {
    let server = TestServer::start().await;
    for base in ["", "v1/"] {
        for slash in ["", "/"] {
            let body = message(base, "x");
            let sent = ok(&server, "POST", &format!("{base}message:send{slash}"), Some(body)).await;
            let id = sent["task"]["id"].as_str().expect("an id");
            let task = ok(&server, "GET", &format!("{base}tasks/{id}{slash}"), None).await;
            assert_eq!(task, sent["task"]);
            ok(&server, "GET", &format!("{base}tasks{slash}"), None).await;
            let id = waiting(&server).await;
            let task = ok(&server, "POST", &format!("{base}tasks/{id}:cancel{slash}"), None).await;
            assert_eq!(task["id"], id.as_str());
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_wrong_verb_is_told_the_right_ones() {
    let server = TestServer::start().await;
    for (path, verbs) in [
        ("message:send", "POST"),
        ("message:stream", "POST"),
        ("tasks", "GET"),
        ("tasks/x", "GET"),
        ("tasks/x:cancel", "POST"),
        ("tasks/x:subscribe", "POST, GET"),
        ("tasks/x/pushNotificationConfigs", "POST, GET"),
        ("tasks/x/pushNotificationConfigs/c", "GET, DELETE"),
    ] {
        for base in ["", "v1/"] {
            for verb in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                if verbs.split(", ").any(|known| known == verb) {
                    continue;
                }
                let path = rest("script", &format!("{base}{path}"));
                let reply = http(&server, verb, &path, &[JSON], None).await;
                assert_eq!(reply.status, 405, "{verb} {path}");
                assert_eq!(reply.headers["allow"], verbs, "{verb} {path}");
            }
        }
    }
    for (path, there) in
        [("extendedAgentCard", 400), ("v1/card", 400), ("card", 404), ("v1/extendedAgentCard", 404)]
    {
        let reply = http(&server, "GET", &rest("script", path), &[], None).await;
        assert_eq!(reply.status, there, "{path}");
    }
    server.finish().await;
}

#[tokio::test]
async fn what_is_no_path_of_the_binding_is_not_found_in_json() {
    let server = TestServer::start().await;
    let id = waiting(&server).await;
    for path in [
        "",
        "task",
        "message",
        "message:forget",
        "message/send",
        "tasks/",
        "v1",
        "v1/",
        "v2/tasks",
        "v1/v1/tasks",
        "acme/tasks",
        "acme/message:send",
        &format!("tasks/{id}:forget"),
        &format!("tasks/{id}:"),
        &format!("tasks/{id}:Cancel"),
        &format!("tasks/{id}/cancel"),
        &format!("tasks/{id}/pushNotificationConfigs/a/b"),
        "tasks/%FF",
        "..%2f..%2fstatus",
    ] {
        for verb in ["GET", "POST"] {
            let reply = http(&server, verb, &rest("script", path), &[JSON], None).await;
            // A slash at the end is none; then these are the list, which is only read.
            let list = path == "tasks/";
            let status = if !list {
                404
            } else if verb == "GET" {
                200
            } else {
                405
            };
            assert_eq!(reply.status, status, "{verb} {path}");
            reply.json();
        }
    }
    let task = ok(&server, "GET", &format!("tasks/{id}"), None).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "nothing has happened");
    server.finish().await;
}

#[tokio::test]
async fn an_id_may_be_percent_encoded() {
    let server = TestServer::start().await;
    let id = waiting(&server).await;
    let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let task = ok(&server, "GET", &format!("tasks/{encoded}"), None).await;
    assert_eq!(task["id"], id.as_str());
    let reply = http(&server, "GET", &rest("script", "tasks/a%3Ab%2Fc%20d"), &[], None).await;
    let named = reply.json()["error"]["details"][0]["metadata"]["taskId"].clone();
    assert_eq!((reply.status, named), (404, json!("a:b/c d")));
    server.finish().await;
}

#[tokio::test]
async fn what_can_be_read_can_be_asked_for_without_its_body() {
    let server = TestServer::start().await;
    let id = waiting(&server).await;
    for path in ["tasks".to_owned(), format!("tasks/{id}"), "v1/tasks".to_owned()] {
        let head = http(&server, "HEAD", &rest("script", &path), &[], None).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.headers["content-type"], "application/json", "{path}");
    }
    let path = rest("script", &format!("tasks/{id}:subscribe"));
    let head = soon("the head of a stream", http(&server, "HEAD", &path, &[], None)).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    // Nobody reads that stream, so nobody is subscribed; `finish` fails otherwise.
    server.finish().await;
}

#[tokio::test]
async fn an_agent_that_is_not_published_has_no_paths() {
    let hidden = agent("hidden", Arc::new(a2ad_executor::Script));
    hidden.set_published(false);
    let server = TestServer::custom("", |builder| builder.with_agent(hidden)).await;
    for path in ["tasks", "v1/tasks", "tasks/x", "message:send", "extendedAgentCard", "nowhere"] {
        for verb in ["GET", "POST", "PUT"] {
            let hidden = http(&server, verb, &rest("hidden", path), &[JSON], None).await;
            let nobody = http(&server, verb, &rest("nobody", path), &[JSON], None).await;
            assert_eq!(hidden.status, 404, "{verb} {path}");
            assert_eq!(hidden.body, nobody.body, "{verb} {path}");
        }
    }
    server.finish().await;
}
