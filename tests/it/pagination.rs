//! Lists: the caller's own tasks, newest first, page by page.

use crate::support::TestServer;
use crate::support::caller::{Caller, Message, context, id, state};
use a2ad_domain::testing::ManualClock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A server whose clock is moved by hand.
async fn timed(toml: &str) -> (TestServer, ManualClock) {
    let clock = ManualClock::default();
    let time = Arc::new(clock.clone());
    (TestServer::custom(toml, |builder| builder.clock(time)).await, clock)
}

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["tasks"].as_array().unwrap_or_else(|| panic!("no page: {page}"));
    tasks.iter().map(|task| id(task).to_owned()).collect()
}

/// All pages of a list.
async fn pages(caller: &Caller<'_>, mut params: Value) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let page = caller.ok("tasks/list", params.clone()).await;
        let token =
            page["nextPageToken"].as_str().expect("a token, empty on the last page").to_owned();
        pages.push(page);
        if token.is_empty() {
            return pages;
        }
        params["pageToken"] = token.into();
    }
}

/// Some tasks a millisecond apart; their ids, newest first.
async fn some(caller: &Caller<'_>, clock: &ManualClock, count: usize) -> Vec<String> {
    let mut made = Vec::new();
    for number in 0..count {
        clock.advance(Duration::from_millis(1));
        let talk = format!("talk-{}", number % 2);
        let task = caller.send(Message::new(format!("x{number}")).context(&talk)).await;
        made.insert(0, id(&task).to_owned());
    }
    made
}

#[tokio::test]
async fn every_page_says_all_there_is_to_say() {
    let (server, clock) = timed("").await;
    let caller = Caller::new(&server, "script");
    let empty = caller.ok("tasks/list", json!({})).await;
    let nothing = json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
    assert_eq!(empty, nothing);
    let made = some(&caller, &clock, 5).await;
    for params in [json!({}), json!(null), json!({ "pageToken": "", "contextId": "" })] {
        let page = caller.ok("tasks/list", params).await;
        assert_eq!(ids(&page), made);
        let rest = (&page["nextPageToken"], &page["pageSize"], &page["totalSize"]);
        assert_eq!(rest, (&json!(""), &json!(50), &json!(5)));
    }
    let pages = pages(&caller, json!({ "pageSize": 2 })).await;
    let shown: Vec<_> = pages.iter().map(|page| ids(page).len()).collect();
    assert_eq!(shown, [2, 2, 1]);
    assert!(pages.iter().all(|page| page["pageSize"] == 2 && page["totalSize"] == 5));
    assert_eq!(pages.iter().flat_map(ids).collect::<Vec<_>>(), made);
    server.finish().await;
}

#[tokio::test]
async fn a_full_last_page_is_the_last_one() {
    let (server, clock) = timed("").await;
    let caller = Caller::new(&server, "script");
    some(&caller, &clock, 4).await;
    assert_eq!(pages(&caller, json!({ "pageSize": 2 })).await.len(), 2);
    assert_eq!(pages(&caller, json!({ "pageSize": 4 })).await.len(), 1);
    server.finish().await;
}

#[tokio::test]
async fn results_are_listed_only_when_asked_for() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let with = caller.send(Message::new("x")).await;
    let page = caller.ok("tasks/list", json!({})).await;
    assert!(page["tasks"][0].get("artifacts").is_none(), "{page}");
    let page = caller.ok("tasks/list", json!({ "includeArtifacts": false })).await;
    assert!(page["tasks"][0].get("artifacts").is_none(), "{page}");
    let page = caller.ok("tasks/list", json!({ "includeArtifacts": true })).await;
    assert_eq!(page["tasks"][0], with);
    server.finish().await;
}

#[tokio::test]
async fn filters_leave_out_what_does_not_fit() {
    let (server, clock) = timed("").await;
    let caller = Caller::new(&server, "script");
    let made = some(&caller, &clock, 4).await;
    clock.advance(Duration::from_millis(1));
    let asked = caller.send(Message::new("ask which?").context("talk-0")).await;
    let list = async |params: Value| ids(&caller.ok("tasks/list", params).await);
    let asked_and = |rest: &[&String]| {
        let rest = rest.iter().map(|id| (*id).clone());
        std::iter::once(id(&asked).to_owned()).chain(rest).collect::<Vec<_>>()
    };
    assert_eq!(list(json!({ "contextId": "talk-0" })).await, asked_and(&[&made[1], &made[3]]));
    assert_eq!(list(json!({ "contextId": "talk-1" })).await, [made[0].clone(), made[2].clone()]);
    assert!(list(json!({ "contextId": "no such talk" })).await.is_empty());
    for spelling in ["input-required", "input_required", "INPUT-REQUIRED"] {
        assert_eq!(list(json!({ "status": spelling })).await, [id(&asked)], "{spelling}");
    }
    let both = json!({ "status": "completed", "contextId": "talk-0" });
    assert_eq!(list(both.clone()).await, [made[1].clone(), made[3].clone()]);
    let page = caller.ok("tasks/list", both).await;
    assert_eq!(page["totalSize"], 2, "the total is that of the list, not of the store");
    for none in ["canceled", "cancelled", "working", "rejected"] {
        assert!(list(json!({ "status": none })).await.is_empty(), "{none}");
    }
    // Not older than the second newest, which itself is not older.
    let since = caller.get(&made[0]).await["status"]["timestamp"].clone();
    assert_eq!(list(json!({ "statusTimestampAfter": since })).await, asked_and(&[&made[0]]));
    let later = "2026-01-01T02:00:00.004+02:00";
    assert_eq!(list(json!({ "statusTimestampAfter": later })).await, asked_and(&[&made[0]]));
    let millis = 1_767_225_600_004_i64;
    assert_eq!(list(json!({ "lastUpdatedAfter": millis })).await, asked_and(&[&made[0]]));
    server.finish().await;
}

#[tokio::test]
async fn what_cannot_be_a_filter_is_refused() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for wrong in [
        json!({ "pageSize": 0 }),
        json!({ "pageSize": -1 }),
        json!({ "pageSize": 101 }),
        json!({ "pageSize": "2" }),
        json!({ "pageToken": "garbage" }),
        json!({ "pageToken": 7 }),
        json!({ "pageToken": "A".repeat(43) }),
        json!({ "status": "nonsense" }),
        json!({ "status": 3 }),
        json!({ "statusTimestampAfter": "yesterday" }),
        json!({ "statusTimestampAfter": "2026-01-01T00:00:00" }),
        json!({ "historyLength": -1 }),
        json!({ "contextId": 5 }),
        json!({ "contextId": "x".repeat(257) }),
        json!({ "includeArtifacts": "yes" }),
        json!([]),
    ] {
        assert_eq!(caller.code("tasks/list", wrong.clone()).await, -32602, "{wrong}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_token_is_good_for_its_own_list_only() {
    let (server, clock) = timed("").await;
    let caller = Caller::new(&server, "script");
    some(&caller, &clock, 6).await;
    let talk = json!({ "contextId": "talk-0", "pageSize": 1 });
    let page = caller.ok("tasks/list", talk.clone()).await;
    let token = page["nextPageToken"].clone();
    for other in [
        json!({ "pageSize": 1 }),
        json!({ "contextId": "talk-1", "pageSize": 1 }),
        json!({ "contextId": "talk-0", "status": "completed", "pageSize": 1 }),
        json!({ "contextId": "talk-0", "lastUpdatedAfter": 1, "pageSize": 1 }),
    ] {
        let mut with = other.clone();
        with["pageToken"] = token.clone();
        assert_eq!(caller.code("tasks/list", with).await, -32602, "{other}");
    }
    let mut elsewhere = talk.clone();
    elsewhere["pageToken"] = token.clone();
    let echo = Caller::new(&server, "echo");
    assert_eq!(echo.code("tasks/list", elsewhere.clone()).await, -32602);
    // How long the pages are may change on the way.
    elsewhere["pageSize"] = json!(50);
    assert_eq!(ids(&caller.ok("tasks/list", elsewhere).await).len(), 2);
    server.finish().await;
}

#[tokio::test]
async fn the_next_page_is_found_although_the_task_before_it_has_moved_or_is_gone() {
    let toml = r#"
        [store]
        max_tasks = 6
        [[agent]]
        id = "script"
        executor = { kind = "script" }
    "#;
    let (server, clock) = timed(toml).await;
    let caller = Caller::new(&server, "script");
    let mut asked = Vec::new();
    for _ in 0..3 {
        clock.advance(Duration::from_millis(1));
        asked.insert(0, id(&caller.send(Message::new("ask which?")).await).to_owned());
    }
    let made = some(&caller, &clock, 3).await;
    let page = caller.ok("tasks/list", json!({ "pageSize": 1 })).await;
    assert_eq!(ids(&page), made[..1]);
    let second = json!({ "pageSize": 1, "pageToken": page["nextPageToken"] });
    let page = caller.ok("tasks/list", second.clone()).await;
    assert_eq!(ids(&page), made[1..2]);
    let third = json!({ "pageSize": 1, "pageToken": page["nextPageToken"] });
    assert_eq!(ids(&caller.ok("tasks/list", third.clone()).await), made[2..]);
    // Three newer tasks push the three ended ones out of the store.
    clock.advance(Duration::from_millis(1));
    for _ in 0..3 {
        caller.send(Message::new("ask again?")).await;
    }
    assert_eq!(caller.code("tasks/get", json!({ "id": made[1] })).await, -32001);
    assert_eq!(ids(&caller.ok("tasks/list", third).await), asked[..1]);
    assert_eq!(ids(&caller.ok("tasks/list", second.clone()).await), asked[..1]);
    // A task that moves to the front is not listed a second time on a later page.
    clock.advance(Duration::from_millis(1));
    caller.cancel(&asked[0]).await;
    let rest = pages(&caller, second).await;
    assert_eq!(rest.iter().flat_map(ids).collect::<Vec<_>>(), asked[1..]);
    server.finish().await;
}

#[tokio::test]
async fn tasks_of_one_moment_have_an_order_too() {
    let (server, _) = timed("").await;
    let caller = Caller::new(&server, "script");
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(id(&caller.send(Message::new("x")).await).to_owned());
    }
    made.sort_by(|a, b| b.cmp(a));
    for size in 1..=8 {
        let pages = pages(&caller, json!({ "pageSize": size })).await;
        assert_eq!(pages.iter().flat_map(ids).collect::<Vec<_>>(), made, "pages of {size}");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_order_is_that_of_the_last_status() {
    let (server, clock) = timed("").await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    clock.advance(Duration::from_millis(1));
    let second = caller.send(Message::new("x")).await;
    let before = caller.list().await;
    assert_eq!([id(&before[0]), id(&before[1])], [id(&second), id(&asked)]);
    // Reading moves nothing, and neither does a refused cancel.
    clock.advance(Duration::from_millis(1));
    caller.get(id(&asked)).await;
    caller.code("tasks/cancel", json!({ "id": id(&second) })).await;
    assert_eq!(caller.list().await, before);
    clock.advance(Duration::from_millis(1));
    caller.send(Message::new("this").task(id(&asked))).await;
    let after = caller.list().await;
    assert_eq!([id(&after[0]), id(&after[1])], [id(&asked), id(&second)]);
    server.finish().await;
}

#[tokio::test]
async fn the_praison_list_is_an_array_of_whole_tasks() {
    let (server, clock) = timed("").await;
    let caller = Caller::praison(&server);
    let empty = caller.ok("tasks/list", json!({})).await;
    assert_eq!(empty, json!([]));
    clock.advance(Duration::from_millis(1));
    let first = caller.send(Message::new("one").context("talk")).await;
    clock.advance(Duration::from_millis(1));
    let second = caller.send(Message::new("two").context("talk")).await;
    clock.advance(Duration::from_millis(1));
    let other = caller.send(Message::new("three")).await;
    assert_eq!(state(&first), "completed");
    assert!(first.get("artifacts").is_some());
    let all = caller.ok("tasks/list", json!({})).await;
    assert_eq!(all, json!([other, second, first]));
    let talk = caller.ok("tasks/list", json!({ "contextId": "talk" })).await;
    assert_eq!(talk, json!([second, first]));
    assert_eq!(context(&talk[0]), "talk");
    server.finish().await;
}
