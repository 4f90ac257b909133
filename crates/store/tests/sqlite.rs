//! What a store in a file promises beyond the contract of every store.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{StoreError, TaskStore};
use a2ad_domain::testing::sample::{applied, key, opened, piece, status};
use a2ad_domain::{Change, Task, TaskId, TaskKey, TaskState, Version};
use a2ad_store::{Capacity, Cause, Durability, Settings, SqliteStore};
use rusqlite::Connection;
use std::sync::Arc;
use support::Folder;

async fn insert(store: &SqliteStore, number: u128) -> Task {
    let task = opened(key(number), i64::try_from(number).unwrap());
    store.insert(&Arc::new(task.clone())).await.unwrap();
    task
}

async fn append(store: &SqliteStore, task: Task, changes: &[Change], millis: i64) -> Task {
    let (changed, recorded) = applied(task.clone(), changes, millis);
    store.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
    changed
}

async fn end(store: &SqliteStore, task: Task, millis: i64) -> Task {
    append(store, task, &[status(TaskState::Working), status(TaskState::Completed)], millis).await
}

fn integrity(folder: &Folder, name: &str) -> String {
    let file = Connection::open(folder.path(name)).unwrap();
    file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_that_come_together_share_a_commit() {
    let folder = Folder::new();
    let store = Arc::new(folder.open(Durability::Power));
    let before = store.commits();
    let callers: Vec<_> = (1..=200_u128)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { insert(&store, number).await })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let commits = store.commits() - before;
    assert_eq!(store.len(), 200);
    assert!(commits < 200, "{commits} commits for 200 tasks");
}

#[tokio::test]
async fn files_copied_at_any_moment_hold_whole_changes_only() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let mut task = insert(&store, 1).await;
    for round in 0..40 {
        let changes = [piece("a", "x", round > 0), piece("b", "y", round > 0)];
        task = append(&store, task, &changes, round).await;
        // What is in the files at this moment is what a crash would leave.
        for ending in ["", "-wal"] {
            let from = folder.path(&format!("tasks.db{ending}"));
            std::fs::copy(from, folder.path(&format!("copy.db{ending}"))).unwrap();
        }
        let copy = SqliteStore::open(&Settings::at(folder.path("copy.db"))).unwrap();
        assert_eq!(*copy.load(task.key()).await.unwrap(), task);
        drop(copy);
        assert_eq!(integrity(&folder, "copy.db"), "ok");
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path(&format!("copy.db{ending}")));
        }
    }
}

#[tokio::test]
async fn a_full_store_makes_room_by_what_ended_first_and_never_by_what_lives() {
    let folder = Folder::new();
    let capacity = Capacity { tasks: 3, ..Capacity::default() };
    let settings = Settings { capacity, ..Settings::at(folder.path("tasks.db")) };
    let store = SqliteStore::open(&settings).unwrap();
    let first = insert(&store, 1).await;
    let second = insert(&store, 2).await;
    let third = insert(&store, 3).await;
    // The second ends first.
    let second = end(&store, second, 10).await;
    let first = end(&store, first, 20).await;
    insert(&store, 4).await;
    assert!(matches!(store.load(second.key()).await, Err(StoreError::NotFound)));
    drop(store);
    let store = SqliteStore::open(&settings).unwrap();
    insert(&store, 5).await;
    assert!(matches!(store.load(first.key()).await, Err(StoreError::NotFound)));
    let full = store.insert(&Arc::new(opened(key(6), 6))).await;
    assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
    assert_eq!(*store.load(third.key()).await.unwrap(), third);
    assert_eq!(store.len(), 3);
}

#[tokio::test]
async fn only_what_was_at_work_is_left_over() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let mut left = vec![insert(&store, 1).await.key().clone()];
    let working = insert(&store, 2).await;
    left.push(append(&store, working, &[status(TaskState::Working)], 3).await.key().clone());
    let asking = insert(&store, 3).await;
    append(&store, asking, &[status(TaskState::Working), status(TaskState::InputRequired)], 4)
        .await;
    let done = insert(&store, 4).await;
    end(&store, done, 5).await;
    drop(store);
    let mut found = folder.open(Durability::Process).orphans().await.unwrap();
    found.sort();
    left.sort();
    assert_eq!(found, left);
}

#[tokio::test]
async fn a_file_has_one_store_and_is_for_its_user_only() {
    let folder = Folder::new();
    let settings = Settings::at(folder.path("made/tasks.db"));
    let store = SqliteStore::open(&settings).unwrap();
    let second = SqliteStore::open(&settings).map(|_| ()).unwrap_err();
    assert!(matches!(second.cause(), Cause::InUse), "{second}");
    let mode = |path: &std::path::Path| {
        std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777
    };
    assert_eq!(mode(&folder.path("made")), 0o700);
    assert_eq!(mode(&folder.path("made/tasks.db")), 0o600);
    insert(&store, 1).await;
    assert_eq!(mode(&folder.path("made/tasks.db-wal")), 0o600);
    drop(store);
    assert_eq!(SqliteStore::open(&settings).unwrap().len(), 1);
}

#[tokio::test]
async fn a_log_is_bounded_and_what_is_before_it_is_too_old() {
    let folder = Folder::new();
    let capacity = Capacity { log: 300, ..Capacity::default() };
    let settings = Settings { capacity, ..Settings::at(folder.path("tasks.db")) };
    let store = SqliteStore::open(&settings).unwrap();
    let mut task = insert(&store, 1).await;
    for round in 0..2000 {
        task = append(&store, task, &[piece("a", "x", round > 0)], round).await;
    }
    let file = Connection::open(folder.path("tasks.db")).unwrap();
    let rows: i64 = file.query_row("SELECT count(*) FROM change", [], |row| row.get(0)).unwrap();
    assert!((300..=1000).contains(&rows), "{rows} changes are kept");
    let old = store.changes_after(task.key(), Version::FIRST, 10).await.unwrap();
    assert_eq!(old, a2ad_domain::ports::Changes::TooOld);
    let newest = Version(task.version().0 - 5);
    let a2ad_domain::ports::Changes::After(newest) =
        store.changes_after(task.key(), newest, 10).await.unwrap()
    else {
        panic!("the newest changes are kept");
    };
    assert_eq!(newest.len(), 5);
    assert_eq!(*store.load(task.key()).await.unwrap(), task);
}

/// What a layout is made of: the columns of each table, and the columns of each index.
fn layout(file: &Connection) -> Vec<String> {
    let mut found = Vec::new();
    for pragma in ["table_xinfo", "index_xinfo"] {
        let query = format!(
            "SELECT s.type || ' ' || s.name || ' ' || i.seq || ' ' || coalesce(i.name, '') || ' ' || s.t
             FROM (SELECT type, name, tbl_name AS t FROM sqlite_schema) AS s
             JOIN (SELECT m.name AS of, p.cid AS seq, p.name FROM sqlite_schema AS m, pragma_{pragma}(m.name) AS p)
                 AS i ON i.of = s.name
             ORDER BY 1"
        );
        let mut statement = file.prepare(&query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        found.extend(rows.collect::<Result<Vec<String>, _>>().unwrap());
    }
    found
}

#[tokio::test]
async fn a_file_of_the_first_layout_is_brought_up_to_the_newest_with_all_it_holds() {
    is_brought_up(include_str!("layouts/1.sql"), include_str!("layouts/1_content.sql")).await;
}

#[tokio::test]
async fn a_file_of_the_second_layout_is_brought_up_to_the_newest_with_all_it_holds() {
    is_brought_up(include_str!("layouts/2.sql"), include_str!("layouts/2_content.sql")).await;
}

#[tokio::test]
async fn a_file_of_the_third_layout_is_brought_up_to_the_newest_with_all_it_holds() {
    is_brought_up(include_str!("layouts/3.sql"), include_str!("layouts/3_content.sql")).await;
}

#[tokio::test]
async fn a_file_of_the_fourth_layout_is_brought_up_to_the_newest_with_all_it_holds() {
    is_brought_up(include_str!("layouts/4.sql"), include_str!("layouts/4_content.sql")).await;
}

async fn is_brought_up(layout_then: &str, content: &str) {
    let folder = Folder::new();
    let old = Connection::open(folder.path("tasks.db")).unwrap();
    old.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
    old.execute_batch(layout_then).unwrap();
    old.execute_batch(content).unwrap();
    drop(old);
    let store = folder.open(Durability::Process);
    assert_eq!(store.len(), 2);
    let asking = TaskKey { id: TaskId::from_u128(2), ..key(1) };
    let task = store.load(&asking).await.unwrap();
    assert_eq!((task.state(), task.version()), (TaskState::InputRequired, Version(3)));
    let a2ad_domain::ports::Changes::After(changes) =
        store.changes_after(&asking, Version::FIRST, 9).await.unwrap()
    else {
        panic!("the log is kept");
    };
    assert_eq!(changes.len(), 2);
    let task = append(&store, Task::clone(&task), &[status(TaskState::Completed)], 9).await;
    assert_eq!(*store.load(&asking).await.unwrap(), task);
    drop(store);
    drop(SqliteStore::open(&Settings::at(folder.path("new.db"))).unwrap());
    let both = ["tasks.db", "new.db"].map(|name| {
        let file = Connection::open(folder.path(name)).unwrap();
        let version: i64 = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        (version, layout(&file))
    });
    assert_eq!(both[0], both[1]);
    assert!(both[0].1.len() > 30, "{:?}", both[0]);
    assert_eq!(integrity(&folder, "tasks.db"), "ok");
}
