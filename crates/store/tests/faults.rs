//! A file that does not do what it is told: who asks waits and succeeds, or hears that nothing was done, and
//! nobody pays for what another one has asked for.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{PushStore, Query, StoreError, TaskStore};
use a2ad_domain::testing::sample::{applied, key, opened, piece, scope, status, webhook};
use a2ad_domain::testing::{PATIENCE, poll_now};
use a2ad_domain::{Task, TaskState};
use a2ad_store::{Durability, SqliteStore};
use rusqlite::Connection;
use std::sync::Arc;
use support::Folder;

fn task(number: u128) -> Arc<Task> {
    Arc::new(opened(key(number), 1))
}

/// Somebody who looks into the file, and more.
fn other(folder: &Folder) -> Connection {
    Connection::open(folder.path("tasks.db")).unwrap()
}

/// Appends this text to an artifact, and says what became of it.
async fn append(store: &SqliteStore, task: &Task, text: &str) -> Result<(), StoreError> {
    let (changed, recorded) = applied(task.clone(), &[piece("a", text, false)], 2);
    store.append(task.key(), task.version(), &recorded, &changed).await
}

/// Waits for all of them, one after the other: they are under way already.
async fn join_all<T>(asked: impl IntoIterator<Item = impl Future<Output = T> + Unpin>) -> Vec<T> {
    let mut answers = Vec::new();
    for answer in asked {
        answers.push(answer.await);
    }
    answers
}

/// Fails unless what the store knows by heart is what its file says.
async fn assert_consistent(folder: &Folder, store: SqliteStore) {
    let query =
        Query { context: None, state: None, since: None, overdue: None, limit: 200, after: None };
    let seen = async |store: &SqliteStore| {
        let page = store.list(&scope(), &query).await.unwrap();
        assert_eq!(page.total, page.tasks.len());
        (store.len(), store.weight(), page.tasks)
    };
    let before = seen(&store).await;
    drop(store);
    assert!(before == seen(&folder.open(Durability::Process)).await);
    let check = other(folder).query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(check, Ok("ok".to_owned()));
}

#[tokio::test]
async fn who_asks_while_somebody_else_writes_waits_and_succeeds() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let other = other(&folder);
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let first = task(1);
    let mut insert = store.insert(&first);
    assert!(poll_now(&mut insert).await.is_none());
    // Readers see what was committed, and wait for nobody.
    assert!(matches!(store.load(&key(1)).await, Err(StoreError::NotFound)));
    other.execute_batch("COMMIT").unwrap();
    insert.await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.load(&key(1)).await.unwrap(), first);
}

#[tokio::test]
async fn who_asks_while_somebody_else_never_stops_to_write_is_told_and_nothing_is_done() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    store.insert(&task(1)).await.unwrap();
    let other = other(&folder);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = task(1);
    let lost = append(&store, &first, "x").await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    other.execute_batch("COMMIT").unwrap();
    store.check().await.unwrap();
    assert_eq!((store.len(), store.load(&key(1)).await.unwrap()), (1, first));
    assert_consistent(&folder, store).await;
}

#[tokio::test]
async fn a_transaction_that_is_lost_for_one_request_is_lost_for_that_one_only() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    for number in 1..=20 {
        store.insert(&task(number)).await.unwrap();
    }
    let other = other(&folder);
    // Two tasks that cannot be written, one of them when half of its statements are done.
    other
        .execute_batch(
            "CREATE TRIGGER early BEFORE INSERT ON change WHEN new.body LIKE '%early%'
             BEGIN SELECT RAISE(ABORT, 'early'); END;
             CREATE TRIGGER late BEFORE UPDATE ON task
             WHEN EXISTS (SELECT 1 FROM change WHERE task = old.number AND body LIKE '%late%')
             BEGIN SELECT RAISE(ROLLBACK, 'late'); END;
             BEGIN IMMEDIATE",
        )
        .unwrap();
    // While the file is held they queue up, and at most the first of them waits for it by itself.
    let (inserted, tasks): (Vec<_>, Vec<_>) = (1..=20).map(|n| (task(100 + n), task(n))).unzip();
    let mut inserts: Vec<_> = inserted.iter().map(|task| store.insert(task)).collect();
    let text = |number: usize| ["early", "late", "good"][number.min(2)];
    let appends = tasks.iter().enumerate();
    let appends = appends.map(|(number, task)| Box::pin(append(&store, task, text(number))));
    let mut appends: Vec<_> = appends.collect();
    assert!(poll_now(&mut inserts[0]).await.is_none());
    for append in &mut appends {
        assert!(poll_now(append).await.is_none());
    }
    for insert in &mut inserts[1..] {
        assert!(poll_now(insert).await.is_none());
    }
    other.execute_batch("COMMIT").unwrap();
    let (inserts, appends) = tokio::join!(join_all(inserts), join_all(appends));
    for (number, answer) in appends.into_iter().enumerate() {
        if number < 2 {
            assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{number}: {answer:?}");
        } else {
            answer.unwrap();
        }
    }
    for answer in inserts {
        answer.unwrap();
    }
    for number in 1..=20 {
        let changes = if number <= 2 { 1 } else { 2 };
        assert_eq!(store.load(&key(number)).await.unwrap().version().0, changes, "{number}");
    }
    assert_eq!(store.len(), 40);
    store.check().await.unwrap();
    // What has failed can be written when the cause is gone.
    other.execute_batch("DROP TRIGGER early; DROP TRIGGER late").unwrap();
    append(&store, &task(1), "early").await.unwrap();
    append(&store, &task(2), "late").await.unwrap();
    assert_consistent(&folder, store).await;
}

#[tokio::test]
async fn what_is_refused_or_lost_leaves_the_counts_as_they_were() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    store.insert(&task(1)).await.unwrap();
    let known = (store.len(), store.weight());
    other(&folder)
        .execute_batch(
            "CREATE TRIGGER none BEFORE INSERT ON snapshot BEGIN SELECT RAISE(FAIL, 'none'); END",
        )
        .unwrap();
    for number in 2..=4 {
        let lost = store.insert(&task(number)).await;
        assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    }
    let there = store.insert(&task(1)).await;
    assert!(matches!(there, Err(StoreError::Exists)), "{there:?}");
    assert_eq!((store.len(), store.weight()), known);
    let (changed, recorded) = applied(Task::clone(&task(1)), &[status(TaskState::Completed)], 2);
    store.append(changed.key(), task(1).version(), &recorded, &changed).await.unwrap();
    assert_consistent(&folder, store).await;
}

#[tokio::test]
async fn who_has_asked_and_looks_away_keeps_nobody_else_waiting() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let other = other(&folder);
    let tasks: Vec<_> = (1..=9).map(task).collect();
    // Whoever of them is told first, the others hear of their outcome.
    for looks in 1..9 {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut appends: Vec<_> =
            tasks.iter().map(|task| Box::pin(append(&store, task, "x"))).collect();
        for append in &mut appends {
            assert!(poll_now(append).await.is_none());
        }
        other.execute_batch("COMMIT").unwrap();
        let answer = tokio::time::timeout(PATIENCE, &mut appends[looks]).await;
        let answer = answer.expect("an outcome");
        assert!(matches!(answer, Err(StoreError::NotFound)), "{answer:?}");
    }
}

/// Every statement of such a write in its turn: the one that writes the task, or the changes, and the one that
/// writes the webhook.
#[tokio::test]
async fn a_webhook_and_the_task_or_the_changes_that_it_comes_with_are_lost_together() {
    let tables = ["task", "snapshot", "webhook", "change"];
    for (table, verb) in tables.map(|it| (it, "INSERT")).into_iter().chain([("task", "UPDATE")]) {
        let folder = Folder::new();
        let store = folder.open(Durability::Process);
        store.insert(&task(1)).await.unwrap();
        let known = (store.len(), store.weight());
        let other = other(&folder);
        let trigger = format!(
            "CREATE TRIGGER none AFTER {verb} ON {table} BEGIN SELECT RAISE(FAIL, 'none'); END"
        );
        other.execute_batch(&trigger).unwrap();
        let (first, hook) = (task(1), webhook("a", "https://hooks.example/"));
        let (changed, recorded) = applied(Task::clone(&first), &[status(TaskState::Working)], 2);
        let insert = async || store.insert_with(&task(2), &hook).await;
        let append = async || {
            let version = first.version();
            store.append_with(first.key(), version, &recorded, &changed, &hook, 9).await
        };
        if verb == "INSERT" && table != "change" {
            let lost = insert().await;
            assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{table}: {lost:?}");
        }
        if verb == "UPDATE" || ["webhook", "change"].contains(&table) {
            let lost = append().await;
            assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{table}: {lost:?}");
        }
        assert!(matches!(store.load(&key(2)).await, Err(StoreError::NotFound)), "{table}");
        assert_eq!(store.load(&key(1)).await.unwrap(), first, "{table}");
        assert_eq!(store.open().await.unwrap(), [], "{table}");
        assert_eq!((store.len(), store.weight()), known, "{table}");
        other.execute_batch("DROP TRIGGER none").unwrap();
        store.check().await.unwrap();
        insert().await.unwrap();
        append().await.unwrap().unwrap();
        assert_eq!(store.open().await.unwrap().len(), 2, "{table}");
        assert_consistent(&folder, store).await;
    }
}
