//! How large the file becomes: what retention and the limits remove gives its room back.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::TaskState;
use a2ad_domain::ports::TaskStore;
use a2ad_domain::testing::sample::{applied, at, key, opened, piece, status};
use a2ad_store::{Capacity, Durability, Settings, SqliteStore};
use rusqlite::Connection;
use std::sync::Arc;
use support::Folder;

/// Keeps a task of about a hundred kilobytes that has ended at this time.
async fn keep(store: &SqliteStore, number: u128, millis: i64) {
    let task = opened(key(number), millis);
    store.insert(&Arc::new(task.clone())).await.unwrap();
    let changes = [piece("a", &"x".repeat(100_000), false), status(TaskState::Completed)];
    let (changed, recorded) = applied(task.clone(), &changes, millis);
    store.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
}

/// The size of the database with all that is in its log.
fn size(folder: &Folder) -> u64 {
    let file = Connection::open(folder.path("tasks.db")).unwrap();
    let (pages, page): (i64, i64) = (
        file.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap(),
        file.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap(),
    );
    u64::try_from(pages * page).unwrap()
}

/// The size of all files of the store.
fn on_disk(folder: &Folder) -> u64 {
    let entries = std::fs::read_dir(&**folder).unwrap();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn what_retention_removes_gives_its_room_back_round_after_round() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let empty = size(&folder);
    for round in 0..6_u8 {
        for number in 1..=40 {
            keep(&store, u128::from(round) * 100 + number, 1_000).await;
        }
        assert!(size(&folder) > 4_000_000);
        assert_eq!(store.purge_ended_before(at(2_000)).await.unwrap(), 40);
        // The room is given back after the answer and before anything else is written.
        assert_eq!(store.purge_ended_before(at(0)).await.unwrap(), 0);
        let left = size(&folder);
        assert!(left < empty + 100_000, "round {round} has left {left} bytes, {empty} at first");
    }
    assert_eq!((store.len(), store.weight()), (0, 0));
    drop(store);
    let left = on_disk(&folder);
    assert!(left < empty + 100_000, "{left} bytes are on the disk");
}

#[tokio::test]
async fn what_makes_room_at_the_limit_is_written_over() {
    let folder = Folder::new();
    let capacity = Capacity { tasks: 20, ..Capacity::default() };
    let settings = Settings { capacity, ..Settings::at(folder.path("tasks.db")) };
    let store = SqliteStore::open(&settings).unwrap();
    for number in 1..=20 {
        keep(&store, number, 1_000).await;
    }
    let full = size(&folder);
    for number in 21..=400 {
        keep(&store, number, 1_000).await;
    }
    let after = size(&folder);
    // One more than there may be, for the moment before the oldest goes.
    assert!(after < full + full / 10, "{after} bytes after {full}");
    let log = std::fs::metadata(folder.path("tasks.db-wal")).unwrap().len();
    assert!(log < 64 << 20, "the log has {log} bytes");
    drop(store);
    let left = on_disk(&folder);
    assert!(left < full + full / 10, "{left} bytes are on the disk");
}
