//! A language model as an agent.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::service::SendMessage;
use a2ad_domain::testing::sample::{call, context, foreign_scopes, scope};
use a2ad_domain::{AgentSettings, Scope, TaskKey, TaskState};
use a2ad_executor::{CallSettings, Memory, OpenAi, OpenAiSettings, Secret, Value};
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::Duration;
use support::stub::{Call, Stub};
use support::{Server, artifacts, told};
use tokio::net::TcpListener;

const EVENTS: &str = "text/event-stream";

fn settings(stub: &Stub) -> OpenAiSettings {
    OpenAiSettings {
        base_url: stub.url("/v1/"),
        model: "small".to_owned(),
        system: None,
        parameters: Map::new(),
        call: CallSettings::default(),
        memory: Memory::default(),
    }
}

fn server(settings: OpenAiSettings) -> Server {
    adjusted(settings, |_| {})
}

fn adjusted(settings: OpenAiSettings, adjust: impl FnOnce(&mut AgentSettings)) -> Server {
    Server::new(Arc::new(OpenAi::new(settings)), adjust)
}

async fn both() -> (Stub, Server) {
    let stub = Stub::new().await;
    let server = server(settings(&stub));
    (stub, server)
}

/// An event with a token.
fn token(text: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
}

fn finish(reason: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }))
}

const DONE: &str = "data: [DONE]\n\n";

/// A whole answer.
fn answer(text: &str) -> String {
    format!("{}{}{DONE}", token(text), finish("stop"))
}

/// What the model was asked: roles and contents.
fn asked(call: &Call) -> Vec<String> {
    let body = call.json();
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .map(|message| {
            format!(
                "{}: {}",
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap()
            )
        })
        .collect()
}

/// Opens a task in the conversation "chat".
async fn say(server: &Server, scope: &Scope, text: &str) -> TaskKey {
    let call = SendMessage { context: Some(context("chat")), wait: Some(false), ..call(text) };
    server.service.send(scope, call).await.unwrap().into_task().key().clone()
}

mod contract {
    use super::*;

    fn make() -> OpenAi {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let stub = Stub::on(TcpListener::from_std(listener).unwrap());
        let settings = settings(&stub);
        stub.always(EVENTS, ANSWER);
        OpenAi::new(settings)
    }

    const ANSWER: &str = concat!(
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"two\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n",
        "data: [DONE]\n\n",
    );

    a2ad_domain::executor_contract!(make, "hello");
}

#[tokio::test]
async fn the_model_is_asked_as_it_is_configured() {
    let mut stub = Stub::new().await;
    let secret = Secret::Env("PATH".to_owned());
    let key = Value::Secret { secret, prefix: "Bearer ".to_owned() };
    let parameters = json!({ "temperature": 0.5, "seed": 7 });
    let call = CallSettings {
        headers: vec![("authorization".to_owned(), key)],
        ..CallSettings::default()
    };
    let server = server(OpenAiSettings {
        system: Some("Be brief.".to_owned()),
        parameters: parameters.as_object().unwrap().clone(),
        call,
        ..settings(&stub)
    });
    let key = server.open("hello").await.unwrap();
    let call = stub.next().await;
    assert_eq!(call.path(), "/v1/chat/completions");
    let bearer = format!("Bearer {}", std::env::var("PATH").unwrap());
    assert_eq!(call.header("authorization"), Some(&*bearer));
    let body = call.json();
    assert_eq!((&body["model"], &body["stream"]), (&"small".into(), &true.into()));
    assert_eq!((&body["temperature"], &body["seed"]), (&0.5.into(), &7.into()));
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
    assert_eq!(asked(&call), ["system: Be brief.", "user: hello"]);
    call.answer(200, EVENTS, answer("hi")).await;
    let task = server.ended(&key).await;
    assert_eq!((task.state(), &*artifacts(&task)), (TaskState::Completed, "hi"));
    server.assert_empty().await;
}

#[tokio::test]
async fn tokens_are_seen_as_they_come() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    let mut call = stub.next().await;
    call.begin(EVENTS).await;
    let mut whole = String::new();
    for word in ["one ", "two ", "three"] {
        whole.push_str(word);
        call.piece(token(word)).await;
        server.shows(&key, &whole).await;
    }
    call.piece(finish("stop")).await;
    call.piece(DONE).await;
    call.finish().await;
    assert_eq!(server.ended(&key).await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test]
async fn an_answer_is_the_same_however_it_is_cut_and_ended() {
    let whole = format!(": hi\n\n{}{}", token("你 "), answer("two"));
    let no_done = format!("{}{}", token("你 two"), finish("stop"));
    let crlf = whole.replace('\n', "\r\n");
    let at_once = json!({ "choices": [{ "message": { "content": "你 two" } }] }).to_string();
    for (media_type, body) in [
        (EVENTS, &whole),
        (EVENTS, &no_done),
        (EVENTS, &crlf),
        ("application/json; charset=utf-8", &at_once),
    ] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        let mut call = stub.next().await;
        call.begin(media_type).await;
        for byte in body.as_bytes() {
            call.piece([*byte]).await;
        }
        call.finish().await;
        let task = server.ended(&key).await;
        assert_eq!((task.state(), &*artifacts(&task)), (TaskState::Completed, "你 two"), "{body}");
    }
}

#[tokio::test]
async fn what_an_answer_has_cost_is_in_the_metadata_of_the_task() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    let usage = json!({ "prompt_tokens": 5, "completion_tokens": 1, "details": { "cached": 2 } });
    let last = json!({ "model": "small-1", "choices": [], "usage": usage });
    let body = format!("{}{}data: {last}\n\n{DONE}", token("hi"), finish("length"));
    stub.next().await.answer(200, EVENTS, body).await;
    let task = server.ended(&key).await;
    let metadata: serde_json::Value =
        serde_json::from_str(task.metadata().unwrap().as_str()).unwrap();
    let expected = json!({ "model": "small-1", "finishReason": "length", "usage": usage });
    assert_eq!(metadata, expected);
}

#[tokio::test]
async fn a_model_that_declines_rejects_the_task() {
    let refusal = json!({ "choices": [{ "delta": { "refusal": "Not that." } }] });
    for (body, why) in [
        (format!("data: {refusal}\n\n{}{DONE}", finish("stop")), "Not that."),
        (format!("{}{DONE}", finish("content_filter")), "The model declined to answer."),
    ] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        stub.next().await.answer(200, EVENTS, body).await;
        let task = server.ended(&key).await;
        assert_eq!((task.state(), told(&task)), (TaskState::Rejected, why));
    }
}

#[tokio::test]
async fn a_stream_that_makes_no_sense_fails_and_keeps_what_came_before() {
    let error = r#"data: {"error":{"message":"secret","code":"context_length_exceeded"}}"#;
    let tools = json!({ "choices": [{ "delta": { "tool_calls": [{ "id": "secret" }] } }] });
    for (rest, reason) in [
        ("data: secret\n\n".to_owned(), "The model server gave an invalid response"),
        ("data: {\"choices\":7}\n\n".to_owned(), "The model server gave an invalid response"),
        (format!("{error}\n\n"), "The conversation is too long for the model"),
        ("data: {\"error\":\"secret\"}\n\n".to_owned(), "The model server failed"),
        (String::new(), "The model broke off its answer"),
        (format!("data: {tools}\n\n"), "The model asked for tools, and it has none here"),
    ] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        stub.next().await.answer(200, EVENTS, format!("{}{rest}", token("half"))).await;
        let task = server.ended(&key).await;
        assert_eq!((task.state(), &*artifacts(&task)), (TaskState::Failed, "half"), "{rest}");
        assert!(told(&task).starts_with(&format!("{reason} (reference ")), "{}", told(&task));
        assert!(!format!("{task:?}").contains("secret"));
        server.assert_empty().await;
    }
}

#[tokio::test]
async fn a_status_is_told_in_words_and_what_the_server_says_is_not() {
    let too_long = r#"{"error":{"code":"context_length_exceeded","message":"secret"}}"#;
    for (status, body, reason) in [
        (401, "secret", "The model server refused the credentials"),
        (403, "secret", "The model server refused the credentials"),
        (404, "secret", "The model server does not know the model or the address"),
        (400, "secret", "The model server did not accept the request"),
        (400, too_long, "The conversation is too long for the model"),
        (429, "secret", "The model server is busy"),
        (500, "secret", "The model server failed"),
        (302, "secret", "The model server failed"),
    ] {
        let mut stub = Stub::new().await;
        let call = CallSettings { retries: 0, ..CallSettings::default() };
        let server = server(OpenAiSettings { call, ..settings(&stub) });
        let key = server.open("go").await.unwrap();
        stub.next().await.answer(status, "application/json", body).await;
        let task = server.ended(&key).await;
        assert!(told(&task).starts_with(&format!("{reason} (reference ")), "{}", told(&task));
        assert!(!format!("{task:?}").contains("secret"));
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    for status in [429, 502] {
        stub.next().await.answer_with(status, &[("retry-after", "0")], "").await;
    }
    stub.next().await.answer(200, EVENTS, answer("at last")).await;
    assert_eq!(artifacts(&*server.ended(&key).await), "at last");
    // Not after the answer has begun.
    let key = server.open("go").await.unwrap();
    let mut call = stub.next().await;
    call.begin(EVENTS).await;
    call.piece(token("half")).await;
    server.shows(&key, "half").await;
    call.break_off();
    let task = server.ended(&key).await;
    let reason = "The model server broke off its answer (reference ";
    assert!(told(&task).starts_with(reason), "{}", told(&task));
    assert!(!stub.was_called());
    server.assert_empty().await;
}

#[tokio::test]
async fn a_cancel_or_a_deadline_closes_the_call() {
    let mut stub = Stub::new().await;
    let limit = Duration::from_secs(30);
    let server = adjusted(settings(&stub), |own| own.deadline = Some(limit));
    for cancel in [true, false] {
        let key = server.open("go").await.unwrap();
        let mut call = stub.next().await;
        call.begin(EVENTS).await;
        call.piece(token("half")).await;
        server.shows(&key, "half").await;
        if cancel {
            server.cancel(&key).await.unwrap();
        } else {
            let task = server.out_of_time(&key).await;
            assert_eq!(told(&task), "The agent did not finish within 30 seconds.");
        }
        call.gone().await;
        server.runtime.idle().await;
    }
    server.assert_empty().await;
}

#[tokio::test]
async fn the_conversation_is_told_and_nobody_elses() {
    let (mut stub, server) = both().await;
    let mine = scope();
    let first = say(&server, &mine, "I am Ann").await;
    stub.next().await.answer(200, EVENTS, answer("Hello Ann")).await;
    server.ended(&first).await;
    let second = say(&server, &mine, "Who am I?").await;
    let call = stub.next().await;
    assert_eq!(asked(&call), ["user: I am Ann", "assistant: Hello Ann", "user: Who am I?"]);
    call.answer(200, EVENTS, answer("Ann")).await;
    server.ended(&second).await;
    for stranger in foreign_scopes() {
        let key = say(&server, &stranger, "Who am I?").await;
        let call = stub.next().await;
        assert_eq!(asked(&call), ["user: Who am I?"]);
        call.answer(200, EVENTS, answer("I do not know")).await;
        server.ended(&key).await;
    }
    server.assert_empty().await;
}

#[tokio::test]
async fn turns_that_go_on_at_the_same_time_do_not_mix_and_failed_ones_leave_nothing() {
    let (mut stub, server) = both().await;
    let one = say(&server, &scope(), "one").await;
    let mut first = stub.next().await;
    first.begin(EVENTS).await;
    first.piece(token("half of one")).await;
    server.shows(&one, "half of one").await;
    let two = say(&server, &scope(), "two").await;
    let second = stub.next().await;
    assert_eq!(asked(&second), ["user: two"]);
    second.answer(200, EVENTS, answer("TWO")).await;
    server.ended(&two).await;
    first.break_off();
    assert_eq!(server.ended(&one).await.state(), TaskState::Failed);
    let canceled = say(&server, &scope(), "three").await;
    let third = stub.next().await;
    server.cancel(&canceled).await.unwrap();
    third.gone().await;
    let four = say(&server, &scope(), "four").await;
    let fourth = stub.next().await;
    assert_eq!(asked(&fourth), ["user: two", "assistant: TWO", "user: four"]);
    fourth.answer(200, EVENTS, answer("FOUR")).await;
    server.ended(&four).await;
    server.runtime.idle().await;
    server.assert_empty().await;
}

#[tokio::test]
async fn the_conversation_has_a_limit_in_messages_and_in_bytes() {
    for (memory, told) in [
        (Memory { messages: 2, bytes: 1 << 20 }, 2),
        (Memory { messages: 0, bytes: 1 << 20 }, 0),
        (Memory { messages: 100, bytes: 0 }, 0),
        (Memory { messages: 100, bytes: 5000 }, 4),
    ] {
        let mut stub = Stub::new().await;
        let server = server(OpenAiSettings { memory, ..settings(&stub) });
        for _ in 0..3 {
            let key = say(&server, &scope(), &"x".repeat(2000)).await;
            stub.next().await.answer(200, EVENTS, answer("yes")).await;
            server.ended(&key).await;
        }
        let key = say(&server, &scope(), "now").await;
        let call = stub.next().await;
        assert_eq!(asked(&call).len(), told + 1, "{memory:?}");
        call.answer(200, EVENTS, answer("yes")).await;
        server.ended(&key).await;
    }
}

#[tokio::test]
async fn fifty_runs_at_once_do_not_mix() {
    let (mut stub, server) = both().await;
    let mut keys = Vec::new();
    for number in 0..50 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    let mut calls = Vec::new();
    for _ in 0..50 {
        calls.push(stub.next().await);
    }
    for call in calls.into_iter().rev() {
        let text = asked(&call).pop().unwrap().replace("user: ", "");
        call.answer(200, EVENTS, answer(&text)).await;
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(artifacts(&*server.ended(key).await), number.to_string());
    }
    server.assert_empty().await;
}
