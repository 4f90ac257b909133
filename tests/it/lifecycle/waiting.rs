//! When a send returns: at once, when the task rests, or when the wait limit has passed.

use crate::support::TestServer;
use crate::support::agents::{Puppet, agent, agent_with, soon};
use crate::support::caller::{Caller, Message, artifact, id, state, status_text};
use a2ad_domain::{AgentSettings, SendDefault};
use futures_util::future::join_all;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_send_that_waits_shows_everything_that_a_later_look_shows() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let payload = "0123456789".repeat(10);
    let round = async || {
        for _ in 0..13 {
            let task = caller.send(Message::new(format!("chunks:50|{payload}"))).await;
            assert_eq!((state(&task), artifact(&task)), ("completed", payload.clone()));
            assert_eq!(caller.get(id(&task)).await, task);
        }
    };
    join_all((0..16).map(|_| round())).await;
    server.finish().await;
}

#[tokio::test]
async fn a_send_that_does_not_block_returns_while_the_agent_works() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    for asks in [
        Message::new("a").blocking(false),
        Message::new("b").configured("returnImmediately", true),
        Message::new("c").configured("return_immediately", true),
    ] {
        let task = soon("the answer", caller.ok("message/send", asks.params())).await;
        assert!(["submitted", "working"].contains(&state(&task)), "{task}");
        let run = stage.next().await;
        assert_eq!(run.task, id(&task));
        assert!(["submitted", "working"].contains(&state(&caller.get(id(&task)).await)));
        run.complete_with("done").await;
        assert_eq!(state(&caller.rest(id(&task)).await), "completed");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_send_that_says_nothing_waits() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let modes = json!([]);
    for asks in [
        Message::new("hold:5|x"),
        Message::new("hold:5|x").configured("acceptedOutputModes", modes),
        Message::new("hold:5|x").configured("returnImmediately", false),
        Message::new("hold:5|x").blocking(true),
    ] {
        let task = caller.send(asks).await;
        assert_eq!((state(&task), artifact(&task)), ("completed", "x".to_owned()));
    }
    server.finish().await;
}

#[tokio::test]
async fn an_agent_can_have_it_the_other_way_round() {
    let (puppet, mut stage) = Puppet::new();
    let settings = AgentSettings { send_default: SendDefault::Return, ..AgentSettings::default() };
    let hasty = agent_with("hasty", settings, puppet);
    let server = TestServer::custom("", |builder| builder.with_agent(hasty)).await;
    let caller = Caller::new(&server, "hasty");
    let task = soon("the answer", caller.send(Message::new("go"))).await;
    assert!(["submitted", "working"].contains(&state(&task)), "{task}");
    stage.next().await.complete().await;
    let completes = async { stage.next().await.complete().await };
    let asks = caller.send(Message::new("wait for me").blocking(true));
    let (task, ()) = tokio::join!(asks, completes);
    assert_eq!(state(&task), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_send_returns_when_the_agent_asks_for_input() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let task = soon("the question", caller.send(Message::new("ask which fruit?"))).await;
    assert_eq!((state(&task), status_text(&task)), ("input-required", "which fruit?".to_owned()));
    server.finish().await;
}

#[tokio::test]
async fn a_send_returns_when_credentials_are_needed_and_the_run_goes_on_by_itself() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let needs = async {
        let run = stage.next().await;
        run.working().await.expect("a live task");
        run.need_auth("log in over there").await.expect("a live task");
        run
    };
    let (task, run) = tokio::join!(caller.send(Message::new("go")), needs);
    assert_eq!(
        (state(&task), status_text(&task)),
        ("auth-required", "log in over there".to_owned())
    );
    run.working().await.expect("a live task");
    run.artifact("paid").await.expect("a live task");
    run.complete().await;
    let task = soon("the end", async {
        loop {
            let task = caller.get(id(&task)).await;
            if state(&task) == "completed" {
                return task;
            }
        }
    })
    .await;
    assert_eq!(artifact(&task), "paid");
    server.finish().await;
}

#[tokio::test]
async fn the_wait_has_a_limit_and_the_run_does_not_mind() {
    let (puppet, mut stage) = Puppet::new();
    let toml = "[server]\nwait_limit = \"20ms\"\n";
    let echo = "[[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n";
    let config = format!("{toml}{echo}");
    let server =
        TestServer::custom(&config, |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let works = async {
        let run = stage.next().await;
        run.working().await.expect("a live task");
        run
    };
    let (task, run) = tokio::join!(caller.send(Message::new("go")), works);
    assert!(["submitted", "working"].contains(&state(&task)), "{task}");
    run.artifact("late and good").await.expect("a live task");
    run.complete().await;
    let task = caller.rest(id(&task)).await;
    assert_eq!((state(&task), artifact(&task)), ("completed", "late and good".to_owned()));
    server.finish().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_while_it_waits_ends_nothing() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let run = {
        let mut sends = Box::pin(caller.send(Message::new("go")));
        tokio::select! {
            task = &mut sends => panic!("nothing has ended: {task}"),
            run = stage.next() => run,
        }
    };
    run.artifact("for whoever asks").await.expect("a live task");
    let task = run.task.clone();
    run.complete().await;
    let task = caller.rest(&task).await;
    assert_eq!((state(&task), artifact(&task)), ("completed", "for whoever asks".to_owned()));
    server.finish().await;
}
