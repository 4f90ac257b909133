//! Pages of the file that hold something else than they should.

use super::{config, failure, ok};
use crate::drain::process::Process;
use crate::support::Place;
use crate::support::caller::{Message, id, state};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::path::Path;

const PAGE: usize = 4096;

/// Writes nonsense over every page that holds this text; says how many there are.
fn spoil(file: &Path, text: &str) -> usize {
    let mut bytes = std::fs::read(file).expect("a file");
    let holds = |page: &[u8]| page.windows(text.len()).any(|window| window == text.as_bytes());
    let pages = bytes.chunks_mut(PAGE).filter_map(|page| holds(page).then_some(page));
    let spoilt = pages.map(|page| page.fill(0xff)).count();
    std::fs::write(file, bytes).expect("a file");
    spoilt
}

/// How many tasks away from a page that cannot be read the others are written as if nothing were. Pages are
/// made larger and smaller together with those beside them, so a task that stands there can be read, and
/// written only while its page has room.
const BESIDE: usize = 20;

/// Makes a hundred questions and stops the server, so that all of them are in the database itself.
async fn questions(place: &Place) -> Vec<Value> {
    let process = Process::start(&config(place), "error").await;
    let mut asked = Vec::new();
    for number in 100..200 {
        let text = format!("ask {number}-{}", "padding ".repeat(60));
        asked.push(ok(&process, "message/send", Message::new(text).params()).await);
    }
    process.signal("TERM").await;
    process.ended().await;
    asked
}

#[tokio::test]
async fn a_page_that_cannot_be_read_costs_its_tasks_and_no_others() {
    let place = Place::new("corrupt");
    let asked = questions(&place).await;
    assert_ne!(spoil(&place.file(), "150-padding"), 0);
    let process = Process::start(&config(&place), "warn").await;
    let (mut spoilt, mut references) = (Vec::new(), Vec::new());
    for (index, task) in asked.iter().enumerate() {
        let (status, answer) = process.call("tasks/get", json!({ "id": id(task) })).await;
        if answer.get("result").is_some() {
            assert_eq!(answer["result"], *task);
        } else {
            references.push(failure(status, &answer));
            spoilt.push(index);
        }
    }
    assert!(spoilt.contains(&50) && spoilt.len() < BESIDE, "{spoilt:?} are not whole");
    // The file can be written, so messages are taken.
    assert_eq!(process.get("/readyz").await, Some(200));
    let beside = |index| spoilt.iter().any(|it| it.abs_diff(index) <= BESIDE);
    // Those who answer together share a transaction, and each has its own outcome.
    let answers =
        asked.iter().enumerate().filter(|(index, _)| spoilt.contains(index) || !beside(*index));
    let answers = answers.map(async |(index, task)| {
        let answer = Message::new("apples").task(id(task)).params();
        (index, process.call("message/send", answer).await)
    });
    for (index, (status, answer)) in join_all(answers).await {
        if spoilt.contains(&index) {
            references.push(failure(status, &answer));
        } else {
            assert_eq!(state(&answer["result"]), "completed", "{answer}");
        }
    }
    for (index, task) in asked.iter().enumerate().filter(|(index, _)| beside(*index)) {
        let named = json!({ "id": id(task) });
        let (status, answer) = process.call("tasks/cancel", named.clone()).await;
        if answer.get("result").is_some() {
            assert_eq!(state(&answer["result"]), "canceled", "{answer}");
            continue;
        }
        references.push(failure(status, &answer));
        if !spoilt.contains(&index) {
            assert_eq!(ok(&process, "tasks/get", named).await, *task, "nothing is half done");
        }
    }
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    for reference in references {
        assert!(log.contains(&reference), "{reference} is not in the log");
    }
}
