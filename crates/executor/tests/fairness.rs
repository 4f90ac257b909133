//! Whose turn is next: the limit of the whole server, turns between agents, and places that are free again
//! as soon as a task is over.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::error::Busy;
use a2ad_domain::service::DEADLINE_EXTENSION;
use a2ad_domain::testing::sample::{call, scope};
use a2ad_domain::testing::{ScriptedAgent, Step};
use a2ad_domain::{AgentSettings, CancelSignal, Error, OnOverdue, RawJson, TaskKey, TaskState};
use std::sync::Arc;
use std::time::Duration;
use support::{MAX_RUNNING, Server, told};

/// An agent whose runs go on until the gate opens, and then take no time.
fn gated() -> (CancelSignal, Arc<ScriptedAgent>) {
    let gate = CancelSignal::new();
    let agent = ScriptedAgent::new([Step::Wait(gate.clone()), Step::complete("done")]);
    (gate, agent)
}

fn begun(agent: &ScriptedAgent) -> Vec<String> {
    agent.turns().iter().map(|turn| turn.request.text()).collect()
}

async fn end_of(server: &Server, key: &TaskKey) -> TaskState {
    server.quiet().await;
    let task = server.service.get(&key.scope, &key.id.to_string()).await.unwrap();
    task.state()
}

#[tokio::test]
async fn no_more_runs_go_on_than_the_server_may_have_whatever_its_agents_may() {
    let (gate, agent) = gated();
    let server = Server::new(agent.clone(), |settings| settings.max_running = MAX_RUNNING * 2);
    let mut keys = Vec::new();
    for number in 0..MAX_RUNNING + 7 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    server.quiet().await;
    assert_eq!(agent.turns().len(), MAX_RUNNING);
    assert_eq!(end_of(&server, &keys[MAX_RUNNING]).await, TaskState::Submitted);
    gate.raise();
    for key in &keys {
        assert_eq!(server.ended(key).await.state(), TaskState::Completed);
    }
    server.assert_empty().await;
}

#[tokio::test]
async fn an_agent_with_a_long_queue_gets_no_more_than_its_turn() {
    // Every run waits for a gate of its own, in the order in which they begin.
    let gates: Vec<CancelSignal> = (0..MAX_RUNNING + 40).map(|_| CancelSignal::new()).collect();
    let scripts = gates.iter().map(|gate| vec![Step::Wait(gate.clone()), Step::complete("done")]);
    let agent = ScriptedAgent::runs(scripts);
    let server = Server::new(agent.clone(), |settings| {
        (settings.max_running, settings.max_queued) = (MAX_RUNNING, 1000);
    });
    for number in 0..MAX_RUNNING + 20 {
        server.open(&format!("many {number}")).await.unwrap();
    }
    for number in 0..5 {
        server.open_elsewhere(&format!("few {number}")).await.unwrap();
    }
    server.quiet().await;
    assert_eq!(begun(&agent).len(), MAX_RUNNING);
    // Ten places become free, one after the other: the two agents take turns at them.
    for gate in &gates[..10] {
        gate.raise();
        server.quiet().await;
    }
    let next = begun(&agent).split_off(MAX_RUNNING);
    let few: Vec<_> = next.iter().filter(|text| text.starts_with("few")).collect();
    assert_eq!((next.len(), few.len()), (10, 5), "{next:?}");
    gates.iter().for_each(CancelSignal::raise);
    server.runtime.idle().await;
    assert_eq!(begun(&agent).len(), MAX_RUNNING + 25);
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn a_canceled_run_frees_its_place_at_once_although_its_executor_still_cleans_up() {
    // The executor takes no notice of the cancel.
    let agent = ScriptedAgent::runs([
        vec![Step::Working(None), Step::Forever],
        vec![Step::complete("done")],
    ]);
    let server = Server::new(agent, |settings| {
        (settings.max_running, settings.max_queued) = (1, 0);
        settings.grace = Duration::from_secs(60);
    });
    let first = server.open("1").await.unwrap();
    server.quiet().await;
    assert!(matches!(server.open("2").await, Err(Error::Unavailable(Busy::Runs))));
    server.cancel(&first).await.unwrap();
    server.quiet().await;
    let began = tokio::time::Instant::now();
    assert_eq!(server.send("3").await.state(), TaskState::Completed);
    assert_eq!(began.elapsed(), Duration::ZERO, "the new run waited for the old executor");
    server.runtime.idle().await;
    server.assert_empty().await;
    assert_eq!(server.free_places(10), 1);
}

#[tokio::test(start_paused = true)]
async fn executors_that_do_not_stop_cannot_pile_up() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
    let server = Server::new(agent, |settings| {
        (settings.max_running, settings.max_queued) = (2, 0);
        settings.grace = Duration::from_secs(60);
    });
    let mut canceled = 0;
    while let Ok(key) = server.open("go").await {
        server.quiet().await;
        server.cancel(&key).await.unwrap();
        server.quiet().await;
        canceled += 1;
        assert!(canceled < 10, "as many as one likes");
    }
    assert_eq!(canceled, 4, "twice as many as may run");
    server.runtime.idle().await;
    assert_eq!(server.free_places(10), 2);
}

#[tokio::test(start_paused = true)]
async fn executors_that_do_not_stop_cannot_pile_up_through_the_queue_either() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
    let server = Server::new(agent.clone(), |settings| {
        (settings.max_running, settings.max_queued) = (2, 100);
        settings.grace = Duration::from_secs(60);
    });
    let mut keys = Vec::new();
    for number in 0..20 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    // Each is canceled as it begins; the queue goes on only as the old ones end.
    for round in [4, 8, 12, 16, 20] {
        for key in &keys[..round] {
            server.quiet().await;
            let _ = server.cancel(key).await;
        }
        server.quiet().await;
        assert_eq!(begun(&agent).len(), round);
        tokio::time::advance(Duration::from_secs(61)).await;
        server.quiet().await;
    }
    server.runtime.idle().await;
    assert_eq!(server.free_places(200), 102);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_still_queued_at_its_deadline_ends_like_any_other() {
    for (action, state) in
        [(OnOverdue::Fail, TaskState::Failed), (OnOverdue::Cancel, TaskState::Canceled)]
    {
        let adjust = |settings: &mut AgentSettings| {
            settings.max_running = 1;
            settings.on_overdue = action;
            settings.deadline = Some(Duration::from_secs(30));
        };
        let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
        let server = Server::new(agent.clone(), adjust);
        let first = server.open("1").await.unwrap();
        server.quiet().await;
        let mut hurried = call("2");
        let metadata = format!("{{\"{DEADLINE_EXTENSION}\":{{\"seconds\":10}}}}");
        hurried.message.metadata = Some(RawJson::parse(&metadata).unwrap());
        let second = server.service.send(&scope(), hurried).await.unwrap().into_task();
        assert_eq!((second.state(), begun(&agent)), (state, vec!["1".to_owned()]));
        assert_eq!(told(&second), "The agent did not finish within 10 seconds.");
        assert_eq!(server.ended(&first).await.state(), state);
        server.runtime.idle().await;
        server.assert_empty().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancels_in_the_queue_at_any_moment_lose_no_place() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::complete("done")]);
    let server = Arc::new(Server::new(agent, |settings| {
        (settings.max_running, settings.max_queued) = (2, 1000);
    }));
    let clients = (0..60).map(|number: u32| {
        let server = server.clone();
        tokio::spawn(async move {
            let open = match number.is_multiple_of(2) {
                true => server.open("x").await,
                false => server.open_elsewhere("x").await,
            };
            let key = open.unwrap();
            if number.is_multiple_of(3) {
                // Some runs have ended already.
                let _ = server.service.cancel(&key.scope, &key.id.to_string()).await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    server.runtime.idle().await;
    assert_eq!(server.free_places(5000), 1002);
    let (one, two) = tokio::join!(server.send("x"), server.send("y"));
    assert_eq!((one.state(), two.state()), (TaskState::Completed, TaskState::Completed));
}
