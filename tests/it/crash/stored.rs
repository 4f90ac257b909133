//! What the store says of a task in the end: the task, and all its changes.

use crate::drain::process::Process;
use crate::support::Event;
use crate::support::caller::{check, id, text};
use serde_json::{Value, json};

/// The result of a call that succeeds.
pub(super) async fn ok(process: &Process, method: &str, params: Value) -> Value {
    let (status, mut answer) = process.call(method, params).await;
    assert_eq!(status, 200, "{answer}");
    check(&answer);
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

/// All tasks, without their artifacts.
pub(super) async fn all(process: &Process) -> Vec<Value> {
    let (mut tasks, mut asked) = (Vec::new(), json!({ "pageSize": 100 }));
    loop {
        let page = ok(process, "tasks/list", asked.clone()).await;
        tasks.extend_from_slice(page["tasks"].as_array().expect("tasks"));
        let token = page["nextPageToken"].as_str().expect("a token");
        if token.is_empty() {
            assert_eq!(page["totalSize"], tasks.len());
            return tasks;
        }
        asked["pageToken"] = token.into();
    }
}

/// A task with its past.
pub(super) struct Stored {
    pub(super) task: Value,
    /// All events but the first, which is the task as it was opened.
    pub(super) log: Vec<Event>,
    /// What it was after each of them, the oldest first.
    views: Vec<View>,
}

/// What a task was at a version.
#[derive(Clone, Debug)]
struct View {
    version: u64,
    /// `None` before the first event.
    status: Option<Value>,
    artifacts: Vec<(String, String)>,
}

impl Stored {
    pub(super) async fn read(process: &Process, named: &str) -> Self {
        let task = ok(process, "tasks/get", json!({ "id": named })).await;
        let (mut events, mut log) = (process.resume(named, "1").await, Vec::new());
        let status = &task["status"];
        loop {
            let event = events.next().await.expect("the status that the task has");
            check(&event.data);
            let is_newest = event.data["result"].get("status") == Some(status);
            log.push(event);
            if is_newest {
                break;
            }
        }
        assert!(log.is_sorted_by(|one, two| one.id < two.id), "{log:?}");
        let views = views(&log);
        let stored = Self { task, log, views };
        let newest = stored.views.len() - 1;
        assert_eq!(stored.first_fit(newest, &stored.task), Some(newest), "{}", stored.task);
        stored
    }

    /// The first view at `from` or later that this is an answer of.
    pub(super) fn first_fit(&self, from: usize, answer: &Value) -> Option<usize> {
        let fits = |view: &View| view.fits(answer);
        let found = self.views[from..].iter().position(fits).map(|found| from + found);
        found.filter(|_| begins(answer, &self.task))
    }

    /// Whether the task was this at the version.
    pub(super) fn was(&self, version: u64, task: &Value) -> bool {
        let view = self.views.iter().rfind(|view| view.version <= version);
        view.is_some_and(|view| view.fits(task)) && begins(task, &self.task)
    }
}

/// Whether all messages of the task are the first ones of its later self, and it is the same task. The
/// message of a status joins the history when the next status comes.
fn begins(task: &Value, later: &Value) -> bool {
    let messages = |task: &Value| task["history"].as_array().cloned().unwrap_or_default();
    messages(later).starts_with(&messages(task))
        && id(task) == id(later)
        && task["contextId"] == later["contextId"]
}

impl View {
    fn fits(&self, task: &Value) -> bool {
        let (status, artifacts) = (&task["status"], task["artifacts"].as_array());
        let artifacts: Vec<_> = artifacts.into_iter().flatten().map(named_text).collect();
        artifacts == self.artifacts
            && match &self.status {
                Some(known) => status == known,
                None => status["state"] == "submitted",
            }
    }
}

fn named_text(artifact: &Value) -> (String, String) {
    (artifact["artifactId"].as_str().expect("an id").to_owned(), text(artifact))
}

fn views(log: &[Event]) -> Vec<View> {
    let mut view = View { version: 1, status: None, artifacts: Vec::new() };
    let mut views = vec![view.clone()];
    for event in log {
        let result = &event.data["result"];
        view.version = event.id.expect("a version");
        if let Some(artifact) = result.get("artifact") {
            let (name, text) = named_text(artifact);
            let known = view.artifacts.iter_mut().find(|(known, _)| *known == name);
            match (known, result["append"] == true) {
                (Some((_, known)), true) => known.push_str(&text),
                (Some((_, known)), false) => *known = text,
                (None, false) => view.artifacts.push((name, text)),
                (None, true) => panic!("appended to nothing: {result}"),
            }
        } else {
            view.status = Some(result["status"].clone());
        }
        views.push(view.clone());
    }
    views
}
