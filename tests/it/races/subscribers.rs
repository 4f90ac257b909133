//! Subscribers that join while a task is being written: each sees the task as it was and exactly the rest.

use super::{FOR_EVER, ROUNDS};
use crate::support::agents::{Burst, agent, soon};
use crate::support::caller::{Caller, Message, artifact, check, id, state, text};
use crate::support::{Event, TestServer};
use futures_util::future::{join, join_all};
use serde_json::Value;
use std::sync::Arc;

/// What a subscriber has in hand at the end: what the opening task held, and every piece since.
fn put_together(frames: &[Event]) -> String {
    let results: Vec<&Value> = frames.iter().map(|frame| &frame.data["result"]).collect();
    let held = if results[0]["kind"] == "task" { artifact(results[0]) } else { String::new() };
    results.iter().filter_map(|result| result.get("artifact")).fold(held, |mut held, piece| {
        held.push_str(&text(piece));
        held
    })
}

fn without_gaps(frames: &[Event]) {
    frames.iter().for_each(|frame| check(&frame.data));
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
    assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ids:?}");
}

/// Follows a task from some moment on; `None` when it had ended by then.
async fn follow(
    caller: &Caller<'_>,
    task: &str,
    late: usize,
    seen: Option<&str>,
) -> Option<Vec<Event>> {
    for _ in 0..late {
        tokio::task::yield_now().await;
    }
    let frames = caller.attach(task, seen).await.collect().await;
    if frames[0].data.get("error").is_some() {
        assert_eq!(frames[0].data["error"]["code"], -32004);
        return None;
    }
    Some(frames)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_joins_a_burst_sees_the_task_and_exactly_the_rest() {
    let burst = Arc::new(Burst { pieces: 200, length: 8 });
    let whole = burst.whole();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("burst", burst))).await;
    let caller = Caller::new(&server, "burst");
    let (mut round, mut joined) = (0, 0);
    while round < ROUNDS / 15 || joined == 0 {
        assert!(round < FOR_EVER, "nobody ever joined in time");
        let mut stream = caller.stream(Message::new("go")).await;
        let first = stream.next().await.expect("the task");
        let task = id(&first.data["result"]).to_owned();
        let others = (0..6).map(|number| follow(&caller, &task, number * 5, None));
        let both = join(stream.collect(), join_all(others));
        let (rest, others) = soon("the end of the streams", both).await;
        let mut frames = vec![first];
        frames.extend(rest);
        without_gaps(&frames);
        assert_eq!(put_together(&frames), whole);
        let after = caller.get(&task).await;
        assert_eq!((state(&after), artifact(&after)), ("completed", whole.clone()));
        for seen in others.into_iter().flatten() {
            joined += 1;
            without_gaps(&seen);
            assert_eq!(seen[0].data["result"]["kind"], "task");
            assert_eq!(put_together(&seen), whole);
            // The same events as everybody else's, not only the same content.
            let first_id = seen[0].id.expect("an id");
            let tail = frames.iter().filter(|frame| frame.id > Some(first_id));
            assert!(seen[1..].iter().eq(tail));
        }
        round += 1;
    }
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_comes_back_to_a_burst_gets_exactly_what_was_missed() {
    let burst = Arc::new(Burst { pieces: 200, length: 8 });
    let server = TestServer::custom("", |builder| builder.with_agent(agent("burst", burst))).await;
    let caller = Caller::new(&server, "burst");
    for round in 0..ROUNDS / 15 {
        let mut stream = caller.stream(Message::new("go")).await;
        let first = stream.next().await.expect("the task");
        let task = id(&first.data["result"]).to_owned();
        let others = (0..6).map(|number| {
            let (late, seen) = (number * 7, 1 + (round + 37 * number) % 150);
            let (caller, task) = (&caller, &task);
            async move { (seen, follow(caller, task, late, Some(&seen.to_string())).await) }
        });
        let both = join(stream.collect(), join_all(others));
        let (frames, others) = soon("the end of the streams", both).await;
        for (seen, missed) in others {
            // Too early, the number is no version of the task yet, and the task comes first.
            let missed = missed.expect("something was missed");
            without_gaps(&missed);
            let snapshot = missed[0].data["result"]["kind"] == "task";
            let from = if snapshot { missed[0].id.expect("an id") } else { seen as u64 };
            let events = if snapshot { &missed[1..] } else { &missed[..] };
            assert!(!snapshot || from < seen as u64, "{from} is not before {seen}");
            assert!(events.iter().eq(frames.iter().filter(|frame| frame.id > Some(from))));
        }
    }
    server.finish().await;
}
