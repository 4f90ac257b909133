//! Webhooks of a server that is killed: nothing is lost, and what comes twice comes in its place.

use super::{LINE_1, full, message};
use crate::drain::process::Process;
use crate::support::Place;
use crate::support::chance::{Chance, seed};
use crate::support::receiver::{EAGER, Reaction, Receiver, Told, state_of};
use crate::support::rpc::JSON;
use a2ad_domain::CancelSignal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KILLS: usize = 6;
const CHUNKS: usize = 40;

async fn start(place: &Place) -> Process {
    let agent = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
    Process::start(&format!("{}{EAGER}{agent}", place.store("process")), "error").await
}

async fn killed(mut process: Process) {
    process.kill();
    process.ended().await;
}

fn version(told: &Told) -> u64 {
    let id = told.header("a2a-notification-id").expect("an id");
    id.rsplit_once('/').expect("a number").1.parse().expect("a number")
}

async fn sent(process: &Process, method: &str, params: Value) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let headers = if method.contains('/') { &[JSON][..] } else { &[JSON, LINE_1] };
    let path = "/api/v1/a2a/script/jsonrpc";
    let (status, answer) = process.exchange("POST", path, headers, body.to_string()).await;
    assert!(status == 200 && !answer.contains("\"error\""), "{answer}");
}

#[tokio::test]
async fn every_change_is_told_in_order_over_kills_of_the_server() {
    let (place, receiver) = (Place::new("hooks"), Receiver::start().await);
    let mut chance = Chance::new(seed(), 0);
    let mut process = start(&place).await;
    // A notice whose answer never comes: the server does not know that it has arrived.
    let lost = || Reaction::Hold(CancelSignal::new());
    receiver.react("/a", [lost()]);
    let text = format!("chunks {CHUNKS} {}", "plum ".repeat(CHUNKS));
    sent(&process, "SendMessage", message(false, &text, full(false, &receiver.url("/a")))).await;
    let mut hangs = message(true, "hang", full(true, &receiver.url("/hang")));
    hangs["configuration"]["blocking"] = false.into();
    sent(&process, "message/send", hangs).await;
    receiver.until("/hang", |told| !told.is_empty()).await;
    let mut requests = 1;
    receiver.requests("/a", requests).await;
    for _ in 0..KILLS {
        killed(process).await;
        let more = chance.draw(&(1..4_usize));
        receiver.react("/a", vec![Reaction::Answer(200); more - 1].into_iter().chain([lost()]));
        process = start(&place).await;
        requests += more;
        receiver.requests("/a", requests).await;
    }
    killed(process).await;
    let process = start(&place).await;
    let told = receiver.until_ended("/a").await;
    let versions: Vec<u64> = told.iter().map(version).collect();
    assert!(versions.is_sorted(), "{versions:?}");
    let different: BTreeSet<u64> = versions.iter().copied().collect();
    assert!(different.iter().copied().eq(2..=CHUNKS as u64 + 3), "{different:?}");
    // What was on its way when the server was killed has come twice, and nothing else has.
    assert_eq!(versions.len() - different.len(), KILLS + 1, "{versions:?}");
    let hung = receiver.until_ended("/hang").await;
    assert_eq!(state_of(&hung[hung.len() - 1].json()), Some("failed"), "its run is gone");
    process.signal("TERM").await;
    process.ended().await;
}
