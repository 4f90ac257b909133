//! Executors that panic, refuse or break the rules.

use crate::support::TestServer;
use crate::support::agents::{Puppet, agent, soon};
use crate::support::caller::{Caller, Message, artifact, id, state, status_text};
use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn,
};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, ArtifactUpdate, Parts};
use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_panic_ends_its_own_task_and_nothing_else() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let neighbour = caller.send_off(Message::new("good")).await;
    let good = stage.next().await;
    let stream = caller.stream(Message::new("bad")).await;
    let bad = stage.next().await;
    bad.artifact("so far so good").await.expect("a live task");
    let task = bad.task.clone();
    bad.panic().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    let last = &frames[frames.len() - 1].data["result"];
    assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
    let failed = caller.get(&task).await;
    assert_eq!((state(&failed), artifact(&failed)), ("failed", "so far so good".to_owned()));
    assert!(!failed.to_string().contains("told to panic"), "{failed}");
    good.artifact("still here").await.expect("a live task");
    good.complete().await;
    assert_eq!(artifact(&caller.rest(id(&neighbour)).await), "still here");
    let completes = async { stage.next().await.complete().await };
    let (next, ()) = tokio::join!(caller.send(Message::new("next")), completes);
    assert_eq!(state(&next), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_panic_in_a_later_turn_ends_the_task_as_failed() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    let task = caller.send(Message::new("panic now").task(id(&asked))).await;
    assert_eq!((id(&task), state(&task)), (id(&asked), "failed"));
    server.finish().await;
}

#[tokio::test]
async fn extending_what_is_not_there_fails_the_task_and_is_not_lost_silently() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let extends = async {
        let run = stage.next().await;
        run.artifact("a result").await.expect("a live task");
        let (id, parts) = (ArtifactId::new("other").expect("an id"), Parts::text("more of it"));
        let more = ArtifactUpdate { id, parts, append: true, last: true, details: None };
        assert!(run.update(more).await.is_err());
        run
    };
    let (task, mut run) = tokio::join!(caller.send(Message::new("go")), extends);
    run.gone().await;
    assert_eq!((state(&task), artifact(&task)), ("failed", "a result".to_owned()));
    assert!(status_text(&task).contains("invalid response"), "{task}");
    server.finish().await;
}

/// Takes or refuses messages as their text says.
struct Picky;

#[async_trait]
impl AgentExecutor for Picky {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        match &*request.text() {
            "a bad field" => Err(Rejection::Invalid {
                field: "message.parts[0].text".to_owned(),
                problem: "is no order number".to_owned(),
            }),
            "not mine" => Err(Rejection::Unsupported),
            "the wrong type" => Err(Rejection::ContentType),
            "panic" => panic!("told to panic"),
            _ => Ok(Acceptance::Task),
        }
    }

    async fn run(&self, _turn: Turn, _out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        Ok(Outcome::Completed(None))
    }
}

#[tokio::test]
async fn a_message_that_the_agent_does_not_take_opens_no_task() {
    let picky = agent("picky", Arc::new(Picky));
    let server = TestServer::custom("", |builder| builder.with_agent(picky)).await;
    let caller = Caller::new(&server, "picky");
    for (text, code) in [("a bad field", -32602), ("not mine", -32004), ("the wrong type", -32005)]
    {
        let refused = caller.call("message/send", Message::new(text).params()).await;
        assert_eq!(refused["error"]["code"], code, "{text}");
        if code == -32602 {
            let violation = &refused["error"]["data"]["fieldViolations"][0];
            assert_eq!(violation["field"], "message.parts[0].text");
            assert_eq!(violation["description"], "is no order number");
        }
        let frames = caller.stream(Message::new(text)).await.collect().await;
        assert_eq!(frames[0].data["error"]["code"], code, "{text}");
    }
    assert!(caller.list().await.is_empty());
    server.finish().await;
}

#[tokio::test]
async fn a_panic_before_there_is_a_task_is_an_internal_error_and_not_a_broken_connection() {
    let picky = agent("picky", Arc::new(Picky));
    let server = TestServer::custom("", |builder| builder.with_agent(picky)).await;
    let caller = Caller::new(&server, "picky");
    let broken = caller.call("message/send", Message::new("panic").params()).await;
    assert_eq!(broken["error"]["code"], -32603);
    assert!(!broken.to_string().contains("told to panic"), "{broken}");
    let frames = caller.stream(Message::new("panic")).await.collect().await;
    assert_eq!(frames[0].data["error"]["code"], -32603);
    assert!(caller.list().await.is_empty());
    assert_eq!(state(&caller.send(Message::new("x")).await), "completed");
    server.finish().await;
}
