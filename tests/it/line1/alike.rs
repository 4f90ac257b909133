//! Whatever the line and the binding, a call does the same: the agents are walked through every path over
//! all four, and what came back is compared in one form.

mod binding;

use crate::support::TestServer;
use crate::support::agents::{Gated, agent};
use crate::support::binding::{BINDINGS, Binding};
use binding::{Outcome, Step};
use serde_json::{Value, json};
use std::sync::Arc;

/// A server with a script agent that is not waited for when its task is canceled.
async fn server() -> TestServer {
    let (gated, _gates) = Gated::new();
    TestServer::custom("", |builder| {
        let script = Arc::new(a2ad_executor::Script);
        builder.with_agent(agent("script", script)).with_agent(agent("gated", gated))
    })
    .await
}

/// What each binding makes of a walk; all have to be the same.
async fn compare(walk: impl AsyncFn(&Step<'_>) -> Vec<Outcome>) {
    let server = server().await;
    let mut first: Option<(Binding, Vec<Outcome>)> = None;
    for binding in BINDINGS {
        let step = Step { server: &server, binding, agent: "script" };
        let outcomes = walk(&step).await;
        match &first {
            None => first = Some((binding, outcomes)),
            Some((other, wanted)) => assert_eq!(outcomes, *wanted, "{binding:?} against {other:?}"),
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_send_ends_alike() {
    for said in [
        "plain",
        "",
        "chunks 3 abc",
        "ask which?",
        "say hi",
        "reject no",
        "fail",
        "panic",
        "auth please",
    ] {
        compare(async |step| vec![step.send(said, None).await]).await;
    }
}

#[tokio::test]
async fn a_stream_shows_the_same_steps() {
    for said in
        ["plain", "chunks 3 abc", "ask which?", "say hi", "reject no", "fail", "auth please"]
    {
        compare(async |step| step.stream(said, None).await).await;
    }
}

#[tokio::test]
async fn a_talk_of_several_turns_goes_alike() {
    compare(async |step| {
        let asked = step.send("ask one?", None).await;
        let again = step.send("ask two?", asked.task.as_deref()).await;
        let done = step.stream("done", again.task.as_deref()).await;
        let read = step.get(asked.task.as_deref().expect("a task")).await;
        let late = step.send("more", asked.task.as_deref()).await;
        let canceled = step.cancel(asked.task.as_deref().expect("a task")).await;
        [vec![asked, again], done, vec![read, late, canceled]].concat()
    })
    .await;
}

#[tokio::test]
async fn a_task_at_work_is_read_refused_a_message_and_canceled_alike() {
    compare(async |step| {
        let sent = step.send_off("hang").await;
        let id = sent.task.as_deref().expect("a task").to_owned();
        let more = step.send("more", Some(&id)).await;
        let canceled = step.cancel(&id).await;
        let again = step.cancel(&id).await;
        let read = step.get(&id).await;
        let watched = step.watch(&id).await;
        vec![more, canceled, again, read, watched]
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_is_refused_alike() {
    compare(async |step| {
        vec![
            step.get("none").await,
            step.cancel("none").await,
            step.watch("none").await,
            step.send("x", Some("none")).await,
            step.message(json!([]), None).await,
            step.message(json!([{}]), None).await,
            step.message(json!([{ "text": "x" }]), Some("")).await,
        ]
    })
    .await;
}

#[tokio::test]
async fn a_list_holds_the_same() {
    compare(async |step| {
        let context = format!("c-{:?}", step.binding);
        for said in ["one", "fail", "ask which?"] {
            step.send_in(said, &context).await;
        }
        let mut listed = step.list(&context).await;
        listed.sort_by_key(|outcome| outcome.state.clone());
        listed
    })
    .await;
}

/// The bytes of a result do not depend on the binding, but for what stands around it.
#[tokio::test]
async fn a_result_of_the_line_is_the_same_over_both_bindings() {
    let server = server().await;
    let rpc = Step { server: &server, binding: Binding::NewRpc, agent: "script" };
    let rest = Step { server: &server, binding: Binding::NewRest, agent: "script" };
    let ids = ["plain", "ask which?", "fail", "chunks 2 ab"];
    for said in ids {
        let id = rpc.send(said, None).await.task.expect("a task");
        let (one, other) = (rpc.raw_get(&id).await, rest.raw_get(&id).await);
        assert_eq!(one, format!(r#"{{"jsonrpc":"2.0","id":"n-1","result":{other}}}"#));
        serde_json::from_str::<Value>(&other).expect("JSON");
    }
    server.finish().await;
}
