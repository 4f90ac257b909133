//! Pages of the file that hold something else than they should.

use super::{config, failed, failure, ok};
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

/// Makes forty questions and stops the server, so that all of them are in the database itself.
async fn questions(place: &Place) -> Vec<Value> {
    let process = Process::start(&config(place), "error").await;
    let mut asked = Vec::new();
    for number in 10..50 {
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
    assert_ne!(spoil(&place.file(), "20-padding"), 0);
    let process = Process::start(&config(&place), "warn").await;
    let (mut whole, mut spoilt, mut references) = (Vec::new(), Vec::new(), Vec::new());
    for task in &asked {
        let (status, answer) = process.call("tasks/get", json!({ "id": id(task) })).await;
        if answer.get("result").is_some() {
            assert_eq!(answer["result"], *task);
            whole.push(task);
        } else {
            references.push(failure(status, &answer));
            spoilt.push(task);
        }
    }
    assert!(spoilt.contains(&&asked[10]) && whole.len() > 10, "{} are whole", whole.len());
    // The file can be written, so messages are taken.
    assert_eq!(process.get("/readyz").await, Some(200));
    // Those who answer together share a transaction, and each has its own outcome.
    let answers = asked.iter().take(30).map(|task| {
        let answer = Message::new("apples").task(id(task)).params();
        process.call("message/send", answer)
    });
    for ((status, answer), task) in join_all(answers).await.into_iter().zip(&asked) {
        if spoilt.contains(&task) {
            references.push(failure(status, &answer));
        } else {
            assert_eq!(state(&answer["result"]), "completed", "{answer}");
        }
    }
    references.push(failed(&process, "tasks/cancel", json!({ "id": id(spoilt[0]) })).await);
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    for reference in references {
        assert!(log.contains(&reference), "{reference} is not in the log");
    }
}
