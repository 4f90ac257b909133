//! The four calls about webhooks, in both lines and over both bindings.

use super::{call, full};
use crate::support::caller::{Caller, Message, id};
use crate::support::receiver::{HOOKS, NOWHERE, Receiver};
use crate::support::rpc::JSON;
use crate::support::{Reply, TestServer};
use serde_json::{Value, json};

async fn waiting_task(server: &TestServer) -> String {
    let task = Caller::new(server, "script").send(Message::new("ask which?")).await;
    id(&task).to_owned()
}

async fn ok(server: &TestServer, method: &str, params: Value) -> Value {
    call(server, "script", method, params).await.result()
}

#[tokio::test]
async fn webhooks_have_ids_of_their_own_and_the_old_line_lists_them_in_an_array() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let task = waiting_task(&server).await;
    let mut ids = Vec::new();
    for (path, named) in [("/a", None), ("/b", None), ("/c", Some("c1"))] {
        let mut config = json!({ "url": receiver.url(path), "token": "sekret" });
        if let Some(name) = named {
            config["id"] = name.into();
        }
        let params = json!({ "taskId": task, "pushNotificationConfig": config });
        let mut made = ok(&server, "tasks/pushNotificationConfig/set", params).await;
        ids.push(made["pushNotificationConfig"]["id"].as_str().expect("an id").to_owned());
        config["id"] = ids.last().expect("an id").as_str().into();
        assert_eq!(made.as_object_mut().expect("an object").remove("taskId"), Some(json!(task)));
        assert_eq!(made, json!({ "pushNotificationConfig": config }));
    }
    assert!(ids[0] != ids[1] && ids[0] != task && ids[2] == "c1", "{ids:?}");
    let list = ok(&server, "tasks/pushNotificationConfig/list", json!({ "id": task })).await;
    let listed = list.as_array().expect("an array").iter().map(|each| {
        assert_eq!(each["taskId"], task.as_str());
        each["pushNotificationConfig"]["id"].as_str().expect("an id").to_owned()
    });
    assert_eq!(listed.collect::<Vec<_>>(), ids);
    let get = json!({ "id": task, "pushNotificationConfigId": "c1" });
    let read = ok(&server, "tasks/pushNotificationConfig/get", get.clone()).await;
    assert_eq!(read["pushNotificationConfig"]["url"], receiver.url("/c"));
    for name in [None, Some("default"), Some(&*task)] {
        let mut params = json!({ "id": task });
        if let Some(name) = name {
            params["pushNotificationConfigId"] = name.into();
        }
        let read = ok(&server, "tasks/pushNotificationConfig/get", params).await;
        assert_eq!(read["pushNotificationConfig"]["id"], ids[0], "{name:?}");
    }
    for _ in 0..2 {
        let deleted = call(&server, "script", "tasks/pushNotificationConfig/delete", get.clone());
        assert_eq!(deleted.await.outcome.as_deref(), Ok("null"));
    }
    let gone = call(&server, "script", "tasks/pushNotificationConfig/get", get).await;
    assert_eq!(gone.code(), -32001);
    // The others hear of the end, and the one that was deleted does not.
    Caller::new(&server, "script").send(Message::new("this").task(&task)).await;
    for path in ["/a", "/b"] {
        receiver.until_ended(path).await;
    }
    assert_eq!(receiver.all("/c").len(), 0);
    server.finish().await;
}

#[tokio::test]
async fn a_webhook_of_one_line_is_read_in_the_other() {
    let server = TestServer::with_config(HOOKS).await;
    let task = waiting_task(&server).await;
    let mut old = full(true, NOWHERE);
    old["id"] = "cfg-a".into();
    let set = json!({ "taskId": task, "pushNotificationConfig": old });
    let made = ok(&server, "tasks/pushNotificationConfig/set", set.clone()).await;
    assert_eq!(made, set);
    let mut new = full(false, NOWHERE);
    new["id"] = "cfg-a".into();
    new["taskId"] = task.as_str().into();
    let named = json!({ "taskId": task, "id": "cfg-a" });
    assert_eq!(ok(&server, "GetTaskPushNotificationConfig", named.clone()).await, new);
    let listed = ok(&server, "ListTaskPushNotificationConfigs", json!({ "taskId": task })).await;
    assert_eq!(listed, json!({ "configs": [new] }));
    // The same id is the same webhook: it is replaced.
    let bare = json!({ "taskId": task, "id": "cfg-a", "url": NOWHERE });
    assert_eq!(ok(&server, "CreateTaskPushNotificationConfig", bare.clone()).await, bare);
    let listed = ok(&server, "tasks/pushNotificationConfig/list", json!({ "id": task })).await;
    let config = json!({ "id": "cfg-a", "url": NOWHERE });
    assert_eq!(listed, json!([{ "taskId": task, "pushNotificationConfig": config }]));
    for _ in 0..2 {
        let deleted = call(&server, "script", "DeleteTaskPushNotificationConfig", named.clone());
        assert_eq!(deleted.await.outcome.as_deref(), Ok("null"));
    }
    server.finish().await;
}

#[tokio::test]
async fn the_new_line_lists_webhooks_in_pages() {
    let server = TestServer::with_config(HOOKS).await;
    let task = waiting_task(&server).await;
    for name in ["a", "b", "c"] {
        let config = json!({ "taskId": task, "id": name, "url": NOWHERE, "token": "sekret" });
        ok(&server, "CreateTaskPushNotificationConfig", config).await;
    }
    let list = async |params: Value| {
        let mut all = json!({ "taskId": task });
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        let page = ok(&server, "ListTaskPushNotificationConfigs", all).await;
        let ids = page["configs"].as_array().expect("configs").iter().map(|c| c["id"].clone());
        (Value::from(ids.collect::<Vec<_>>()), page["nextPageToken"].clone())
    };
    let (first, token) = list(json!({ "pageSize": 2 })).await;
    assert_eq!(first, json!(["a", "b"]));
    assert!(!token.as_str().expect("a token").contains("sekret"));
    // The place is good also when what was there is gone.
    ok(&server, "DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": "b" })).await;
    let (rest, end) = list(json!({ "pageSize": 2, "pageToken": token })).await;
    assert_eq!((rest, end), (json!(["c"]), Value::Null));
    for bad in [json!({ "pageToken": "?" }), json!({ "pageSize": 101 }), json!({ "pageSize": -1 })]
    {
        let mut params = bad.clone();
        params["taskId"] = task.as_str().into();
        let refused = call(&server, "script", "ListTaskPushNotificationConfigs", params).await;
        assert_eq!(refused.code(), -32602, "{bad}");
    }
    server.finish().await;
}

async fn rest(server: &TestServer, verb: &str, path: &str, body: Option<Value>) -> Reply {
    let path = format!("/api/v1/a2a/script/{path}");
    let body = body.map(|body| body.to_string());
    Reply::read(server.open(verb, &path, &[JSON], body).await).await
}

#[tokio::test]
async fn the_paths_of_both_lines_do_the_same() {
    let server = TestServer::with_config(HOOKS).await;
    for old in [false, true] {
        let task = waiting_task(&server).await;
        let hooks = format!("{}tasks/{task}/pushNotificationConfigs", if old { "v1/" } else { "" });
        let mut config = full(old, NOWHERE);
        config["id"] = "a b".into();
        let (body, told) = if old {
            let name = format!("tasks/{task}/pushNotificationConfigs/a b");
            let wrapped = json!({ "name": name, "pushNotificationConfig": config });
            (json!({ "parent": format!("tasks/{task}"), "config": wrapped }), wrapped)
        } else {
            let mut told = config.clone();
            told["taskId"] = task.as_str().into();
            // The task of the path wins.
            config["taskId"] = "another".into();
            (config, told)
        };
        let made = rest(&server, "POST", &hooks, Some(body)).await;
        assert_eq!((made.status, made.json()), (200, told.clone()));
        let read = rest(&server, "GET", &format!("{hooks}/a%20b"), None).await;
        assert_eq!((read.status, read.json()), (200, told.clone()));
        let listed = rest(&server, "GET", &format!("{hooks}?pageSize=5"), None).await;
        assert_eq!((listed.status, listed.json()), (200, json!({ "configs": [told] })));
        for _ in 0..2 {
            let deleted = rest(&server, "DELETE", &format!("{hooks}/a%20b"), None).await;
            assert_eq!((deleted.status, deleted.json()), (200, json!({})));
        }
        let gone = rest(&server, "GET", &format!("{hooks}/a%20b"), None).await;
        assert_eq!(gone.status, 404);
        for bad in [json!([]), json!({}), json!("x"), json!({ "url": 7 })] {
            let refused = rest(&server, "POST", &hooks, Some(bad.clone())).await;
            assert_eq!(refused.status, 400, "{bad}");
        }
        let empty = rest(&server, "GET", &hooks, None).await;
        assert_eq!(empty.json(), json!({ "configs": [] }));
    }
    server.finish().await;
}

#[tokio::test]
async fn what_is_missing_or_wrong_in_a_webhook_is_named_by_its_path() {
    let server = TestServer::with_config(HOOKS).await;
    let task = waiting_task(&server).await;
    let line = "x\r\nX-Evil: 1";
    let scheme = |scheme: &str| json!({ "scheme": scheme, "credentials": "c" });
    for (config, field) in [
        (json!({}), "url"),
        (json!({ "url": "" }), "url"),
        (json!({ "url": 7 }), "url"),
        (json!({ "url": "nowhere" }), "url"),
        (json!({ "url": NOWHERE, "id": "i".repeat(257) }), "id"),
        (json!({ "url": NOWHERE, "token": line }), "token"),
        (json!({ "url": NOWHERE, "token": "t".repeat(4097) }), "token"),
        (json!({ "url": NOWHERE, "authentication": scheme("a b") }), "authentication.scheme"),
        (json!({ "url": NOWHERE, "authentication": scheme("") }), "authentication.scheme"),
        (
            json!({ "url": NOWHERE, "authentication": { "scheme": "Bearer", "credentials": line } }),
            "authentication.credentials",
        ),
        (json!({ "url": NOWHERE, "authentication": [] }), "authentication"),
    ] {
        let mut create = config.clone();
        create["taskId"] = task.as_str().into();
        let alone = call(&server, "script", "CreateTaskPushNotificationConfig", create).await;
        let inline = super::message(false, "x", config.clone());
        let inline = call(&server, "script", "SendMessage", inline).await;
        for (answer, path) in [
            (alone, field.to_owned()),
            (inline, format!("configuration.taskPushNotificationConfig.{field}")),
        ] {
            assert_eq!(answer.code(), -32602, "{config}");
            let named = &answer.error()["data"][1]["fieldViolations"][0]["field"];
            assert_eq!(named.as_str(), Some(&*path), "{}", answer.error());
        }
    }
    let set = json!({ "taskId": task, "pushNotificationConfig":
        { "url": NOWHERE, "authentication": { "schemes": ["a", "b c"] } } });
    let refused = call(&server, "script", "tasks/pushNotificationConfig/set", set).await;
    let named = &refused.error()["data"]["fieldViolations"][0]["field"];
    assert_eq!(*named, "pushNotificationConfig.authentication.schemes");
    for (method, params, field) in [
        ("tasks/pushNotificationConfig/set", json!({ "pushNotificationConfig": {} }), "taskId"),
        ("tasks/pushNotificationConfig/set", json!({ "taskId": task }), "pushNotificationConfig"),
        ("tasks/pushNotificationConfig/delete", json!({ "id": task }), "pushNotificationConfigId"),
        ("tasks/pushNotificationConfig/list", json!({}), "id"),
    ] {
        let refused = call(&server, "script", method, params).await;
        let named = &refused.error()["data"]["fieldViolations"][0]["field"];
        assert_eq!((refused.code(), named.as_str()), (-32602, Some(field)), "{method}");
    }
    let all = ok(&server, "ListTaskPushNotificationConfigs", json!({ "taskId": task })).await;
    assert_eq!(all, json!({ "configs": [] }));
    server.finish().await;
}

#[tokio::test]
async fn a_task_has_so_many_webhooks_and_no_more() {
    let server = TestServer::with_config(&format!("{HOOKS}max_per_task = 2\n")).await;
    let task = waiting_task(&server).await;
    for (name, code) in [("a", None), ("b", None), ("c", Some(-32602)), ("b", None)] {
        let config = json!({ "taskId": task, "id": name, "url": NOWHERE });
        let set = call(&server, "script", "CreateTaskPushNotificationConfig", config).await;
        assert_eq!(set.outcome.err().map(|error| error["code"].as_i64().unwrap()), code, "{name}");
    }
    server.finish().await;
}
