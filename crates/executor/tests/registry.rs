//! The list of live runs: a run takes out its own entry and no other, so that a later run of the same task
//! can always be stopped.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::service::SendMessage;
use a2ad_domain::testing::sample::{call_for, scope};
use a2ad_domain::testing::{FakeStore, Fault, Op, ScriptedAgent, Step};
use a2ad_domain::{CancelSignal, TaskState};
use a2ad_store::{Capacity, MemoryStore};
use std::sync::Arc;
use support::Server;

#[tokio::test]
async fn the_clean_up_of_a_parked_run_leaves_the_next_run_of_its_task_alone() {
    let store = Arc::new(FakeStore::new());
    let agent = ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::UntilCanceled]]);
    let unused = Arc::new(MemoryStore::new(Capacity::default()));
    let server = Server::over(store.clone(), unused, agent.clone(), |_| {});
    // The end of the first run is stored and its writer has not heard so yet.
    let heard = CancelSignal::new();
    store.script(Op::Append, [Fault::Held(heard.clone())]);
    let key = server.open("go").await.unwrap();
    server.quiet().await;
    assert_eq!(store.task(&key).unwrap().state(), TaskState::InputRequired);
    let answer = SendMessage { wait: Some(false), ..call_for(&key, "this") };
    server.service.send(&scope(), answer).await.unwrap();
    server.quiet().await;
    assert_eq!(agent.turns().len(), 2);
    heard.raise();
    server.quiet().await;
    assert_eq!(server.runtime.live(), 1, "the second run was taken out by the first");
    assert_eq!(server.cancel(&key).await.unwrap().state(), TaskState::Canceled);
    // The second run ends only when it hears of the cancel.
    server.assert_empty().await;
}

#[tokio::test]
async fn a_conversation_of_many_rounds_leaves_nothing_behind() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::ask("and now?")]);
    let server = Server::new(agent.clone(), |settings| settings.max_running = 1);
    let mut task = server.send("round 0").await;
    for round in 1..20 {
        assert_eq!(task.state(), TaskState::InputRequired);
        let answer = call_for(task.key(), &format!("round {round}"));
        task = server.service.send(&scope(), answer).await.unwrap().into_task();
    }
    server.assert_empty().await;
    assert_eq!(agent.turns().len(), 20);
    assert_eq!(task.history().len(), 39, "questions and answers, the last question in the status");
    server.cancel(task.key()).await.unwrap();
    server.assert_empty().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_answers_and_cancels_at_once_each_task_ends_once_and_runs_one_at_a_time() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::ask("and now?")]);
    let server = Arc::new(Server::new(agent, |_| {}));
    for _ in 0..20 {
        let key = server.send("go").await.key().clone();
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let (server, key) = (server.clone(), key.clone());
                tokio::spawn(async move {
                    if number == 5 {
                        return server.cancel(&key).await.is_ok();
                    }
                    let answer = call_for(&key, &number.to_string());
                    server.service.send(&scope(), answer).await.is_ok()
                })
            })
            .collect();
        let mut taken = Vec::new();
        for call in calls {
            taken.push(call.await.unwrap());
        }
        assert!(taken[5], "a live task can always be canceled");
        let task = server.task(&key).await;
        assert_eq!(task.state(), TaskState::Canceled);
        let said = task.history().iter().filter(|m| m.role == a2ad_domain::Role::User).count();
        let answers = taken.iter().enumerate().filter(|(n, taken)| *n != 5 && **taken).count();
        assert_eq!(said, answers + 1, "an answer was lost or doubled");
    }
    server.runtime.drain(std::time::Duration::from_secs(60)).await;
    assert_eq!((server.runtime.live(), server.bus.topics()), (0, 0));
}
