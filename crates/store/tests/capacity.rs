//! How much a store keeps: what makes room for what, and what never goes.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{Changes, PushStore, Query, StoreError, TaskStore};
use a2ad_domain::testing::sample::{self, applied, foreign_scopes, key, key_in, opened, opened_in};
use a2ad_domain::testing::sample::{piece, scope, status, webhook};
use a2ad_domain::{Change, Task, TaskState, Version};
use a2ad_store::{Capacity, MemoryStore, Settings, SqliteStore};
use std::sync::Arc;
use support::Folder;

/// A store that says how many tasks it holds.
trait Counted: TaskStore + PushStore {
    fn len(&self) -> usize;
}

impl Counted for MemoryStore {
    fn len(&self) -> usize {
        self.len()
    }
}

impl Counted for SqliteStore {
    fn len(&self) -> usize {
        self.len()
    }
}

/// One of each kind, in memory and in a file, that keeps so many tasks.
fn each(tasks: usize) -> [Box<dyn Counted>; 2] {
    let folder = Folder::new();
    let capacity = Capacity { tasks, ..Capacity::default() };
    let settings = Settings { capacity, ..Settings::at(folder.path("tasks.db")) };
    let file = SqliteStore::open(&settings).unwrap();
    // The open file stays usable when its name is gone, and nothing is left behind.
    drop(folder);
    [Box::new(keeping(tasks)), Box::new(file)]
}

fn keeping(tasks: usize) -> MemoryStore {
    MemoryStore::new(Capacity { tasks, ..Capacity::default() })
}

async fn put(store: &dyn TaskStore, task: &Task) -> Result<(), StoreError> {
    store.insert(&Arc::new(task.clone())).await
}

async fn write(store: &dyn TaskStore, task: &mut Task, changes: &[Change], millis: i64) {
    let expected = task.version();
    let (changed, recorded) = applied(task.clone(), changes, millis);
    store.append(task.key(), expected, &recorded, &changed).await.unwrap();
    *task = changed;
}

/// Opens a task and ends it at a time.
async fn done(store: &dyn TaskStore, number: u128, millis: i64) {
    let mut task = opened(key(number), 0);
    put(store, &task).await.unwrap();
    write(store, &mut task, &[status(TaskState::Completed)], millis).await;
}

async fn left(store: &dyn TaskStore, numbers: impl IntoIterator<Item = u128>) -> Vec<u128> {
    let mut left = Vec::new();
    for number in numbers {
        match store.load(&key(number)).await {
            Ok(_) => left.push(number),
            Err(StoreError::NotFound) => {}
            Err(error) => panic!("{error}"),
        }
    }
    left
}

#[tokio::test]
async fn the_task_that_ended_first_makes_room_whenever_it_was_opened() {
    for store in each(3) {
        let store: &dyn Counted = &*store;
        let mut tasks: Vec<Task> = (1..=3).map(|number| opened(key(number), 0)).collect();
        for task in &tasks {
            put(store, task).await.unwrap();
        }
        for (index, millis) in [(1, 10), (2, 20), (0, 30)] {
            write(store, &mut tasks[index], &[status(TaskState::Completed)], millis).await;
        }
        for (number, expected) in [(4, [1, 3, 4].as_slice()), (5, &[1, 4, 5]), (6, &[4, 5, 6])] {
            put(store, &opened(key(number), 40)).await.unwrap();
            assert_eq!(left(store, 1..=6).await, expected);
            assert_eq!(store.len(), 3);
        }
    }
}

#[tokio::test]
async fn live_tasks_are_never_removed_and_when_only_they_are_left_the_store_is_full() {
    for state in TaskState::ALL {
        for store in each(2) {
            let store: &dyn Counted = &*store;
            for number in 1..=2 {
                let mut task = opened(key(number), 0);
                put(store, &task).await.unwrap();
                for change in sample::way_to(state) {
                    write(store, &mut task, &[change], 1).await;
                }
            }
            let third = put(store, &opened(key(3), 2)).await;
            if state.is_terminal() {
                assert!(third.is_ok(), "{state}");
                assert_eq!(left(store, 1..=3).await, [2, 3]);
            } else {
                assert!(matches!(third, Err(StoreError::Full)), "{state}: {third:?}");
                assert_eq!(left(store, 1..=3).await, [1, 2]);
            }
        }
    }
}

#[tokio::test]
async fn a_task_that_comes_with_a_webhook_needs_room_like_any_other_and_leaves_nothing_without() {
    for store in each(1) {
        let store: &dyn Counted = &*store;
        let mut task = opened(key(1), 0);
        put(store, &task).await.unwrap();
        let (second, hook) = (Arc::new(opened(key(2), 0)), webhook("a", "https://hooks.example/"));
        let full = store.insert_with(&second, &hook).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        assert_eq!((store.open().await.unwrap(), left(store, 1..=2).await), (vec![], vec![1]));
        write(store, &mut task, &[status(TaskState::Failed)], 1).await;
        store.insert_with(&second, &hook).await.unwrap();
        assert_eq!((store.open().await.unwrap().len(), left(store, 1..=2).await), (1, vec![2]));
    }
}

#[tokio::test]
async fn a_full_store_takes_tasks_again_when_one_has_ended() {
    for store in each(1) {
        let store: &dyn Counted = &*store;
        let mut task = opened(key(1), 0);
        put(store, &task).await.unwrap();
        assert!(matches!(put(store, &opened(key(2), 0)).await, Err(StoreError::Full)));
        write(store, &mut task, &[status(TaskState::Failed)], 1).await;
        put(store, &opened(key(2), 0)).await.unwrap();
        assert_eq!(left(store, 1..=2).await, [2]);
    }
}

#[tokio::test]
async fn what_is_removed_is_gone_from_every_list() {
    for store in each(50) {
        let store: &dyn Counted = &*store;
        for number in 1..=200 {
            done(store, number, i64::try_from(number).unwrap()).await;
            assert!(store.len() <= 50);
        }
        let query = Query {
            context: None,
            state: None,
            since: None,
            overdue: None,
            limit: 100,
            after: None,
        };
        let mut queries = vec![query.clone()];
        queries.push(Query { state: Some(TaskState::Completed), ..query.clone() });
        queries.push(Query { context: Some(sample::context("c")), ..query });
        for query in queries {
            let page = store.list(&scope(), &query).await.unwrap();
            let numbers: Vec<u128> =
                page.tasks.iter().map(|task| task.key().id.as_uuid().as_u128()).collect();
            assert_eq!(numbers, (151..=200).rev().collect::<Vec<_>>());
            assert_eq!(page.total, 50);
        }
    }
}

#[tokio::test]
async fn bytes_make_room_like_numbers_do() {
    let large = |number: u128| {
        let message = Arc::new(sample::message("m", &"x".repeat(10_000)));
        Task::open(key(number), sample::context("c"), message, None, sample::at(0))
    };
    let store = MemoryStore::new(Capacity { bytes: 35_000, ..Capacity::default() });
    for number in 1..=3 {
        put(&store, &large(number)).await.unwrap();
    }
    assert!(store.weight() > 30_000 && store.weight() <= 35_000, "{}", store.weight());
    assert!(matches!(put(&store, &large(4)).await, Err(StoreError::Full)));
    let mut first = large(1);
    write(&store, &mut first, &[status(TaskState::Completed)], 1).await;
    put(&store, &large(4)).await.unwrap();
    assert_eq!(left(&store, 1..=4).await, [2, 3, 4]);
    assert!(store.weight() <= 35_000, "{}", store.weight());
}

#[tokio::test]
async fn what_a_run_has_written_counts_when_it_has_ended() {
    let store = keeping(10);
    let mut task = opened(key(1), 0);
    put(&store, &task).await.unwrap();
    let before = store.weight();
    let text = "x".repeat(50_000);
    write(&store, &mut task, &[piece("a", &text, false), status(TaskState::Completed)], 1).await;
    assert!(store.weight() >= before + 50_000, "{}", store.weight());
    assert_eq!(store.purge_ended_before(sample::at(2)).await.unwrap(), 1);
    assert_eq!(store.weight(), 0, "weight is left of a task that is gone");
}

#[tokio::test]
async fn a_log_that_is_full_forgets_its_beginning_and_says_so() {
    let store = MemoryStore::new(Capacity { log: 10, ..Capacity::default() });
    let mut task = opened(key(1), 0);
    put(&store, &task).await.unwrap();
    for number in 0..30 {
        write(&store, &mut task, &[piece("a", "x", number > 0)], 1).await;
    }
    assert_eq!(task.version(), Version(31));
    for after in 1..=31 {
        let log = store.changes_after(&key(1), Version(after), 100).await.unwrap();
        match log {
            Changes::TooOld => assert!(after < 21, "after {after}"),
            Changes::After(changes) => {
                assert!(after >= 21, "after {after}");
                let versions: Vec<u64> = changes.iter().map(|change| change.version.0).collect();
                assert_eq!(versions, (after + 1..=31).collect::<Vec<_>>());
            }
        }
    }
    assert_eq!(*store.load(&key(1)).await.unwrap(), task, "the task itself forgets nothing");
}

#[tokio::test]
async fn nothing_is_kept_of_scopes_and_conversations_whose_tasks_are_gone() {
    let store = keeping(1000);
    let scopes: Vec<_> = (0..50).map(|n| sample::scope_of("main", &format!("owner-{n}"))).collect();
    for (index, owner) in scopes.iter().chain(&foreign_scopes()).enumerate() {
        for conversation in ["a", "b"] {
            let number = index as u128 * 2 + u128::from(conversation == "b") + 1;
            let mut task = opened_in(key_in(owner, number), conversation, 0);
            put(&store, &task).await.unwrap();
            write(&store, &mut task, &[status(TaskState::Canceled)], 1).await;
        }
    }
    assert_eq!(store.scopes(), 53);
    assert_eq!(store.purge_ended_before(sample::at(2)).await.unwrap(), 106);
    assert_eq!((store.scopes(), store.len(), store.weight()), (0, 0, 0));
    assert!(store.is_empty());
}

#[tokio::test]
async fn unknown_ids_leave_nothing_behind() {
    let store = keeping(10);
    for number in 1..=1000 {
        assert!(store.load(&key(number)).await.is_err());
        assert!(store.changes_after(&key(number), Version::FIRST, 1).await.is_err());
    }
    let query =
        Query { context: None, state: None, since: None, overdue: None, limit: 1, after: None };
    for scope in foreign_scopes() {
        assert_eq!(store.list(&scope, &query).await.unwrap().total, 0);
    }
    assert_eq!((store.len(), store.scopes(), store.weight()), (0, 0, 0));
}
