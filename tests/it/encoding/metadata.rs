//! What an agent says about a task as a whole.

use crate::support::TestServer;
use crate::support::agents::agent;
use crate::support::caller::{Caller, Message, id};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Parts, RawJson};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// Says what its work costs: once while it works, and once at the end.
struct Costly;

#[async_trait]
impl AgentExecutor for Costly {
    async fn run(&self, _turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        out.metadata(
            RawJson::parse(r#"{"a":1,"n":9007199254740993}"#).map_err(AgentError::failed)?,
        );
        out.working(Some(Parts::text("half"))).await?;
        out.metadata(RawJson::parse(r#"{"a":2}"#).map_err(AgentError::failed)?);
        out.metadata(RawJson::parse(r#"{"b":[]}"#).map_err(AgentError::failed)?);
        Ok(Outcome::Completed(None))
    }
}

#[tokio::test]
async fn metadata_is_in_the_task_and_in_the_event_that_it_came_with() {
    let costly = agent("costly", Arc::new(Costly));
    let server = TestServer::custom("", |builder| builder.with_agent(costly)).await;
    let caller = Caller::new(&server, "costly");
    let frames = caller.stream(Message::new("go")).await.collect().await;
    let told: Vec<&Value> = frames
        .iter()
        .map(|frame| &frame.data["result"])
        .filter(|it| it["kind"] != "task")
        .collect();
    let of = |index: usize| told[index]["metadata"].to_string();
    assert_eq!((told.len(), &*of(0)), (2, r#"{"a":1,"n":9007199254740993}"#));
    assert_eq!(told[1]["metadata"], json!({ "a": 2, "b": [] }));
    let whole = json!({ "a": 2, "n": 9_007_199_254_740_993_u64, "b": [] });
    let task_id = id(&frames[0].data["result"]).to_owned();
    assert_eq!(caller.get(&task_id).await["metadata"], whole);
    let headers = [("a2a-version", "1.0")];
    let task = server.get(&format!("/api/v1/a2a/costly/tasks/{task_id}"), &headers).await.json();
    assert_eq!(task["metadata"], whole);
    server.finish().await;
}

#[tokio::test]
async fn a_task_that_nobody_says_anything_about_has_no_metadata() {
    let server = TestServer::start().await;
    let task = Caller::new(&server, "echo").send(Message::new("x")).await;
    assert_eq!(task.get("metadata"), None);
    server.finish().await;
}
