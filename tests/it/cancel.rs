//! Cancel: it stops the run and not only the record, everybody is told, and what has ended stays.

use crate::support::TestServer;
use crate::support::agents::{Counted, Gated, Puppet, agent, agent_with, soon, until};
use crate::support::caller::{Caller, Message, artifact, history, id, state};
use a2ad_domain::AgentSettings;
use serde_json::json;

#[tokio::test]
async fn a_cancel_stops_the_run() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let task = caller.send_off(Message::new("go")).await;
    let mut run = stage.next().await;
    run.chunk("so far", false).await.expect("a live task");
    let canceled = caller.cancel(id(&task)).await;
    assert_eq!((state(&canceled), artifact(&canceled)), ("canceled", "so far".to_owned()));
    run.canceled().await;
    run.gone().await;
    assert!(run.chunk("and on", true).await.is_err());
    assert_eq!(caller.get(id(&task)).await, canceled);
    server.finish().await;
}

#[tokio::test]
async fn what_a_stubborn_run_still_does_is_thrown_away() {
    let (puppet, mut stage) = Puppet::stubborn();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    for ending in ["completed", "failed", "asked"] {
        let task = caller.send_off(Message::new("go")).await;
        let run = stage.next().await;
        run.working().await.expect("a live task");
        let canceled = caller.cancel(id(&task)).await;
        assert_eq!(state(&canceled), "canceled");
        assert!(run.artifact("too late").await.is_err());
        assert!(run.progress("not at all").await.is_err());
        match ending {
            "completed" => run.complete_with("done after all").await,
            "failed" => run.fail("after the cancel").await,
            _ => run.ask("anybody there?").await,
        }
        let after = caller.get(id(&task)).await;
        assert_eq!(after, canceled, "the run {ending}");
        assert_eq!(history(&after), ["user: go"]);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_run_may_clean_up_but_not_for_ever() {
    let (puppet, mut stage) = Puppet::stubborn();
    let grace = std::time::Duration::from_millis(20);
    let settings = AgentSettings { grace, ..AgentSettings::default() };
    let stubborn = agent_with("puppet", settings, puppet);
    let server = TestServer::custom("", |builder| builder.with_agent(stubborn)).await;
    let caller = Caller::new(&server, "puppet");
    let task = caller.send_off(Message::new("go")).await;
    let mut run = stage.next().await;
    caller.cancel(id(&task)).await;
    run.canceled().await;
    // It is told, does nothing about it, and is dropped.
    run.gone().await;
    assert_eq!(state(&caller.get(id(&task)).await), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn the_script_agent_does_not_need_its_grace() {
    let toml = r#"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        grace = "10m"
    "#;
    let server = TestServer::with_config(toml).await;
    let caller = Caller::new(&server, "script");
    for text in ["hang", "hold:600000|x", "slow 600 x", "tick:1|x"] {
        let task = caller.send_off(Message::new(text)).await;
        assert_eq!(state(&caller.cancel(id(&task)).await), "canceled");
        until(&format!("the end of {text}"), || server.gauges().live_runs() == 0).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_task_can_be_canceled_before_its_agent_has_said_anything() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let task = caller.send_off(Message::new("go")).await;
    assert_eq!(state(&task), "submitted");
    assert_eq!(state(&caller.cancel(id(&task)).await), "canceled");
    assert_eq!(state(&caller.get(id(&task)).await), "canceled");
    if let Some(mut run) = stage.try_next() {
        run.gone().await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_task_that_is_canceled_in_the_queue_never_starts() {
    let (gated, mut gates) = Gated::new();
    let counted = Counted::new(gated);
    let settings = AgentSettings { max_running: 1, ..AgentSettings::default() };
    let single = agent_with("single", settings, counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(single)).await;
    let caller = Caller::new(&server, "single");
    let first = caller.send_off(Message::new("gate first")).await;
    let gate = gates.next().await;
    let queued = caller.send_off(Message::new("second")).await;
    let third = caller.send_off(Message::new("third")).await;
    let watching = caller.attach(id(&queued), None).await;
    assert_eq!(state(&caller.cancel(id(&queued)).await), "canceled");
    let frames = watching.collect().await;
    assert_eq!(state(&frames[1].data["result"]), "canceled");
    gate.open();
    assert_eq!(state(&caller.rest(id(&first)).await), "completed");
    assert_eq!(state(&caller.rest(id(&third)).await), "completed");
    assert_eq!(state(&caller.get(id(&queued)).await), "canceled");
    assert_eq!(counted.started(), 2);
    server.finish().await;
}

#[tokio::test]
async fn every_open_stream_ends_with_the_cancel() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let mut first = caller.stream(Message::new("go")).await;
    let opened = first.next().await.expect("the task").data["result"].clone();
    let run = stage.next().await;
    run.working().await.expect("a live task");
    let second = caller.attach(id(&opened), None).await;
    let canceled = caller.cancel(id(&opened)).await;
    for stream in [first, second] {
        let frames = soon("the end of a stream", stream.collect()).await;
        let results = frames.iter().map(|frame| &frame.data["result"]);
        let canceled_frames: Vec<_> =
            results.filter(|result| result["status"]["state"] == "canceled").collect();
        assert_eq!(canceled_frames.len(), 1, "{frames:?}");
        let last = &frames.last().expect("events").data["result"];
        assert_eq!((&last["kind"], &last["final"]), (&json!("status-update"), &json!(true)));
        assert_eq!(last["status"], canceled["status"]);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_send_that_waits_returns_the_canceled_task() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let cancels = async {
        let run = stage.next().await;
        caller.cancel(&run.task).await
    };
    let (sent, canceled) = tokio::join!(caller.send(Message::new("go")), cancels);
    assert_eq!(state(&sent), "canceled");
    assert_eq!(sent, canceled);
    server.finish().await;
}

#[tokio::test]
async fn what_has_ended_cannot_be_canceled_and_stays_as_it_was() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for text in ["plain words", "fail", "reject this", "panic"] {
        let task = caller.send(Message::new(text)).await;
        let refused = caller.call("tasks/cancel", json!({ "id": id(&task) })).await;
        let error = json!({ "code": -32002, "message": "Task cannot be canceled", "data": null });
        assert_eq!(refused["error"], error, "{text}");
        assert_eq!(caller.get(id(&task)).await, task, "{text}");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_second_cancel_is_refused_and_changes_nothing() {
    let (gated, _gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    for text in ["ask for it", "gate x"] {
        let task = caller.send_off(Message::new(text)).await;
        let canceled = caller.cancel(id(&task)).await;
        assert_eq!(state(&canceled), "canceled");
        assert_eq!(caller.code("tasks/cancel", json!({ "id": id(&task) })).await, -32002);
        assert_eq!(caller.get(id(&task)).await, canceled);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_task_that_waits_for_somebody_can_be_canceled() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    for waits_for in ["input", "credentials", "credentials on its own"] {
        let task = caller.send_off(Message::new("go")).await;
        let run = stage.next().await;
        match waits_for {
            "input" => run.ask("which one?").await,
            "credentials" => run.wait_for_auth("log in").await,
            _ => {
                run.need_auth("log in").await.expect("a live task");
                caller.cancel(id(&task)).await;
                run.canceled().await;
                assert_eq!(state(&caller.get(id(&task)).await), "canceled");
                continue;
            }
        }
        let parked = caller.rest(id(&task)).await;
        let canceled = caller.cancel(id(&task)).await;
        assert_eq!(state(&canceled), "canceled");
        // What the agent had said stays part of the conversation.
        assert_eq!(history(&canceled).len(), history(&parked).len() + 1);
        let answer = Message::new("the red one").task(id(&task));
        assert_eq!(caller.code("message/send", answer.params()).await, -32004);
    }
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_task_cannot_be_canceled() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for unknown in ["nope", "", "3b9f6f0e-0000-4000-8000-000000000001"] {
        let code = caller.code("tasks/cancel", json!({ "id": unknown })).await;
        assert!(code == -32001 || unknown.is_empty() && code == -32602, "{unknown}: {code}");
    }
    server.finish().await;
}
