//! A turn that begins again after a crash: what programs and services are told of it, and what becomes of
//! what the lost attempt has left.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used)]

mod support;

use a2ad_domain::ports::{AgentExecutor, TaskStore};
use a2ad_domain::service::Recovered;
use a2ad_domain::testing::sample::{applied, key, opened, piece, status};
use a2ad_domain::{OnCrash, Task, TaskKey, TaskState};
use a2ad_executor::command::Input;
use a2ad_executor::{
    CallSettings, Command, CommandSettings, HttpService, HttpServiceSettings, Memory,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use support::stub::Stub;
use support::{Server, artifacts};

/// A server whose store holds a task that a process has left at work, with half an artifact.
async fn crashed(executor: Arc<dyn AgentExecutor>) -> (Server, TaskKey) {
    let server = Server::new(executor, |own| {
        own.on_crash = OnCrash::Retry { max_attempts: NonZeroU32::new(3).unwrap() };
    });
    let task = opened(key(7), 0);
    server.store.insert(&Arc::new(task.clone())).await.unwrap();
    let half = [status(TaskState::Working), piece("out-1", "half", false)];
    let (left, changes) = applied(task.clone(), &half, 0);
    server.store.append(task.key(), task.version(), &changes, &left).await.unwrap();
    let recovered = server.service.recover([task.key().clone()]).await.unwrap();
    assert_eq!(recovered, Recovered { ended: 0, retried: 1 });
    (server, task.key().clone())
}

fn shell(script: &str) -> CommandSettings {
    CommandSettings { args: vec!["-c".to_owned(), script.to_owned()], ..CommandSettings::new("sh") }
}

async fn ran(settings: CommandSettings) -> Arc<Task> {
    let (server, key) = crashed(Arc::new(Command::new(settings))).await;
    let task = server.ended(&key).await;
    assert_eq!(task.state(), TaskState::Completed);
    server.runtime.idle().await;
    server.assert_empty().await;
    task
}

#[tokio::test]
async fn a_program_is_told_which_attempt_it_is_and_begins_its_artifact_anew() {
    let task = ran(shell(r#"read -r text; printf '%s: attempt %s' "$text" "$A2A_ATTEMPT""#)).await;
    let names: Vec<_> = task.artifacts().iter().map(|artifact| artifact.id.as_str()).collect();
    assert_eq!((&*artifacts(&task), names), ("hello: attempt 2", vec!["out-1"]));
    let task = ran(CommandSettings { input: Input::Json, ..shell("cat") }).await;
    let document = artifacts(&task);
    // What the lost attempt has made is no part of the conversation.
    for part in [r#""attempt":2"#, r#""text":"hello""#, r#""history":[]"#] {
        assert!(document.contains(part), "{part} is not in {document}");
    }
}

#[tokio::test]
async fn a_service_is_called_again_with_the_key_of_the_lost_call() {
    let mut stub = Stub::new().await;
    let service = HttpService::new(HttpServiceSettings {
        url: stub.url("/turn"),
        cancel_url: None,
        call: CallSettings::default(),
        memory: Memory::default(),
    });
    let (server, key) = crashed(Arc::new(service)).await;
    let call = stub.next().await;
    assert_eq!(call.header("idempotency-key"), Some(&*format!("{}-1", key.id)));
    assert_eq!(call.json()["attempt"], 2);
    call.answer(200, "text/plain", "whole").await;
    assert_eq!(artifacts(&*server.ended(&key).await), "whole");
    server.assert_empty().await;
}
