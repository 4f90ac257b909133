//! Re-attaching: the task as it is, then everything that happens to it; or exactly what was missed.

mod cuts;

use crate::support::agents::{Gated, Puppet, agent, soon};
use crate::support::caller::{Caller, Message, artifact, check, id, state, text};
use crate::support::{Event, TestServer};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// What the events show, without the events' ids.
fn results(frames: &[Event]) -> Vec<&Value> {
    frames.iter().for_each(|frame| check(&frame.data));
    frames.iter().map(|frame| &frame.data["result"]).collect()
}

fn code(frames: &[Event]) -> Option<i64> {
    let [only] = frames else { return None };
    only.data["error"]["code"].as_i64()
}

#[tokio::test]
async fn a_reader_that_was_cut_off_sees_the_task_and_then_the_rest() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let mut first = caller.stream(Message::new("go")).await;
    first.next().await.expect("the task");
    let run = stage.next().await;
    run.chunk("a", false).await.expect("a live task");
    drop(first);
    run.chunk("b", false).await.expect("a live task");
    let mut second = caller.attach(&run.task, None).await;
    let snapshot = second.next().await.expect("the task").data["result"].clone();
    assert_eq!((&snapshot["kind"], artifact(&snapshot)), (&json!("task"), "ab".to_owned()));
    run.chunk("c", true).await.expect("a live task");
    run.complete().await;
    let frames = soon("the end of the stream", second.collect()).await;
    let results = results(&frames);
    assert_eq!(results.len(), 2);
    assert_eq!(text(&results[0]["artifact"]), "c");
    assert_eq!((state(results[1]), &results[1]["final"]), ("completed", &json!(true)));
    server.finish().await;
}

#[tokio::test]
async fn a_task_that_waits_for_its_client_can_be_followed_to_its_end() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    let mut stream = caller.attach(id(&asked), None).await;
    assert_eq!(stream.next().await.expect("the task").data["result"], asked);
    // The agent asks again, which ends other streams and not this one.
    caller.send(Message::new("ask really?").task(id(&asked))).await;
    let done = caller.send(Message::new("yes").task(id(&asked))).await;
    let frames = soon("the end of the stream", stream.collect()).await;
    let statuses = results(&frames).into_iter().filter(|result| result.get("final").is_some());
    let statuses: Vec<_> = statuses
        .map(|result| (state(result), result["final"].as_bool().expect("a flag")))
        .collect();
    let expected =
        [("working", false), ("input-required", false), ("working", false), ("completed", true)];
    assert_eq!(statuses, expected);
    assert_eq!(frames[frames.len() - 1].data["result"]["status"], done["status"]);
    server.finish().await;
}

#[tokio::test]
async fn an_ended_or_unknown_task_is_refused_at_once() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let done = caller.send(Message::new("x")).await;
    assert_eq!(code(&caller.attach(id(&done), None).await.collect().await), Some(-32004));
    for unknown in ["nope", "3b9f6f0e-0000-4000-8000-000000000001"] {
        assert_eq!(code(&caller.attach(unknown, None).await.collect().await), Some(-32001));
        assert_eq!(code(&caller.attach(unknown, Some("1")).await.collect().await), Some(-32001));
    }
    assert_eq!(server.gauges().subscribed_tasks(), 0);
    server.finish().await;
}

#[tokio::test]
async fn what_was_missed_of_an_ended_task_is_told_whatever_was_seen_last() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let frames = caller.stream(Message::new("chunks 4 abcdefgh")).await.collect().await;
    let task = id(&frames[0].data["result"]).to_owned();
    for seen in 0..frames.len() {
        let last = frames[seen].id.expect("an id").to_string();
        let missed = caller.attach(&task, Some(&last)).await.collect().await;
        if seen + 1 == frames.len() {
            assert_eq!(code(&missed), Some(-32004), "nothing was missed");
        } else {
            assert_eq!(missed, frames[seen + 1..], "after {last}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_number_that_is_no_event_of_the_task_counts_as_none() {
    let (gated, mut gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    let done = caller.send(Message::new("x")).await;
    let live = caller.send_off(Message::new("gate x")).await;
    let gate = gates.next().await;
    for nothing in ["0", "99", "-1", "two", "", "1.5", "18446744073709551616"] {
        let refused = caller.attach(id(&done), Some(nothing)).await.collect().await;
        assert_eq!(code(&refused), Some(-32004), "{nothing}");
        let mut stream = caller.attach(id(&live), Some(nothing)).await;
        let first = stream.next().await.expect("an event");
        assert_eq!(first.data["result"], caller.get(id(&live)).await, "{nothing}");
    }
    gate.open();
    assert_eq!(state(&caller.rest(id(&live)).await), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_reader_that_has_seen_everything_gets_only_what_comes() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let mut first = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    run.chunk("a", false).await.expect("a live task");
    first.next().await.expect("the task");
    let seen = first.next().await.expect("the piece").id.expect("an id");
    drop(first);
    let stream = caller.attach(&run.task, Some(&seen.to_string())).await;
    run.chunk("b", true).await.expect("a live task");
    run.complete().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    assert_eq!(
        frames.iter().map(|frame| frame.id).collect::<Vec<_>>(),
        [seen + 1, seen + 2].map(Some)
    );
    assert_eq!(text(&frames[0].data["result"]["artifact"]), "b");
    server.finish().await;
}

#[tokio::test]
async fn who_asks_for_more_than_the_log_holds_gets_the_task_as_it_is() {
    let toml = r#"
        [limits]
        log = 4
        [[agent]]
        id = "echo"
        executor = { kind = "echo" }
    "#;
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom(toml, |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    caller.send_off(Message::new("go")).await;
    let run = stage.next().await;
    for piece in ["a", "b", "c", "d", "e", "f"] {
        run.chunk(piece, false).await.expect("a live task");
    }
    // The task is at its seventh version, and the log holds four changes.
    let mut short = caller.attach(&run.task, Some("3")).await;
    assert_eq!(short.next().await.expect("an event").id, Some(4));
    let mut long = caller.attach(&run.task, Some("2")).await;
    let first = long.next().await.expect("an event");
    assert_eq!((first.id, &first.data["result"]["kind"]), (Some(7), &json!("task")));
    assert_eq!(artifact(&first.data["result"]), "abcdef");
    run.chunk("g", true).await.expect("a live task");
    run.complete().await;
    let rest = soon("the end of the stream", long.collect()).await;
    assert_eq!(text(&rest[0].data["result"]["artifact"]), "g");
    assert_eq!(soon("the end of the stream", short.collect()).await.len(), 5);
    server.finish().await;
}

/// A reader that loses its connection again and again, and each time goes on where it was.
async fn patchwork(cuts: &[usize]) {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let mut stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    let task = run.task.clone();
    let whole = caller.attach(&task, Some("1")).await;
    run.working().await.expect("a live task");
    let mut seen = vec![stream.next().await.expect("the task")];
    let mut written = 1;
    for (number, &cut) in cuts.iter().enumerate() {
        run.chunk(&number.to_string(), false).await.expect("a live task");
        written += 1;
        // Reads some of what is there, leaves the rest, and comes back for it.
        while seen.len() < 1 + written && seen.len() % 4 < cut {
            seen.push(stream.next().await.expect("an event"));
        }
        let last = seen[seen.len() - 1].id.expect("an id").to_string();
        drop(stream);
        stream = caller.attach(&task, Some(&last)).await;
    }
    run.complete().await;
    while let Some(event) = soon("the end of the stream", stream.next()).await {
        seen.push(event);
    }
    assert_eq!(seen[1..], soon("the end of the stream", whole.collect()).await);
    assert_eq!(state(results(&seen)[seen.len() - 1]), "completed");
    server.finish().await;
}

#[test]
fn many_short_connections_see_what_one_long_one_sees() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let cuts = proptest::collection::vec(0..5_usize, 1..12);
    let run = |cuts: Vec<usize>| {
        runtime.block_on(patchwork(&cuts));
        Ok(())
    };
    TestRunner::new(config).run(&cuts, run).unwrap_or_else(|error| panic!("{error}"));
}
