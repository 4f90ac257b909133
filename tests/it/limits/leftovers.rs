//! Nothing is kept about what is over, and nothing is made for what never was.

use crate::support::TestServer;
use crate::support::agents::{Gated, agent, until};
use crate::support::caller::{Caller, Message, id, state};
use futures_util::future::join_all;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_left_of_runs_streams_and_waits_that_are_over() {
    let (gated, _gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    let visitor = async |number: usize| {
        for round in 0..25 {
            let talk = format!("talk-{number}-{round}");
            let asked = caller.send(Message::new("ask which?").context(&talk)).await;
            if round % 2 == 0 {
                caller.cancel(id(&asked)).await;
            }
            let frames = caller.stream(Message::new("chunks 3 abc")).await.collect().await;
            assert_eq!(state(&frames[frames.len() - 1].data["result"]), "completed");
            let hanging = caller.send_off(Message::new("gate x")).await;
            let mut watching = caller.attach(id(&hanging), None).await;
            watching.next().await.expect("the task");
            drop(watching);
            caller.cancel(id(&hanging)).await;
        }
    };
    join_all((0..8).map(visitor)).await;
    // Tasks that wait for their client have no run, and nobody follows anything.
    let gauges = server.gauges();
    until("the end of all runs", || gauges.live_runs() == 0).await;
    until("the end of all streams", || gauges.subscribed_tasks() == 0).await;
    assert_eq!(gauges.stored_tasks(), Some(8 * 25 * 3));
    server.finish().await;
}

#[tokio::test]
async fn calls_for_tasks_that_never_were_leave_nothing() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for number in 0..200 {
        let unknown = json!({ "id": format!("3b9f6f0e-0000-4000-8000-{number:012}") });
        for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
            assert_eq!(caller.code(method, unknown.clone()).await, -32001);
        }
    }
    let gauges = server.gauges();
    let left = (gauges.live_runs(), gauges.subscribed_tasks(), gauges.stored_tasks());
    assert_eq!(left, (0, 0, Some(0)));
    server.finish().await;
}
