//! What every store of tasks holds to: keys, versions and the log.

use crate::change::Recorded;
use crate::ids::{TaskKey, Version};
use crate::ports::{Changes, StoreError, TaskStore};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::{generate, sample};
use std::pin::Pin;
use std::sync::Arc;

use sample::{key, key_in, opened, piece, status};

/// A writer of [`one_of_many_writers_wins`]: says whether it has won.
pub type Writer = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Keeps a task that was just opened.
pub(super) async fn keep(store: &impl TaskStore, task: &Task) {
    store.insert(&Arc::new(task.clone())).await.expect("room for a task");
}

/// Applies and appends changes, at a time.
pub(super) async fn write(
    store: &impl TaskStore,
    task: &mut Task,
    changes: &[crate::change::Change],
    millis: i64,
) -> Vec<Recorded> {
    let expected = task.version();
    let (changed, recorded) = sample::applied(task.clone(), changes, millis);
    let appended = store.append(task.key(), expected, &recorded, &changed).await;
    appended.expect("an append on the stored version");
    *task = changed;
    recorded
}

async fn stored(store: &impl TaskStore, key: &TaskKey) -> Task {
    (*store.load(key).await.expect("a stored task")).clone()
}

async fn log(store: &impl TaskStore, key: &TaskKey, after: Version) -> Vec<Recorded> {
    match store.changes_after(key, after, 10_000).await.expect("a log") {
        Changes::After(changes) => changes,
        Changes::TooOld => panic!("a short log has forgotten what came after {after:?}"),
    }
}

fn not_found<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound))
}

/// A task is loaded as it was inserted, and nothing else is there.
pub async fn a_task_is_found_only_under_its_key(store: impl TaskStore) {
    let task = opened(key(1), 5);
    keep(&store, &task).await;
    assert_eq!(stored(&store, &key(1)).await, task);
    assert!(not_found(store.load(&key(2)).await));
    assert!(not_found(store.changes_after(&key(2), Version::FIRST, 10).await));
    let (changed, recorded) = sample::applied(opened(key(2), 5), &[status(TaskState::Working)], 6);
    assert!(not_found(store.append(&key(2), Version::FIRST, &recorded, &changed).await));
    assert!(not_found(store.load(&key(2)).await), "an append must not make a task");
}

/// A second task of the same id is refused, and the first stays.
pub async fn an_id_is_taken_once(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    let again = store.insert(&Arc::new(opened(key(1), 9))).await;
    assert!(matches!(again, Err(StoreError::Exists)), "{again:?}");
    assert_eq!(stored(&store, &key(1)).await, task);
}

/// The same id in another scope reads, writes and lists as if it had never been given out.
pub async fn a_foreign_task_cannot_be_told_from_an_unknown_one(store: impl TaskStore) {
    let task = opened(key(1), 5);
    keep(&store, &task).await;
    for scope in sample::foreign_scopes() {
        let foreign = key_in(&scope, 1);
        assert!(not_found(store.load(&foreign).await), "{scope:?}");
        assert!(not_found(store.changes_after(&foreign, Version::FIRST, 10).await), "{scope:?}");
        for version in [Version::FIRST, Version(7)] {
            let (changed, recorded) =
                sample::applied(opened(foreign.clone(), 5), &[status(TaskState::Canceled)], 6);
            let append = store.append(&foreign, version, &recorded, &changed).await;
            assert!(not_found(append), "{scope:?} at {version:?}");
        }
    }
    assert_eq!(stored(&store, &key(1)).await, task);
}

/// Behind or ahead of the stored version nothing is taken, and the answer names the version.
pub async fn an_append_needs_the_version_that_is_stored(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    write(&store, &mut task, &[status(TaskState::Working), piece("a", "x", false)], 6).await;
    assert_eq!(task.version(), Version(3));
    for version in [Version(0), Version(1), Version(2), Version(4), Version(u64::MAX)] {
        let (changed, recorded) = sample::applied(task.clone(), &[piece("a", "y", true)], 7);
        let append = store.append(&key(1), version, &recorded, &changed).await;
        assert!(
            matches!(append, Err(StoreError::Conflict { actual: Version(3) })),
            "{version:?}: {append:?}"
        );
    }
    assert_eq!(stored(&store, &key(1)).await, task);
    write(&store, &mut task, &[piece("a", "y", true)], 8).await;
    assert_eq!(stored(&store, &key(1)).await.version(), Version(4));
}

/// After a conflict the task, the log and the lists are as before.
pub async fn a_refused_append_changes_nothing(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    let written = write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    let (changed, recorded) = sample::applied(opened(key(1), 5), &[status(TaskState::Failed)], 7);
    let append = store.append(&key(1), Version::FIRST, &recorded, &changed).await;
    assert!(matches!(append, Err(StoreError::Conflict { .. })), "{append:?}");
    assert_eq!(stored(&store, &key(1)).await, task);
    assert_eq!(log(&store, &key(1), Version::FIRST).await, written);
    let query = super::store_lists::everything(Some(TaskState::Failed));
    assert_eq!(store.list(&sample::scope(), &query).await.expect("a page").total, 0);
    let purged = store.purge_ended_before(sample::at(100)).await.expect("a purge");
    assert_eq!(purged, 0, "the refused end was taken note of");
}

/// Changes that are appended together are all there, one version each.
pub async fn several_changes_are_committed_as_one(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    let changes =
        [status(TaskState::Working), piece("a", "x", false), status(TaskState::Completed)];
    let written = write(&store, &mut task, &changes, 6).await;
    let versions: Vec<u64> = written.iter().map(|change| change.version.0).collect();
    assert_eq!(versions, [2, 3, 4]);
    assert_eq!(stored(&store, &key(1)).await, task);
    assert_eq!(log(&store, &key(1), Version::FIRST).await, written);
}

/// The log is cut at the version and at the limit, nowhere else.
pub async fn the_log_gives_exactly_the_changes_after_a_version(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    let mut written = Vec::new();
    written.extend(write(&store, &mut task, &[status(TaskState::Working)], 6).await);
    for number in 0..20 {
        let next = [piece("a", &number.to_string(), number > 0)];
        written.extend(write(&store, &mut task, &next, 7 + number).await);
    }
    for (index, change) in written.iter().enumerate() {
        assert_eq!(log(&store, &key(1), change.version).await, written[index + 1..]);
        let page = store.changes_after(&key(1), Version(change.version.0 - 1), 3).await;
        let expected = &written[index..(index + 3).min(written.len())];
        assert_eq!(page.expect("a page"), Changes::After(expected.to_vec()));
    }
    assert_eq!(log(&store, &key(1), Version(999)).await, []);
}

/// The opening of a task is no change, so whoever has not even seen that takes the task.
pub async fn what_came_before_the_log_is_too_old(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    write(&store, &mut task, &[status(TaskState::Working)], 6).await;
    let log = store.changes_after(&key(1), Version(0), 10).await.expect("an answer");
    assert_eq!(log, Changes::TooOld);
}

/// What a reader holds stays as it was when it was read.
pub async fn a_task_that_was_read_does_not_change(store: impl TaskStore) {
    let mut task = opened(key(1), 5);
    keep(&store, &task).await;
    let (read, copy) = (store.load(&key(1)).await.expect("a task"), task.clone());
    write(&store, &mut task, &[status(TaskState::Working), piece("a", "x", false)], 6).await;
    assert_eq!(*read, copy);
    assert_eq!(stored(&store, &key(1)).await, task);
}

/// Whatever a task goes through, what is loaded is what its changes make of it.
pub async fn a_loaded_task_is_the_fold_of_its_changes(store: impl TaskStore) {
    for (number, changes) in generate::some(&generate::changes(24), 48).into_iter().enumerate() {
        let key = key(number as u128 + 1);
        let opening = opened(key.clone(), 0);
        keep(&store, &opening).await;
        let mut task = opening.clone();
        for (index, change) in changes.into_iter().enumerate() {
            let expected = task.version();
            let at = sample::at(i64::try_from(index).expect("a small number"));
            // A change that does not fit never reaches a store.
            if let Ok(recorded) = task.apply(change, at) {
                let append = store.append(&key, expected, &[recorded], &task).await;
                append.expect("an append on the stored version");
            }
        }
        let mut folded = opening;
        for change in log(&store, &key, Version::FIRST).await {
            folded.replay(&change).expect("a change that was committed");
        }
        assert_eq!(stored(&store, &key).await, task);
        assert_eq!(folded, task);
    }
}

/// Of writers that start from the same version, one commits and the others hear of it.
pub async fn one_of_many_writers_wins(
    store: impl TaskStore + 'static,
    run: impl AsyncFnOnce(Vec<Writer>) -> Vec<bool>,
) {
    let store = Arc::new(store);
    let task = opened(key(1), 5);
    keep(&*store, &task).await;
    let writer = |number: usize| -> Writer {
        let (store, task) = (store.clone(), task.clone());
        Box::pin(async move {
            let change = [piece("a", &number.to_string(), false)];
            let (changed, recorded) = sample::applied(task, &change, 6);
            match store.append(&key(1), Version::FIRST, &recorded, &changed).await {
                Ok(()) => true,
                Err(StoreError::Conflict { actual: Version(2) }) => false,
                Err(error) => panic!("{error:?}"),
            }
        })
    };
    let won = run((0..16).map(writer).collect()).await;
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    let winner = won.iter().position(|won| *won).expect("a winner").to_string();
    let stored = stored(&*store, &key(1)).await;
    assert_eq!(stored.version(), Version(2));
    let text = stored.artifacts()[0].parts().next().and_then(crate::content::Part::plain_text);
    assert_eq!(text, Some(&*winner));
    assert_eq!(log(&*store, &key(1), Version::FIRST).await.len(), 1);
}
