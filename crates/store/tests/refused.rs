//! Files that a store is not opened in: each is told in a line, is left as it was, and nothing is left
//! beside it.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::TaskStore;
use a2ad_domain::testing::sample::{key, opened};
use a2ad_store::{Cause, Durability, OpenError, Settings, SqliteStore};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::Folder;

/// Everything below a folder, with what it holds.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut contents(&path));
            found.insert(path, None);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path, Some(bytes));
        }
    }
    found
}

/// Opens what cannot be opened.
fn refused(folder: &Folder, name: &str) -> OpenError {
    let before = contents(folder);
    let error = SqliteStore::open(&Settings::at(folder.path(name))).map(|_| ()).unwrap_err();
    let after = contents(folder);
    assert!(before == after, "{name}: {:?} -> {:?}", before.keys(), after.keys());
    let line = error.to_string();
    assert!(line.contains(name) && line.contains("; "), "no path or no fix: {line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    error
}

/// Copies a database and its log as a crash of its process would leave them.
fn crash(folder: &Folder, from: &str, to: &str) {
    for ending in ["", "-wal"] {
        let path = |name: &str| folder.path(&format!("{name}{ending}"));
        std::fs::copy(path(from), path(to)).unwrap();
    }
}

#[test]
fn what_is_no_database_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path("text"), "no database at all ".repeat(100)).unwrap();
    assert!(matches!(refused(&folder, "text").cause(), Cause::NotADatabase));
    std::fs::write(folder.path("short"), "no database").unwrap();
    assert!(matches!(refused(&folder, "short").cause(), Cause::NotADatabase));
    std::fs::create_dir(folder.path("folder")).unwrap();
    assert!(matches!(refused(&folder, "folder").cause(), Cause::Files(_)));
    // The folder that it would be in is none.
    assert!(matches!(refused(&folder, "text/tasks.db").cause(), Cause::Files(_)));
    assert!(matches!(refused(&folder, "text/deeper/tasks.db").cause(), Cause::Files(_)));
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = Folder::new();
    let theirs = Connection::open(folder.path("theirs.db")).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(matches!(refused(&folder, "theirs.db").cause(), Cause::Foreign));
    // One with a log that its program has left when it crashed.
    theirs.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO theirs VALUES (1)").unwrap();
    crash(&folder, "theirs.db", "crashed.db");
    drop(theirs);
    assert!(matches!(refused(&folder, "crashed.db").cause(), Cause::Foreign));
    let theirs = Connection::open(folder.path("crashed.db")).unwrap();
    let rows: i64 = theirs.query_row("SELECT count(*) FROM theirs", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn a_file_of_a_newer_program_is_refused() {
    let folder = Folder::new();
    drop(folder.open(Durability::Process));
    let newer = Connection::open(folder.path("tasks.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    crash(&folder, "tasks.db", "crashed.db");
    drop(newer);
    for name in ["tasks.db", "crashed.db"] {
        let error = refused(&folder, name);
        assert!(matches!(error.cause(), Cause::Newer { version: 99 }), "{error}");
        assert!(error.to_string().contains("use the newer program"), "{error}");
    }
}

#[tokio::test]
async fn a_file_whose_list_of_tasks_is_damaged_is_refused() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    for number in 1..=300 {
        store.insert(&Arc::new(opened(key(number), 1))).await.unwrap();
    }
    drop(store);
    std::fs::remove_file(folder.path("tasks.db-lock")).unwrap();
    let file = Connection::open(folder.path("tasks.db")).unwrap();
    // A page of the table itself.
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'task'";
    let root = file.query_row(root, [], |row| row.get::<_, u16>(0)).unwrap();
    let root = usize::from(root);
    drop(file);
    let mut bytes = std::fs::read(folder.path("tasks.db")).unwrap();
    bytes[(root - 1) * 4096..root * 4096].fill(0xff);
    std::fs::write(folder.path("tasks.db"), bytes).unwrap();
    let error = refused(&folder, "tasks.db");
    assert!(matches!(error.cause(), Cause::Database(_) | Cause::Content(_)), "{error}");
    let line = error.to_string();
    assert!(line.contains("malformed") && line.contains("restore a backup"), "{line}");
}

#[test]
fn who_is_refused_because_the_file_is_in_use_takes_nothing_away() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    assert!(matches!(refused(&folder, "tasks.db").cause(), Cause::InUse));
    assert!(matches!(refused(&folder, "tasks.db").cause(), Cause::InUse));
    drop(store);
    drop(folder.open(Durability::Process));
}
