//! What 1.0 answers look like over the whole life of tasks. Every answer in here has been compared with
//! the strict shapes of `schema` on its way.

use super::client::{Client, results, text, text_for};
use crate::support::TestServer;
use crate::support::agents::{Puppet, agent, soon};
use a2ad_domain::{ArtifactId, ArtifactUpdate, Details, Parts, RawJson};
use serde_json::{Value, json};

/// Fails when anything in an answer of the 1.0 line is spelled as in the other one.
fn check_spelling(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                // What clients put into metadata and data is theirs.
                if name == "metadata" || name == "data" {
                    continue;
                }
                assert!(
                    !["kind", "final", "type", "index", "createdAt"].contains(&&**name),
                    "{value}"
                );
                assert!(!name.contains('_'), "{value}");
                check_spelling(member);
            }
        }
        Value::Array(items) => items.iter().for_each(check_spelling),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn every_way_that_a_task_can_go_has_the_shapes_of_the_line() {
    let server = TestServer::with_config(
        "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n\
                                          grace = \"0s\"\n",
    )
    .await;
    let client = Client::new(&server, "script");
    for (said, state) in [
        ("plain", "COMPLETED"),
        ("", "COMPLETED"),
        ("chunks 3 abc", "COMPLETED"),
        ("chunks 5 ab", "COMPLETED"),
        ("ask which?", "INPUT_REQUIRED"),
        ("reject no", "REJECTED"),
        ("fail", "FAILED"),
        ("panic", "FAILED"),
    ] {
        let task = client.send(text(said)).await;
        assert_eq!(task["status"]["state"], format!("TASK_STATE_{state}"), "{said}");
        assert_eq!(client.get(task["id"].as_str().expect("an id")).await, task);
        check_spelling(&task);
        let events = client.open("SendStreamingMessage", json!({ "message": text(said) })).await;
        let events = results(&soon("the end of the stream", events.collect()).await);
        events.iter().for_each(check_spelling);
        let last = &events[events.len() - 1]["statusUpdate"]["status"];
        assert_eq!(last["state"], format!("TASK_STATE_{state}"), "{said}");
    }
    let hanging = client.send_off(text("hang")).await;
    let canceled = client.cancel(hanging["id"].as_str().expect("an id")).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    let list = json!({ "includeArtifacts": true, "pageSize": 100 });
    check_spelling(&client.ok("ListTasks", list).await);
    server.finish().await;
}

#[tokio::test]
async fn flags_that_are_false_are_left_out() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let events =
        client.open("SendStreamingMessage", json!({ "message": text("chunks 3 abc") })).await;
    let events = results(&soon("the end of the stream", events.collect()).await);
    let flags: Vec<[Option<&Value>; 2]> = events
        .iter()
        .filter_map(|event| event.get("artifactUpdate"))
        .map(|update| [update.get("append"), update.get("lastChunk")])
        .collect();
    let yes = Some(&Value::Bool(true));
    assert_eq!(flags, [[None, None], [yes, None], [yes, yes]]);
    server.finish().await;
}

#[tokio::test]
async fn artifacts_say_everything_that_is_known_of_them() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let client = Client::new(&server, "puppet");
    let events = client.open("SendStreamingMessage", json!({ "message": text("go") })).await;
    let run = stage.next().await;
    let details = Details {
        name: Some("a name".into()),
        description: Some("what it is".into()),
        metadata: Some(RawJson::parse(r#"{"n":9007199254740993}"#).expect("JSON")),
        extensions: ["urn:a".into()].into(),
    };
    let update = ArtifactUpdate {
        id: ArtifactId::new("report").expect("an id"),
        parts: Parts::text("x"),
        append: false,
        last: true,
        details: Some(Box::new(details)),
    };
    run.update(update).await.expect("a live task");
    run.complete().await;
    let events = soon("the end of the stream", events.collect()).await;
    let shown = &results(&events)[1]["artifactUpdate"]["artifact"];
    let wanted = json!({
        "artifactId": "report", "name": "a name", "description": "what it is",
        "metadata": { "n": 9_007_199_254_740_993_u64 }, "extensions": ["urn:a"],
        "parts": [{ "text": "x" }],
    });
    assert_eq!(*shown, wanted);
    let id = events[0].data["result"]["task"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(client.get(&id).await["artifacts"], json!([wanted]));
    server.finish().await;
}

#[tokio::test]
async fn the_history_is_as_long_as_it_was_asked_for() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let asked = client.send(text("ask one?")).await;
    let asked = client.send(text_for(&asked, "ask two?")).await;
    let task = client.send(text_for(&asked, "end")).await;
    let whole = task["history"].as_array().expect("a history").clone();
    assert_eq!(whole.len(), 6);
    for (length, shown) in
        [(json!(null), Some(6)), (json!(0), None), (json!(2), Some(2)), (json!(9), Some(6))]
    {
        let params = json!({ "id": task["id"], "historyLength": length });
        let task = client.ok("GetTask", params).await;
        let tail = task.get("history").map(|history| history.as_array().expect("an array"));
        assert_eq!(tail.map(Vec::len), shown, "{length}");
        assert!(tail.is_none_or(|tail| whole.ends_with(tail)), "the newest: {length}");
    }
    server.finish().await;
}
