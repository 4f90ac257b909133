//! Copies of a store in a file: whole, private, and never over anything.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::TaskStore;
use a2ad_domain::testing::sample::{applied, key, opened, piece, status};
use a2ad_domain::{Task, TaskState};
use a2ad_store::{BackupError, Cause, Durability, Settings, SqliteStore, back_up};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use support::Folder;

async fn insert(store: &SqliteStore, number: u128) -> Task {
    let task = opened(key(number), i64::try_from(number).unwrap());
    store.insert(&Arc::new(task.clone())).await.unwrap();
    task
}

/// The names in the folder without those of the store itself.
fn others(folder: &Folder) -> BTreeSet<String> {
    let names = std::fs::read_dir(&**folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with("tasks.db")).collect()
}

fn open(folder: &Folder, name: &str) -> SqliteStore {
    SqliteStore::open(&Settings::at(folder.path(name))).unwrap()
}

#[tokio::test]
async fn a_copy_holds_what_was_committed_and_is_a_store_of_its_own() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let task = insert(&store, 1).await;
    let changes = [status(TaskState::Working), piece("out", "text", false)];
    let (task, recorded) = {
        let (changed, recorded) = applied(task.clone(), &changes, 5);
        store.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
        (changed, recorded)
    };
    assert_eq!(store.backup(&folder.path("one.db")).await.unwrap(), 1);
    // From beside the store, as another process does it.
    assert_eq!(back_up(&folder.path("tasks.db"), &folder.path("two.db")).unwrap(), 1);
    insert(&store, 2).await;
    assert_eq!(others(&folder), BTreeSet::from(["one.db".to_owned(), "two.db".to_owned()]));
    for name in ["one.db", "two.db"] {
        let mode = folder.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name} can be read by others");
        let file = Connection::open(folder.path(name)).unwrap();
        let whole: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
        drop(file);
        let copy = open(&folder, name);
        assert_eq!((copy.len(), &*copy.load(task.key()).await.unwrap()), (1, &task));
        let log = copy.changes_after(task.key(), a2ad_domain::Version::FIRST, 9).await.unwrap();
        assert_eq!(log, a2ad_domain::ports::Changes::After(recorded.clone()));
        insert(&copy, 3).await;
    }
    // The store that was copied has kept its lock, and goes on.
    assert!(SqliteStore::open(&Settings::at(folder.path("tasks.db"))).is_err());
    insert(&store, 4).await;
}

#[tokio::test]
async fn what_a_dead_process_has_left_is_copied_with_its_log() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let task = insert(&store, 1).await;
    // What is in the files at this moment is what a crash would leave.
    for ending in ["", "-wal"] {
        let from = folder.path(&format!("tasks.db{ending}"));
        std::fs::copy(from, folder.path(&format!("dead.db{ending}"))).unwrap();
    }
    assert_eq!(back_up(&folder.path("dead.db"), &folder.path("copy.db")).unwrap(), 1);
    assert_eq!(*open(&folder, "copy.db").load(task.key()).await.unwrap(), task);
    assert_eq!(*open(&folder, "dead.db").load(task.key()).await.unwrap(), task);
}

#[tokio::test]
async fn a_file_that_is_there_is_never_written_over() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    insert(&store, 1).await;
    std::fs::write(folder.path("precious"), "words").unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("link")).unwrap();
    let before = others(&folder);
    for name in ["precious", "link", "tasks.db"] {
        let refused = back_up(&folder.path("tasks.db"), &folder.path(name)).unwrap_err();
        assert!(matches!(refused, BackupError::Exists(_)), "{name}: {refused}");
        assert!(store.backup(&folder.path(name)).await.is_err(), "{name}");
    }
    assert_eq!(std::fs::read_to_string(folder.path("precious")).unwrap(), "words");
    assert_eq!(others(&folder), before);
    let nowhere = back_up(&folder.path("tasks.db"), &folder.path("no/such.db")).unwrap_err();
    assert!(matches!(nowhere, BackupError::Target { .. }), "{nowhere}");
}

#[tokio::test]
async fn what_is_no_store_of_ours_is_not_copied() {
    let folder = Folder::new();
    let refused = |name: &str| {
        let refused = back_up(&folder.path(name), &folder.path("copy.db")).unwrap_err();
        assert!(!folder.path("copy.db").exists());
        assert_eq!(refused.to_string().lines().count(), 1, "{refused}");
        refused
    };
    assert!(matches!(refused("missing.db"), BackupError::NoStore(_)));
    assert!(!folder.path("missing.db").exists(), "a store was made");
    std::fs::write(folder.path("empty.db"), "").unwrap();
    assert!(matches!(refused("empty.db"), BackupError::NoStore(_)));
    let cause = |name: &str| match refused(name) {
        BackupError::Store(error) => format!("{:?}", error.cause()),
        other => panic!("{name}: {other}"),
    };
    std::fs::write(folder.path("text"), "no database at all ".repeat(100)).unwrap();
    assert_eq!(cause("text"), format!("{:?}", Cause::NotADatabase));
    let theirs = Connection::open(folder.path("theirs.db")).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert_eq!(cause("theirs.db"), format!("{:?}", Cause::Foreign));
    drop(folder.open(Durability::Process));
    let newer = Connection::open(folder.path("tasks.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(cause("tasks.db"), format!("{:?}", Cause::Newer { version: 99 }));
}
