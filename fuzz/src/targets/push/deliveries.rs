//! What the receiver has heard: the changes that each webhook is for, in order, in its line's shape, and nothing else.

use super::calls::{Call, Way};
use super::model::{Hook, Life, Task};
use super::{Talk, outcome};
use crate::json;
use crate::receiver::Heard;
use a2ad_domain::ports::Changes;
use a2ad_domain::{Change, PushForm, Recorded, TaskState, Version};
use serde_json::Value;

pub(super) async fn check(talk: &Talk) {
    let heard = talk.world.receiver.heard();
    let mut expected = vec![false; heard.len()];
    for task in &talk.tasks {
        let key = talk.key(&task.id).await;
        let changes = talk.world.stores.tasks.changes_after(&key, Version::FIRST, usize::MAX >> 1);
        let Ok(Changes::After(changes)) = changes.await else { panic!("the log is not whole") };
        for hook in task.hooks.iter().chain(&task.gone) {
            lives(task, hook, &changes, &heard, &mut expected);
        }
        for heard in heard.iter().filter(|heard| heard.task == task.id) {
            let change = changes.iter().find(|change| change.version.0 == heard.version);
            shape(heard, &change.expect("a change").change);
        }
        newest(talk, task, &heard).await;
    }
    let other = heard.iter().zip(&expected).find(|(_, expected)| !**expected);
    assert!(other.is_none(), "nobody has asked for {other:?} of {heard:#?}");
}

/// Looks through what a webhook was, one after the other.
fn lives(task: &Task, hook: &Hook, changes: &[Recorded], heard: &[Heard], expected: &mut [bool]) {
    let mut told = hook.lives[0].version;
    for (index, life) in hook.lives.iter().enumerate() {
        let next = hook.lives.get(index + 1);
        let is_for = |heard: &Heard| {
            let end = life.end.map_or(usize::MAX, |end| end.1);
            // While one was replaced by one that is the same, it may be either's.
            let is_next = next.is_some_and(|next| heard.at > next.begin.0 && matches(next, heard));
            heard.task == task.id
                && heard.config.id.as_str() == hook.name
                && (life.begin.0 + 1..=end).contains(&heard.at)
                && matches(life, heard)
                && !is_next
        };
        let mut attempts = Vec::new();
        for (heard, expected) in heard.iter().zip(&mut *expected).filter(|(it, _)| is_for(it)) {
            *expected = true;
            attempts.push(heard);
        }
        let mut versions: Vec<u64> = attempts.iter().map(|heard| heard.version).collect();
        for pair in attempts.windows(2) {
            let again = pair[0].version == pair[1].version && pair[0].settled.is_none();
            assert!(again || pair[0].version < pair[1].version, "out of order: {versions:?}");
        }
        versions.dedup();
        let is_whole = life.end.is_none();
        assert!(
            fits(&versions, changes, life.form, told, is_whole),
            "{versions:?} of {changes:#?} after {told:?}, {:?}",
            life.form
        );
        let Some(end) = life.end else { continue };
        // What was on its way when it was replaced may come again.
        let settled = |heard: &&&Heard| heard.settled.is_some_and(|settled| settled <= end.0);
        let first = attempts.iter().filter(settled).map(|heard| heard.version).max();
        let newest = attempts.iter().map(|heard| heard.version).max().unwrap_or(told.1);
        let following = changes.iter().find(|it| it.version.0 > newest && is_told(life.form, it));
        let latest = following.map_or(u64::MAX, |change| change.version.0 - 1);
        told = (first.unwrap_or(told.0).max(told.0), latest);
    }
}

/// Whether these are the changes after one of the versions that are possible.
fn fits(
    versions: &[u64],
    changes: &[Recorded],
    form: PushForm,
    (from, to): (u64, u64),
    is_whole: bool,
) -> bool {
    let candidates = changes.iter().map(|change| change.version.0);
    let candidates = candidates.filter(|version| (from..=to).contains(version));
    std::iter::once(from).chain(candidates).any(|after| {
        let told = changes.iter().filter(|it| it.version.0 > after && is_told(form, it));
        let told: Vec<u64> = told.map(|change| change.version.0).collect();
        if is_whole { told == versions } else { told.starts_with(versions) }
    })
}

fn is_told(form: PushForm, change: &Recorded) -> bool {
    match &change.change {
        Change::Message(_) => false,
        Change::Status(_) => true,
        Change::Artifact(_) => form == PushForm::Line1,
    }
}

/// Whether it was sent for this webhook, with all that it has asked for.
fn matches(life: &Life, heard: &Heard) -> bool {
    let config = &heard.config;
    let wanted = &life.wanted;
    let authorization = wanted.scheme.as_ref().map(|scheme| match &wanted.credentials {
        Some(credentials) => format!("{scheme} {credentials}"),
        None => scheme.clone(),
    });
    let shows = |name: &str, text: Option<&str>| {
        heard.headers.get(name).map(|value| value.as_bytes()) == text.map(str::as_bytes)
    };
    config.form == life.form
        && config.url.reveal() == wanted.url
        && shows("x-a2a-notification-token", wanted.token.as_deref())
        && shows("authorization", authorization.as_deref())
}

/// It is told in its line's words.
fn shape(heard: &Heard, change: &Change) {
    let says = |name: &str| heard.headers.get(name).and_then(|value| value.to_str().ok());
    let id = format!("{}/{}", heard.task, heard.version);
    assert_eq!(says("a2a-notification-id"), Some(&*id));
    let body = json::value(&heard.body).expect("a tree of values");
    if heard.config.form != PushForm::Line1 {
        assert_eq!(says("content-type"), Some("application/json"));
        assert_eq!(body["id"], *heard.task, "{body}");
        let Change::Status(status) = change else { panic!("{change:?}") };
        return assert!(is_state(&body["status"]["state"], status.state), "{body}");
    }
    assert_eq!(says("content-type"), Some("application/a2a+json"));
    assert_eq!(body.as_object().map(|members| members.len()), Some(1), "{body}");
    match change {
        Change::Status(status) => {
            let update = &body["statusUpdate"];
            assert_eq!(update["taskId"], *heard.task);
            assert!(is_state(&update["status"]["state"], status.state), "{body}");
        }
        Change::Artifact(piece) => {
            let update = &body["artifactUpdate"];
            assert_eq!(update["taskId"], *heard.task);
            assert_eq!(update["artifact"]["artifactId"], *piece.id.as_str());
            assert_eq!(update["append"].as_bool().unwrap_or_default(), piece.append, "{body}");
            assert_eq!(update["lastChunk"].as_bool().unwrap_or_default(), piece.last, "{body}");
        }
        Change::Message(_) => panic!("a message is no news: {body}"),
    }
}

/// Whether a name in whatever spelling is that of a state.
fn is_state(name: &Value, state: TaskState) -> bool {
    let plain = |name: &str| {
        let name = name.to_lowercase().replace("task_state_", "").replace('_', "-");
        name.replace("cancelled", "canceled")
    };
    name.as_str().map(plain) == Some(plain(state.name()))
}

/// The last that the webhooks of an older line hear is the task as it is.
async fn newest(talk: &Talk, task: &Task, heard: &[Heard]) {
    let version = talk.version(&task.id).await;
    for (way, form) in [(Way::OldRpc, PushForm::Line03), (Way::Praison, PushForm::Praison)] {
        let is_last = |heard: &&Heard| {
            heard.task == task.id && heard.version == version && heard.config.form == form
        };
        let Some(last) = heard.iter().find(is_last) else { continue };
        let answer = talk.ask(way, task.who, &task.id, &Call::Task).await;
        let shown = outcome(way, &answer).expect("a task");
        assert_eq!(json::value(&last.body), Some(shown));
    }
}
