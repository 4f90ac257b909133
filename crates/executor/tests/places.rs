//! How many runs go on, how many wait, and that every place is given back.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::error::Busy;
use a2ad_domain::ports::Spawner;
use a2ad_domain::testing::sample::{OTHER_AGENT, call, key, scope_of};
use a2ad_domain::testing::{ScriptedAgent, Step};
use a2ad_domain::{Agent, AgentSettings, CancelSignal, Error, TaskState};
use std::sync::Arc;
use support::Server;

fn limits(running: usize, queued: usize) -> impl FnOnce(&mut AgentSettings) {
    move |settings| (settings.max_running, settings.max_queued) = (running, queued)
}

fn gated() -> (CancelSignal, Arc<ScriptedAgent>) {
    let gate = CancelSignal::new();
    let agent = ScriptedAgent::new([Step::Wait(gate.clone()), Step::complete("done")]);
    (gate, agent)
}

#[tokio::test]
async fn as_many_runs_go_on_as_the_agent_may_have_and_the_rest_wait_their_turn() {
    let (gate, agent) = gated();
    let server = Server::new(agent.clone(), limits(2, 10));
    let mut keys = Vec::new();
    for number in 0..5 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    server.quiet().await;
    assert_eq!((agent.turns().len(), server.runtime.live()), (2, 5));
    assert_eq!(server.task(&keys[4]).await.state(), TaskState::Submitted);
    gate.raise();
    for key in &keys {
        assert_eq!(server.ended(key).await.state(), TaskState::Completed);
    }
    assert_eq!(agent.turns().len(), 5);
    server.assert_empty().await;
    assert_eq!(server.free_places(100), 12);
}

#[tokio::test]
async fn runs_that_wait_start_in_the_order_in_which_they_came() {
    // Each run waits for its own gate, so at any time exactly one goes on.
    let gates: Vec<CancelSignal> = (0..5).map(|_| CancelSignal::new()).collect();
    let agent = ScriptedAgent::runs(gates.iter().map(|gate| vec![Step::Wait(gate.clone())]));
    let server = Server::new(agent.clone(), limits(1, 10));
    let mut keys = Vec::new();
    for number in 0..5 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    for (index, gate) in gates.iter().enumerate() {
        server.quiet().await;
        let begun: Vec<_> = agent.turns().iter().map(|turn| turn.request.text()).collect();
        assert_eq!(begun, (0..=index).map(|number| number.to_string()).collect::<Vec<_>>());
        gate.raise();
        server.ended(&keys[index]).await;
    }
    server.assert_empty().await;
}

#[tokio::test]
async fn beyond_the_queue_a_message_is_refused_as_busy_and_not_stored() {
    let (gate, agent) = gated();
    let server = Server::new(agent.clone(), limits(1, 1));
    let first = server.open("1").await.unwrap();
    let second = server.open("2").await.unwrap();
    for _ in 0..3 {
        let refused = server.open("3").await.unwrap_err();
        assert!(matches!(refused, Error::Unavailable(Busy::Runs)), "{refused:?}");
        assert_eq!(server.store.len(), 2);
    }
    let other = scope_of(OTHER_AGENT, "alice");
    let elsewhere = a2ad_domain::service::SendMessage { wait: Some(false), ..call("x") };
    assert!(server.service.send(&other, elsewhere).await.is_ok(), "agents share their places");
    gate.raise();
    server.ended(&first).await;
    server.ended(&second).await;
    server.assert_empty().await;
    let third = server.open("3").await.unwrap();
    server.ended(&third).await;
}

#[tokio::test]
async fn a_queued_run_whose_task_is_canceled_never_starts_and_gives_its_place_back() {
    let (gate, agent) = gated();
    let server = Server::new(agent.clone(), limits(1, 1));
    let first = server.open("1").await.unwrap();
    let second = server.open("2").await.unwrap();
    server.quiet().await;
    assert_eq!(server.cancel(&second).await.unwrap().state(), TaskState::Canceled);
    server.quiet().await;
    let third = server.open("3").await.unwrap();
    gate.raise();
    server.ended(&first).await;
    server.ended(&third).await;
    let begun: Vec<_> = agent.turns().iter().map(|turn| turn.request.text()).collect();
    assert_eq!(begun, ["1", "3"]);
    assert_eq!(server.task(&second).await.state(), TaskState::Canceled);
    server.assert_empty().await;
}

#[tokio::test]
async fn every_way_to_end_gives_the_place_back() {
    for step in [
        Step::complete("done"),
        Step::ask("which?"),
        Step::Fail("why"),
        Step::Panic("why"),
        Step::UntilCanceled,
    ] {
        let agent = ScriptedAgent::new([Step::Working(None), step.clone()]);
        let server = Server::new(agent, limits(1, 0));
        for _ in 0..3 {
            let key = server.open("go").await.unwrap();
            server.quiet().await;
            if matches!(step, Step::UntilCanceled) {
                server.cancel(&key).await.unwrap();
            }
            server.assert_empty().await;
            assert!(!server.task(&key).await.is_running());
        }
        assert_eq!(server.free_places(100), 1, "{step:?}");
    }
}

#[tokio::test]
async fn a_place_that_is_reserved_and_not_used_is_free_again() {
    let server = Server::new(ScriptedAgent::new([]), limits(1, 1));
    for _ in 0..10 {
        assert_eq!(server.free_places(100), 2);
    }
    assert_eq!(server.runtime.live(), 0);
}

#[tokio::test]
async fn stopping_a_task_without_a_run_does_nothing() {
    let server = Server::new(ScriptedAgent::new([]), limits(1, 1));
    server.runtime.stop(&key(99));
    assert_eq!(server.send("go").await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_at_once_leave_nothing_behind() {
    let agent = ScriptedAgent::new([
        Step::Working(None),
        Step::Chunk("a", "x".to_owned()),
        Step::complete("done"),
    ]);
    let server = Arc::new(Server::new(agent, limits(3, 1000)));
    let clients: Vec<_> = (0..100)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move {
                let task = server.send(&number.to_string()).await;
                assert_eq!(task.state(), TaskState::Completed);
                assert_eq!(task.artifacts()[0].parts().count(), 1);
                let canceled = server.cancel(task.key()).await;
                assert!(matches!(canceled, Err(Error::TaskNotCancelable { .. })));
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let drained = server.runtime.drain(std::time::Duration::from_secs(60)).await;
    assert_eq!(drained.cut_off, 0);
    assert_eq!((server.runtime.live(), server.bus.topics()), (0, 0));
    assert_eq!(server.free_places(2000), 1003);
}

#[tokio::test]
async fn an_agent_that_is_changed_gets_its_new_places_with_the_next_message() {
    let (gate, agent) = gated();
    let server = Server::new(agent.clone(), limits(1, 10));
    for number in 0..4 {
        server.open(&number.to_string()).await.unwrap();
    }
    server.quiet().await;
    assert_eq!(agent.turns().len(), 1);
    let change = |running, queued| {
        let agents: Vec<_> = server.service.agents().collect();
        server.service.set_agents(agents.into_iter().map(|old| {
            let mut settings = old.settings.clone();
            limits(running, queued)(&mut settings);
            let new = Agent::new(old.id.clone(), old.card.clone(), settings, old.executor.clone());
            Arc::new(new.in_place_of(&old))
        }));
    };
    change(3, 2);
    server.open("5").await.unwrap();
    server.quiet().await;
    assert_eq!((agent.turns().len(), server.runtime.live()), (3, 5));
    change(1, 2);
    let refused = server.open("6").await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable(Busy::Runs)), "{refused:?}");
    gate.raise();
    server.assert_empty().await;
    assert_eq!(agent.turns().len(), 5);
}
