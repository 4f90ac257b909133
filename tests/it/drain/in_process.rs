//! The server within the test.

use crate::support::TestServer;
use crate::support::agents::{Puppet, Stage, agent, soon, until};
use crate::support::caller::{Caller, Message, artifact, id, state, status_text};
use serde_json::json;

async fn draining(limit: &str) -> (TestServer, Stage) {
    let server = format!("[server]\ndrain = \"{limit}\"\n");
    let echo = "[[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n";
    let (puppet, stage) = Puppet::new();
    let config = format!("{server}{echo}");
    let server =
        TestServer::custom(&config, |builder| builder.with_agent(agent("puppet", puppet))).await;
    (server, stage)
}

/// Waits until the server does not take messages any more.
pub(crate) async fn not_ready(server: &TestServer) {
    soon("the end of readiness", async {
        while server.get("/readyz", &[]).await.status != 503 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_begun_is_finished_and_nothing_new_is_taken() {
    let (mut server, mut stage) = draining("10m").await;
    assert_eq!(server.get("/readyz", &[]).await.status, 200);
    let caller = Caller::new(&server, "puppet");
    let done = caller.send_off(Message::new("done")).await;
    stage.next().await.complete().await;
    let asked = caller.send_off(Message::new("asks")).await;
    stage.next().await.ask("which?").await;
    caller.rest(id(&asked)).await;
    let stream = caller.stream(Message::new("streams")).await;
    let streams = stage.next().await;
    server.begin_to_stop();
    not_ready(&server).await;

    let caller = Caller::new(&server, "puppet");
    assert_eq!(server.get("/healthz", &[]).await.status, 200);
    assert_eq!(server.get("/.well-known/agent-card.json", &[]).await.status, 200);
    for method in ["message/send", "message/stream"] {
        for message in [Message::new("new"), Message::new("that one").task(id(&asked))] {
            let refused = caller.reply(method, message.params()).await;
            assert_eq!(refused.status, 503, "{method}");
            assert!(refused.headers.contains_key("retry-after"));
            assert_eq!(refused.headers["content-type"], "application/json");
            let body = refused.json();
            assert_eq!((&body["id"], &body["error"]["code"]), (&json!("c-1"), &json!(-32000)));
        }
    }
    // What is there can be read, followed and canceled.
    assert_eq!(state(&caller.rest(id(&done)).await), "completed");
    assert_eq!(caller.list().await.len(), 3);
    let mut second = caller.attach(&streams.task, None).await;
    second.next().await.expect("the task");
    assert_eq!(state(&caller.cancel(id(&asked)).await), "canceled");
    streams.artifact("in time").await.expect("a live task");
    streams.complete().await;
    for stream in [stream, second] {
        let frames = soon("the end of the stream", stream.collect()).await;
        let last = &frames[frames.len() - 1].data["result"];
        assert_eq!((state(last), &last["final"]), ("completed", &json!(true)));
    }
    assert_eq!(soon("the end of the server", server.stopped()).await.cut_off, 0);
}

#[tokio::test]
async fn a_send_that_waits_gets_its_answer_although_the_server_stops() {
    let (mut server, mut stage) = draining("10m").await;
    let run = {
        let caller = Caller::new(&server, "puppet");
        caller.send_off(Message::new("go")).await;
        stage.next().await
    };
    server.begin_to_stop();
    let caller = Caller::new(&server, "puppet");
    let task = run.task.clone();
    let completes = async {
        not_ready(&server).await;
        run.artifact("in time").await.expect("a live task");
        // Whoever waits holds on until the end, so the end has to wait for the waiting.
        let watching = caller.attach(&task, None).await;
        run.complete().await;
        watching.collect().await
    };
    let frames = soon("the end of the task", completes).await;
    assert_eq!(artifact(&frames[0].data["result"]), "in time");
    assert_eq!(state(&frames[frames.len() - 1].data["result"]), "completed");
    soon("the end of the server", server.stopped()).await;
}

#[tokio::test]
async fn what_does_not_end_in_time_is_ended_as_failed_and_everybody_is_told() {
    let (mut server, mut stage) = draining("30ms").await;
    let mut streams = Vec::new();
    let mut hanging = Vec::new();
    {
        let caller = Caller::new(&server, "puppet");
        for _ in 0..3 {
            streams.push(caller.stream(Message::new("hang")).await);
            let run = stage.next().await;
            run.chunk("half", false).await.expect("a live task");
            hanging.push(run);
        }
    }
    server.begin_to_stop();
    for mut run in hanging {
        run.gone().await;
    }
    for stream in streams {
        let frames = soon("the end of the stream", stream.collect()).await;
        let last = &frames[frames.len() - 1].data["result"];
        assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
        assert!(status_text(last).contains("shut down"), "{last}");
    }
    assert_eq!(soon("the end of the server", server.stopped()).await.cut_off, 3);
}

#[tokio::test]
async fn waiting_sends_are_told_when_their_run_is_cut_off() {
    let (mut server, mut stage) = draining("30ms").await;
    let (puppet_task, waits) = {
        let address = server.address();
        let waits = tokio::spawn(async move {
            let body =
                crate::support::caller::request("message/send", &Message::new("hang").params());
            let request = crate::support::client()
                .post(format!("http://{address}/api/v1/a2a/puppet/jsonrpc"))
                .header("content-type", "application/json");
            let answer = request.body(body.to_string()).send().await.expect("an answer");
            answer.bytes().await.expect("a whole body")
        });
        (stage.next().await, waits)
    };
    server.begin_to_stop();
    let answer = soon("the answer", waits).await.expect("a task");
    let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
    assert_eq!(id(&answer["result"]), puppet_task.task);
    assert_eq!(state(&answer["result"]), "failed");
    assert_eq!(soon("the end of the server", server.stopped()).await.cut_off, 1);
}

#[tokio::test]
async fn a_queued_run_does_not_keep_the_server_from_stopping() {
    let toml = r#"
        [server]
        drain = "30ms"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        max_running = 1
    "#;
    let mut server = TestServer::with_config(toml).await;
    let (running, queued) = {
        let caller = Caller::new(&server, "script");
        let running = caller.stream(Message::new("hang")).await;
        (running, caller.stream(Message::new("hang as well")).await)
    };
    until("both runs", || server.gauges().live_runs() == 2).await;
    server.begin_to_stop();
    for stream in [running, queued] {
        let frames = soon("the end of the stream", stream.collect()).await;
        assert_eq!(state(&frames[frames.len() - 1].data["result"]), "failed");
    }
    assert_eq!(soon("the end of the server", server.stopped()).await.cut_off, 2);
}

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    let (server, _stage) = draining("10m").await;
    assert_eq!(server.get("/healthz", &[]).await.status, 200);
    assert_eq!(soon("the end of the server", server.stopped()).await.cut_off, 0);
}
