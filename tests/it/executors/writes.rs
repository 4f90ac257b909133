//! What the writes of an executor mean to those who watch.

use crate::support::TestServer;
use crate::support::agents::{Counted, Puppet, agent, agent_with, soon};
use crate::support::caller::{Caller, Message, history, id, state, text};
use a2ad_domain::{
    AgentSettings, ArtifactId, ArtifactUpdate, Details, Parts, RawJson, WhileWorking,
};
use serde_json::{Value, json};

fn piece(id: &str, words: &str, append: bool) -> ArtifactUpdate {
    let (id, parts) = (ArtifactId::new(id).expect("an id"), Parts::text(words));
    ArtifactUpdate { id, parts, append, last: false, details: None }
}

fn with_metadata(mut update: ArtifactUpdate, metadata: &str) -> ArtifactUpdate {
    let metadata = Some(RawJson::parse(metadata).expect("JSON"));
    update.details = Some(Box::new(Details { metadata, ..Details::default() }));
    update
}

fn artifacts(task: &Value) -> Vec<(&str, String)> {
    let artifacts = task["artifacts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |artifact: &Value| artifact["parts"].as_array().map(Vec::len) == Some(1);
    assert!(artifacts.iter().all(one), "texts that follow each other are one: {task}");
    artifacts
        .iter()
        .map(|artifact| (artifact["artifactId"].as_str().expect("an id"), text(artifact)))
        .collect()
}

#[tokio::test]
async fn pieces_extend_and_wholes_replace_in_the_order_of_first_sight() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    let task = run.task.clone();
    let first = with_metadata(piece("a1", "Hello", false), r#"{"j":1,"k":1}"#);
    let mut second = with_metadata(piece("a1", " world", true), r#"{"k":2}"#);
    second.last = true;
    run.update(first).await.expect("a live task");
    run.update(second).await.expect("a live task");
    run.update(piece("a2", "B", false)).await.expect("a live task");
    let before = caller.get(&task).await;
    assert_eq!(artifacts(&before), [("a1", "Hello world".to_owned()), ("a2", "B".to_owned())]);
    assert_eq!(before["artifacts"][0]["metadata"], json!({ "j": 1, "k": 2 }));
    run.update(piece("a1", "NEW", false)).await.expect("a live task");
    run.complete().await;
    let after = caller.rest(&task).await;
    assert_eq!(artifacts(&after), [("a1", "NEW".to_owned()), ("a2", "B".to_owned())]);
    assert!(after["artifacts"][0].get("metadata").is_none(), "{after}");
    let frames = soon("the end of the stream", stream.collect()).await;
    let updates = frames.iter().map(|frame| &frame.data["result"]);
    let updates = updates.filter(|result| result["kind"] == "artifact-update");
    let flags: Vec<_> = updates.map(|update| (&update["append"], &update["lastChunk"])).collect();
    let (yes, no) = (&json!(true), &json!(false));
    assert_eq!(flags, [(no, no), (yes, yes), (no, no), (no, no)]);
    server.finish().await;
}

#[tokio::test]
async fn a_result_that_is_written_again_and_again_is_there_once() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let mut stream = caller.stream(Message::new("tick:1|now")).await;
    let task = id(&stream.next().await.expect("the task").data["result"]).to_owned();
    for _ in 0..5 {
        soon("a tick", stream.next()).await.expect("a tick");
    }
    let canceled = caller.cancel(&task).await;
    assert_eq!(artifacts(&canceled), [("out-1", "now".to_owned())]);
    let rest = soon("the end of the stream", stream.collect()).await;
    assert_eq!(state(&rest[rest.len() - 1].data["result"]), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn a_message_while_the_agent_works_reaches_the_run_where_the_agent_wants_it() {
    let (puppet, mut stage) = Puppet::new();
    let counted = Counted::new(puppet);
    let settings =
        AgentSettings { while_working: WhileWorking::Append, ..AgentSettings::default() };
    let listening = agent_with("listening", settings, counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(listening)).await;
    let caller = Caller::new(&server, "listening");
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    run.working().await.expect("a live task");
    assert!(run.inbox().await.expect("a live task").is_empty());
    for said in ["a little faster", "and louder"] {
        let task = caller.send_off(Message::new(said).task(&run.task)).await;
        assert_eq!((id(&task), state(&task)), (&*run.task, "working"));
    }
    // One that waits gets the end of the run that was under way.
    let waits = caller.send(Message::new("now stop").task(&run.task));
    let works = async {
        soon("the third message", async {
            while history(&caller.get(&run.task).await).len() < 4 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let heard = run.inbox().await.expect("a live task");
        assert_eq!(heard, ["a little faster", "and louder", "now stop"]);
        assert!(run.inbox().await.expect("a live task").is_empty());
        run.chunk("done", true).await.expect("a live task");
        run.complete().await;
    };
    let (task, ()) = tokio::join!(waits, works);
    assert_eq!(state(&task), "completed");
    let said = ["user: go", "user: a little faster", "user: and louder", "user: now stop"];
    assert_eq!(history(&task), said);
    assert_eq!((counted.started(), counted.most_at_once()), (1, 1));
    let frames = soon("the end of the stream", stream.collect()).await;
    // Messages of the client are no events, and their numbers are left out.
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
    assert_eq!(ids, [1, 2, 6, 7]);
    server.finish().await;
}
