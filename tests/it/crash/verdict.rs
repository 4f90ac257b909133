//! Compares what clients were told with what the store says.

use super::client::ends;
use super::stored::{Stored, all, ok};
use super::told::{Fate, OfTask, Told};
use crate::drain::process::Process;
use crate::support::Event;
use crate::support::caller::{Message, id, state, status_text, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) stored_tasks: usize,
    pub(super) checked_tasks: usize,
    pub(super) checked_answers: usize,
    pub(super) checked_streams: usize,
    pub(super) checked_frames: usize,
    /// Tasks that failed because the server was killed.
    pub(super) lost: usize,
    /// Tasks that waited for an answer; each was given one now.
    pub(super) waiting: usize,
    /// Messages whose fate their client never learned, and how many of them were taken.
    pub(super) unanswered: usize,
    pub(super) unanswered_and_taken: usize,
}

/// Fails unless everything agrees.
pub(super) async fn check(process: &Process, told: Told) -> Found {
    let (tasks, sent) = told.everything();
    let mut found = Found::default();
    let stored = all(process).await;
    found.stored_tasks = stored.len();
    rest(&stored, &mut found);
    messages(&stored, &sent, &mut found);
    for (task, told) in &tasks {
        let stored = Stored::read(process, task).await;
        agrees(&stored, told, &mut found);
    }
    for task in stored.iter().filter(|task| state(task) == "input-required") {
        let answer = Message::new("at last").task(id(task)).params();
        let answered = ok(process, "message/send", answer).await;
        assert_eq!(state(&answered), "completed");
    }
    found
}

/// No task is at work, since this process has begun no run. What has failed says why.
fn rest(stored: &[Value], found: &mut Found) {
    for task in stored {
        match state(task) {
            "input-required" => found.waiting += 1,
            "failed" if status_text(task) == "The server ended before the agent had finished." => {
                found.lost += 1;
            }
            "failed" => {
                let said = task["history"].as_array().expect("messages").iter().map(text);
                let was_told = said.into_iter().any(|text| text.starts_with("fail "));
                assert!(was_told && status_text(task).starts_with("The agent failed"), "{task}");
            }
            other => assert!(ends(other), "{task}"),
        }
    }
}

/// Each message that was answered is where the answer said, once; one that was not is nowhere or somewhere,
/// once.
fn messages(stored: &[Value], sent: &BTreeMap<String, Fate>, found: &mut Found) {
    let mut taken = BTreeMap::new();
    for task in stored {
        let said = task["history"].as_array().expect("messages").iter();
        for message in said.filter(|message| message["role"] == "user") {
            let message = message["messageId"].as_str().expect("an id");
            assert_eq!(taken.insert(message, id(task)), None, "{message} was taken twice");
        }
    }
    for (message, fate) in sent {
        match fate {
            Fate::Taken(task) => assert_eq!(taken.get(&**message), Some(&&**task), "{message}"),
            Fate::Unknown => {
                found.unanswered += 1;
                found.unanswered_and_taken += usize::from(taken.contains_key(&**message));
            }
        }
    }
    let known: BTreeSet<&str> = sent.keys().map(String::as_str).collect();
    let invented: Vec<_> = taken.keys().filter(|message| !known.contains(*message)).collect();
    assert!(invented.is_empty(), "nobody has sent {invented:?}");
}

/// What was told of one task is what it was at some time, each time no earlier than the time before; and
/// once it had ended, what it still is.
fn agrees(stored: &Stored, told: &OfTask, found: &mut Found) {
    found.checked_tasks += 1;
    let mut newest = 0;
    for answer in &told.answers {
        found.checked_answers += 1;
        if ends(state(answer)) {
            assert_eq!(answer, &stored.task, "what has ended has changed");
        }
        let fit = stored.first_fit(newest, answer);
        newest = fit.unwrap_or_else(|| panic!("it never was {answer}\nbut is {}", stored.task));
    }
    for stream in &told.streams {
        found.checked_streams += 1;
        found.checked_frames += stream.len();
        let (first, rest) = stream.split_first().expect("the task, which comes first");
        let version = first.id.expect("a version");
        let task = &first.data["result"];
        assert!(stored.was(version, task), "it was not {task} at {version}, it is {}", stored.task);
        let after = stored.log.iter().filter(|event| event.id > first.id);
        let after: Vec<Value> = after.take(rest.len()).map(shown).collect();
        assert_eq!(rest.iter().map(shown).collect::<Vec<_>>(), after, "after {version}");
    }
}

/// An event without what differs between a stream that ends when the agent asks and one that goes on.
fn shown(event: &Event) -> Value {
    let mut result = event.data["result"].clone();
    result.as_object_mut().expect("an event").remove("final");
    json!([event.id, result])
}
