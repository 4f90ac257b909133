//! Who is let in as an operator: the table of `docs/security.md`.

use super::desk::{Desk, KEY};
use crate::documents::{read, rows, section};
use crate::edge::connections::met;

/// The columns of the table: what a request shows.
const CALLERS: [(&str, &[(&str, &str)]); 6] = [
    ("nobody", &[]),
    ("a wrong key", &[("x-api-key", "another-key-that-is-long-enough-too")]),
    ("a caller's key", &[("x-api-key", "a2ad_000000000000_0000000000000000")]),
    (
        "the key as a bearer token",
        &[("authorization", "Bearer an-operators-key-that-is-long-enough")],
    ),
    ("an operator over a proxy", &[("x-api-key", KEY), ("x-forwarded-for", "192.0.2.7")]),
    ("an operator", &[("x-api-key", KEY)]),
];

/// The rows: every operation, on what there is.
const OPERATIONS: [(&str, &str, &str); 10] = [
    ("list the agents", "GET", "/agents"),
    ("see an agent", "GET", "/agents/echo"),
    ("add an agent", "POST", "/agents"),
    ("change an agent", "PUT", "/agents/echo"),
    ("publish an agent", "POST", "/agents/echo/publish"),
    ("withdraw an agent", "POST", "/agents/echo/unpublish"),
    ("remove an agent", "DELETE", "/agents/echo"),
    ("list tasks", "GET", "/tasks"),
    ("see a task", "GET", "/tasks/917f7b3c-c641-49c9-a776-1d5dd104301a"),
    ("cancel a task", "POST", "/tasks/917f7b3c-c641-49c9-a776-1d5dd104301a/cancel"),
];

#[tokio::test]
async fn every_operation_is_for_those_whom_the_table_lets_in() {
    let document = read("docs/security.md");
    let table = rows(section(&document, "## What operators may do"));
    let callers: Vec<&str> = CALLERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(table[0][1..], callers);
    let desk = Desk::open().await;
    let mut seen = Vec::new();
    for (name, verb, path) in OPERATIONS {
        let mut row = vec![name.to_owned()];
        for (_, shown) in CALLERS {
            let reply = desk.raw(verb, path, shown, None).await;
            let challenged = reply.headers.contains_key("www-authenticate");
            assert_eq!(challenged, reply.status == 401, "{name}");
            let let_in = reply.status != 401 && reply.status != 403;
            row.push(if let_in { "let in".to_owned() } else { reply.status.to_string() });
        }
        seen.push(row);
    }
    assert_eq!(table[2..], seen);
    desk.server.finish().await;
}

#[tokio::test]
async fn who_is_not_let_in_learns_nothing_of_what_there_is() {
    let desk = Desk::open().await;
    let mut answers = Vec::new();
    for (verb, path) in [
        ("GET", "/agents/echo"),
        ("GET", "/agents/nobody"),
        ("GET", "/nowhere"),
        ("PATCH", "/agents"),
        ("POST", "/agents"),
        ("GET", ""),
    ] {
        let reply = desk.raw(verb, path, &[], None).await;
        answers.push((reply.status, reply.body));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 401), "{answers:?}");
    desk.server.finish().await;
}

#[tokio::test]
async fn a_key_that_is_replaced_counts_from_the_next_request_on() {
    let desk = Desk::open().await;
    let new = "the-key-that-the-operator-has-from-now-on";
    std::fs::write(desk.folder().join("operator.key"), new).expect("a file");
    let status = async |key| desk.raw("GET", "/agents", &[("x-api-key", key)], None).await.status;
    assert_eq!((status(KEY).await, status(new).await), (401, 200));
    std::fs::write(desk.folder().join("operator.key"), "short").expect("a file");
    assert_eq!((status("short").await, status(new).await), (401, 401));
    std::fs::remove_file(desk.folder().join("operator.key")).expect("the file");
    assert_eq!((status(new).await, status("").await), (401, 401));
    desk.server.finish().await;
}

#[tokio::test]
async fn an_operator_who_comes_over_a_proxy_is_let_in_where_that_is_meant() {
    let desk = Desk::with("remote = true", "").await;
    let headers = [("x-api-key", KEY), ("x-forwarded-for", "192.0.2.7")];
    assert_eq!(desk.raw("GET", "/agents", &headers, None).await.status, 200);
    desk.server.finish().await;
}

#[tokio::test]
async fn who_guesses_at_operators_keys_is_counted_by_the_address_and_operators_are_not() {
    let desk = Desk::with("", "[limits]\nrate = \"2/h\"\n").await;
    let status =
        async |headers: &[(&str, &str)]| desk.raw("GET", "/agents", headers, None).await.status;
    let mut statuses = Vec::new();
    for guess in ["a-key-that-is-long-enough-and-wrong", "b", "c", "d"] {
        statuses.push(status(&[("x-api-key", guess)]).await);
    }
    assert_eq!(statuses, [401, 401, 429, 429]);
    let refused = desk.raw("GET", "/agents", &[], None).await;
    assert_eq!(refused.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    let pause: u64 =
        refused.headers["retry-after"].to_str().expect("text").parse().expect("a time");
    assert!((1..=1800).contains(&pause), "{pause}");
    // Nobody is locked out by who guesses from the same address.
    for _ in 0..5 {
        assert_eq!(status(&[("x-api-key", KEY)]).await, 200);
    }
    assert_eq!(met(&desk.server, "rate").await, 3);
    desk.server.finish().await;
}

#[tokio::test]
async fn what_an_operator_asks_for_and_is_not_there_is_said() {
    let desk = Desk::open().await;
    desk.refused(404, "GET", "/nowhere", None).await;
    desk.refused(404, "GET", "/agents/Echo", None).await;
    let (status, _) = desk.ask("PATCH", "/agents", None).await;
    assert_eq!(status, 405);
    desk.server.finish().await;
}
