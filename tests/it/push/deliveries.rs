//! Receivers that are slow, fail, redirect, answer too much or break off: their notices arrive in order or
//! are given up, and nobody else notices.

use super::{call, full, message};
use crate::support::TestServer;
use crate::support::caller::{Caller, Message, id, state};
use crate::support::receiver::{EAGER, Reaction, Receiver, Told};
use a2ad_domain::CancelSignal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Sends a message with a webhook and waits for its task.
async fn send(server: &TestServer, receiver: &Receiver, path: &str, text: &str) -> Value {
    let params = message(false, text, full(false, &receiver.url(path)));
    call(server, "script", "SendMessage", params).await.result()["task"].take()
}

/// The numbers of the changes that notices are about.
fn versions(told: &[Told]) -> Vec<u64> {
    let id = |told: &Told| told.header("a2a-notification-id").expect("an id").to_owned();
    let number = |id: String| id.rsplit_once('/').expect("a number").1.parse().expect("a number");
    told.iter().map(id).map(number).collect()
}

#[tokio::test]
async fn what_fails_in_passing_arrives_in_order_after_all() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    let failures = [
        Reaction::Answer(503),
        Reaction::Answer(500),
        Reaction::Answer(429),
        Reaction::Answer(408),
        Reaction::Break,
        Reaction::With(503, "retry-after: 0\r\n".to_owned()),
    ];
    receiver.react("/a", failures);
    send(&server, &receiver, "/a", "chunks 4 plums").await;
    let told = receiver.until_ended("/a").await;
    assert_eq!(versions(&told), [2, 3, 4, 5, 6, 7]);
    assert_eq!(receiver.all("/a").len(), 6 + 6, "six failures and six notices");
    server.finish().await;
}

#[tokio::test]
async fn what_is_refused_for_good_is_left_out_and_the_rest_follows() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    let elsewhere = format!("location: {}\r\n", receiver.url("/elsewhere"));
    let redirect = |status| Reaction::With(status, elsewhere.clone());
    receiver
        .react("/a", [Reaction::Answer(400), redirect(302), Reaction::Answer(410), redirect(307)]);
    send(&server, &receiver, "/a", "chunks 4 plums").await;
    let told = receiver.until_ended("/a").await;
    assert_eq!(versions(&told), [6, 7]);
    assert_eq!(receiver.all("/a").len(), 6, "each was tried once");
    assert_eq!(receiver.all("/elsewhere").len(), 0, "no redirect was followed");
    server.finish().await;
}

#[tokio::test]
async fn a_success_with_a_body_of_ten_megabytes_is_a_success() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    receiver.react("/a", [Reaction::Long(10_000_000), Reaction::Long(10_000_000)]);
    send(&server, &receiver, "/a", "chunks 2 plums").await;
    let told = receiver.until_ended("/a").await;
    assert_eq!(versions(&told), [2, 3, 4, 5]);
    assert_eq!(receiver.all("/a").len(), 4, "nothing came twice");
    server.finish().await;
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_holds_nothing_else() {
    let config = format!("{EAGER}max_per_host = 2\n");
    let (server, slow) = (TestServer::with_config(&config).await, Receiver::start().await);
    let free = CancelSignal::new();
    slow.react("/slow", vec![Reaction::Hold(free.clone()); 2]);
    // Two of them, which is as many as one host has places for.
    let first = send(&server, &slow, "/slow", "chunks 20 plums").await;
    assert_eq!(first["status"]["state"], "TASK_STATE_COMPLETED", "its run did not wait");
    send(&server, &slow, "/slow", "chunks 20 plums").await;
    slow.requests("/slow", 2).await;
    // Other tasks run, and other receivers are told, while nothing of the slow one moves. They have the
    // same address and another name, which is what hosts are told apart by.
    for number in 0..5 {
        let path = format!("/quick/{number}");
        let url = slow.url(&path).replace("127.0.0.1", "localhost");
        let params = message(true, "plums", full(true, &url));
        let task = call(&server, "script", "message/send", params).await.result();
        assert_eq!(state(&task), "completed");
        slow.until_ended(&path).await;
    }
    assert_eq!(slow.all("/slow").len(), 2);
    // The same webhook of the same task waits for its first notice; the other one of that task does not.
    free.raise();
    let both = |told: &[Told]| told.iter().filter(|each| is_end(each)).count() == 2;
    let told = slow.until("/slow", both).await;
    let tasks: BTreeSet<String> = told.iter().map(task_of).collect();
    for task in tasks {
        let own: Vec<Told> = told.iter().filter(|each| task_of(each) == task).cloned().collect();
        assert_eq!(versions(&own), (2..=23).collect::<Vec<_>>(), "in order, once");
    }
    server.finish().await;
}

fn task_of(told: &Told) -> String {
    told.header("a2a-notification-id").expect("an id").split('/').next().expect("a task").to_owned()
}

fn is_end(told: &Told) -> bool {
    told.json()["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
}

#[tokio::test]
async fn webhooks_of_one_task_do_not_wait_for_one_another() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    let caller = Caller::new(&server, "script");
    let task = caller.send(Message::new("ask which?")).await;
    for (path, old) in [("/slow", false), ("/new", false), ("/old", true)] {
        let mut config = full(old, &receiver.url(path));
        let method = if old {
            config = json!({ "pushNotificationConfig": config });
            "tasks/pushNotificationConfig/set"
        } else {
            "CreateTaskPushNotificationConfig"
        };
        config["taskId"] = task["id"].clone();
        call(&server, "script", method, config).await.result();
    }
    let free = CancelSignal::new();
    receiver.react("/slow", [Reaction::Hold(free.clone())]);
    let done = caller.send(Message::new("this").task(id(&task))).await;
    let new = receiver.until_ended("/new").await;
    let old = receiver.until_ended("/old").await;
    assert_eq!(old[old.len() - 1].json(), done);
    assert!(receiver.all("/slow").len() <= 1);
    free.raise();
    let slow = receiver.until_ended("/slow").await;
    let bodies = |told: &[Told]| told.iter().map(Told::json).collect::<Vec<_>>();
    assert_eq!(bodies(&slow), bodies(&new));
    server.finish().await;
}

#[tokio::test]
async fn a_deleted_webhook_is_not_tried_again() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    let caller = Caller::new(&server, "script");
    receiver.react("/a", vec![Reaction::Answer(503); 100_000]);
    let mut config = full(false, &receiver.url("/a"));
    config["id"] = "c".into();
    let params = message(false, "x", config);
    let task = call(&server, "script", "SendMessage", params).await.result()["task"].take();
    receiver.requests("/a", 3).await;
    let named = json!({ "taskId": task["id"], "id": "c" });
    call(&server, "script", "DeleteTaskPushNotificationConfig", named).await.result();
    crate::support::agents::until("the end of its worker", || {
        server.gauges().open_webhooks() == Some(0)
    })
    .await;
    let tried = receiver.all("/a").len();
    // What comes later does not wake it either.
    caller.send(Message::new("x")).await;
    server.finish().await;
    assert_eq!(receiver.all("/a").len(), tried);
}
