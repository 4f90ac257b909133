//! Two servers on one store: what one of them has decided, the other does not overwrite.

use super::{FOR_EVER, ROUNDS};
use crate::support::TestServer;
use crate::support::agents::{Burst, agent, soon};
use crate::support::caller::{Caller, Message, artifact, id, state, text};
use a2ad_store::{Capacity, MemoryStore};
use futures_util::future::{join, join_all};
use serde_json::json;
use std::sync::Arc;

/// Two servers with the same agent and the same store, and nothing else in common.
async fn two(burst: &Arc<Burst>) -> (TestServer, TestServer) {
    let store = Arc::new(MemoryStore::new(Capacity::default()));
    let server = async || {
        let (store, burst) = (store.clone(), burst.clone());
        TestServer::custom("", |builder| builder.store(store).with_agent(agent("burst", burst)))
            .await
    };
    (server().await, server().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_at_one_server_stops_a_run_at_the_other() {
    let burst = Arc::new(Burst { pieces: 400, length: 8 });
    let (first, second) = two(&burst).await;
    let (at_first, at_second) = (Caller::new(&first, "burst"), Caller::new(&second, "burst"));
    let (mut round, mut canceled) = (0, 0);
    while round < ROUNDS / 5 || canceled == 0 {
        assert!(round < FOR_EVER, "no cancel was ever in time");
        let mut stream = at_first.stream(Message::new("go")).await;
        let mut frames = Vec::new();
        for _ in 0..=round % 30 {
            frames.push(stream.next().await.expect("an event"));
        }
        let task = id(&frames[0].data["result"]).to_owned();
        let cancels = at_second.call("tasks/cancel", json!({ "id": task }));
        let both = join(cancels, stream.collect());
        let (answer, rest) = soon("the end of the stream", both).await;
        frames.extend(rest);
        let after = at_first.rest(&task).await;
        assert_eq!(at_second.get(&task).await, after);
        if answer.get("result").is_some() {
            canceled += 1;
            assert_eq!((state(&after), &answer["result"]), ("canceled", &after));
        } else {
            assert_eq!((state(&after), &answer["error"]["code"]), ("completed", &json!(-32002)));
        }
        let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
        assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "an event is missing: {ids:?}");
        assert_eq!(frames[frames.len() - 1].data["result"]["status"], after["status"]);
        let pieces = frames.iter().filter_map(|frame| frame.data["result"].get("artifact"));
        assert_eq!(pieces.map(text).collect::<String>(), artifact(&after));
        assert!(burst.whole().starts_with(&artifact(&after)));
        round += 1;
    }
    first.finish().await;
    second.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_cancels_at_both_servers_one_is_taken() {
    let burst = Arc::new(Burst { pieces: 100_000, length: 8 });
    let (first, second) = two(&burst).await;
    let (at_first, at_second) = (Caller::new(&first, "burst"), Caller::new(&second, "burst"));
    for _ in 0..ROUNDS / 15 {
        let task = at_first.send_off(Message::new("go")).await;
        let named = json!({ "id": id(&task) });
        let cancels = (0..8).map(|number| {
            let caller = if number % 2 == 0 { &at_first } else { &at_second };
            caller.call("tasks/cancel", named.clone())
        });
        let answers = join_all(cancels).await;
        let won: Vec<_> = answers.iter().filter(|answer| answer.get("result").is_some()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        assert_eq!(at_first.get(id(&task)).await, won[0]["result"]);
        assert_eq!(at_second.get(id(&task)).await, won[0]["result"]);
    }
    first.finish().await;
    second.finish().await;
}
