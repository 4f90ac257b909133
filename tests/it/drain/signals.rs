//! The binary: signals, exit codes, and what it never logs.

use super::held::{Programs, release};
use super::process::{Process, command};
use crate::support::agents::soon;
use crate::support::caller::{Message, id, request, state, status_text};
use futures_util::future::join_all;
use serde_json::json;
use std::process::Stdio;

fn config(drain: &str) -> String {
    let agents = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n\
                  [[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n";
    format!("[server]\ndrain = \"{drain}\"\n{agents}")
}

#[tokio::test]
async fn a_signal_lets_runs_end_and_takes_nothing_new() {
    let programs = Programs::new().await;
    let process = Process::start(&(config("10m") + &programs.agent()), "info").await;
    assert_eq!(process.get("/readyz").await, Some(200));
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(process.stream_of("held", Message::new("x")).await);
    }
    let send = |message: Message| request("message/send", &message.params()).to_string();
    for _ in 0..3 {
        let sent = process.raw("held", send(Message::new("y").blocking(false)));
        assert_eq!(sent.await.0, 200);
    }
    let waits = (0..3).map(|_| process.raw("held", send(Message::new("z"))));
    let signals = async {
        let programs = programs.up(9).await;
        process.signal("TERM").await;
        process.not_ready().await;
        for method in ["message/send", "message/stream"] {
            let (status, refused) = process.call(method, Message::new("new").params()).await;
            assert_eq!((status, &refused["error"]["code"]), (503, &json!(-32000)), "{method}");
        }
        assert_eq!(process.get("/.well-known/agent-card.json").await, Some(200));
        release(programs).await;
    };
    let (answers, ()) = futures_util::future::join(join_all(waits), signals).await;
    for (status, answer) in answers {
        assert_eq!((status, state(&answer["result"])), (200, "completed"));
    }
    for stream in streams {
        let frames = soon("the end of a stream", stream.collect()).await;
        let last = &frames[frames.len() - 1].data["result"];
        assert_eq!((state(last), &last["final"]), ("completed", &json!(true)));
    }
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
}

#[tokio::test]
async fn a_signal_ends_the_runs_that_do_not_end_in_time() {
    let process = Process::start(&config("50ms"), "info").await;
    let mut hanging = process.stream(Message::new("hang")).await;
    hanging.next().await.expect("the task");
    process.signal("TERM").await;
    let frames = soon("the end of a stream", hanging.collect()).await;
    let last = &frames[frames.len() - 1].data["result"];
    assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
    assert!(status_text(last).contains("shut down"), "{last}");
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
}

#[tokio::test]
async fn a_second_signal_ends_the_process_at_once() {
    for (first, second) in [("TERM", "TERM"), ("INT", "INT"), ("TERM", "INT")] {
        let process = Process::start(&config("10m"), "info").await;
        let mut hanging = process.stream(Message::new("hang")).await;
        hanging.next().await.expect("the task");
        process.signal(first).await;
        process.not_ready().await;
        process.signal(second).await;
        let (status, output) = process.ended().await;
        assert_eq!(status.code(), Some(130), "{output}");
    }
}

#[tokio::test]
async fn an_idle_process_ends_well_at_the_first_signal() {
    for signal in ["TERM", "INT"] {
        let process = Process::start(&config("10m"), "info").await;
        process.signal(signal).await;
        assert_eq!(process.ended().await.0.code(), Some(0));
    }
}

#[tokio::test]
async fn exit_codes_say_what_was_wrong() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = port.local_addr().expect("an address").to_string();
    let nowhere = "/nowhere/at/all.toml";
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["serve", "--help"], 0),
        (&["--version"], 0),
        (&[], 64),
        (&["serve", "--nonsense"], 64),
        (&["sevre"], 64),
        (&["serve", "--listen", "here"], 64),
        (&["serve", "--store", "paper"], 64),
        (&["serve", "--config", nowhere], 78),
        (&["check", "--config", nowhere], 78),
        (&["serve", "--listen", "0.0.0.0:0"], 78),
        (&["serve", "--listen", &taken, "--store", "memory"], 69),
    ] {
        let mut command = command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = soon("the end of the process", command.output()).await.expect("a process");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        let said = if code == 0 { output.stdout } else { output.stderr };
        assert!(!said.is_empty(), "{arguments:?} says nothing");
    }
}

/// In every text, and in nothing that the server makes itself.
const SENTINEL: &str = "Xq7-never-in-a-log";

#[tokio::test]
async fn what_messages_say_is_never_logged() {
    let process = Process::start(&config("50ms"), "trace").await;
    for command in
        ["plain", "ask", "auth", "say", "reject", "fail", "panic", "chunks 3", "slow 0", "hold:1|"]
    {
        let message = Message::new(format!("{command} {SENTINEL}"));
        let message = message.with("metadata", json!({ "note": SENTINEL }));
        let (status, answer) = process.call("message/send", message.clone().params()).await;
        assert_eq!(status, 200, "{answer}");
        if answer["result"]["status"]["state"] == "input-required" {
            let answer = message.task(id(&answer["result"]));
            process.call("message/send", answer.params()).await;
        }
        process.stream(Message::new(format!("{command} {SENTINEL}"))).await.collect().await;
    }
    let mut hanging = process.stream(Message::new(format!("hang {SENTINEL}"))).await;
    hanging.next().await.expect("the task");
    let file =
        json!([{ "kind": "file", "file": { "bytes": format!("%{SENTINEL}"), "name": SENTINEL } }]);
    for body in [
        format!("{{\"{SENTINEL}\": "),
        format!("[\"{SENTINEL}\"]"),
        request(SENTINEL, &json!({ "text": SENTINEL })).to_string(),
        request("message/send", &json!({ "message": SENTINEL })).to_string(),
        request("message/send", &Message::new(SENTINEL).with("role", SENTINEL).params())
            .to_string(),
        request("message/send", &Message::new("x").with("parts", file).params()).to_string(),
        request("message/send", &Message::new(SENTINEL).task(SENTINEL).params()).to_string(),
        request("tasks/get", &json!({ "id": SENTINEL })).to_string(),
        request("tasks/list", &json!({ "pageToken": SENTINEL, "status": SENTINEL })).to_string(),
    ] {
        let (status, answer) = process.raw("script", body.clone()).await;
        assert_eq!(status, 200, "{body}");
        assert!(answer.get("error").is_some(), "{body}");
    }
    process
        .raw("echo", request("message/send", &Message::new(SENTINEL).params()).to_string())
        .await;
    process.signal("TERM").await;
    soon("the end of a stream", hanging.collect()).await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    // The failure and the panic of the script agent are in the log; so it is the log that was read.
    assert!(output.contains("an executor failed") && output.contains("panic"), "{output}");
    let told: Vec<_> = output.lines().filter(|line| line.contains(SENTINEL)).collect();
    assert!(told.is_empty(), "{told:#?}");
}
