//! What operators do about webhooks that were given up, while a store has the file open.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used)]

mod support;

use a2ad_domain::ports::{Letter, PushStore, TaskStore};
use a2ad_domain::testing::sample::{applied, at, key, opened, status, webhook};
use a2ad_domain::{Task, TaskState, Version, WebhookName};
use a2ad_store::{Durability, LettersError, SqliteStore, letters, send_again};
use std::sync::Arc;
use support::Folder;

/// An ended task with a webhook that has given up on both of its changes.
async fn given_up(store: &SqliteStore, number: u128) -> WebhookName {
    let task = opened(key(number), 5);
    store.insert(&Arc::new(task.clone())).await.unwrap();
    let config = webhook("hook", "https://hooks.example/sentinel-path");
    assert!(store.set(task.key(), &config, None, 10).await.unwrap());
    let (changed, recorded) =
        applied(task.clone(), &[status(TaskState::Working), status(TaskState::Completed)], 6);
    store.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
    let made = store.webhooks(task.key()).await.unwrap()[0].number;
    let name = WebhookName { task: Task::key(&task).clone(), number: made };
    for version in [2, 3] {
        let why = format!("no answer to {version}");
        let letter = Letter { version: Version(version), at: at(7), why };
        store.give_up(&name, &letter).await.unwrap();
    }
    name
}

#[tokio::test]
async fn what_was_given_up_is_listed_and_told_after_all_while_the_store_is_open() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let (first, second) = (given_up(&store, 1).await, given_up(&store, 2).await);
    let path = folder.path("tasks.db");
    let found = letters(&path).unwrap();
    assert_eq!(found.len(), 4);
    let letter = &found[0];
    assert_eq!((letter.webhook, letter.version), (first.number, 2));
    assert_eq!((&*letter.agent, &*letter.id, letter.at), ("main", "hook", at(7)));
    assert_eq!((letter.task.clone(), &*letter.why), (first.task.id.to_string(), "no answer to 2"));
    assert!(!format!("{found:?}").contains("sentinel"), "{found:?}");
    assert!(store.due().await.unwrap().is_empty());

    assert_eq!(send_again(&path, Some(second.number)).unwrap(), 2);
    assert_eq!(store.due().await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(store.open().await.unwrap(), std::slice::from_ref(&second));
    let webhook = store.webhook(&second).await.unwrap().unwrap();
    assert_eq!(webhook.again, [Version(2), Version(3)]);
    store.told_after_all(&second, Version(2)).await.unwrap();
    // Given up once more it waits for the next who asks.
    let again = Letter { version: Version(3), at: at(8), why: "still no answer".to_owned() };
    store.give_up(&second, &again).await.unwrap();
    assert!(store.due().await.unwrap().is_empty());
    let left: Vec<_> = letters(&path).unwrap();
    let left: Vec<_> = left.iter().map(|letter| (letter.webhook, &*letter.why)).collect();
    let (first, second) = (first.number, second.number);
    let wanted =
        [(first, "no answer to 2"), (first, "no answer to 3"), (second, "still no answer")];
    assert_eq!(left, wanted);
    assert_eq!(send_again(&path, None).unwrap(), 3);
    assert_eq!(send_again(&path, None).unwrap(), 0, "they are under way");
}

#[tokio::test]
async fn letters_go_with_their_webhook_and_numbers_are_never_given_again() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    let first = given_up(&store, 1).await;
    let id = webhook("hook", "").id;
    store.delete(&first.task, &id).await.unwrap();
    assert!(letters(&folder.path("tasks.db")).unwrap().is_empty());
    drop(store);
    let store = folder.open(Durability::Process);
    assert!(given_up(&store, 2).await.number > first.number);
}

#[test]
fn a_file_that_cannot_be_looked_into_is_told_with_what_to_do() {
    let folder = Folder::new();
    let missing = letters(&folder.path("none.db")).unwrap_err();
    assert!(matches!(missing, LettersError::NoStore(_)), "{missing}");
    assert!(!folder.path("none.db").exists());
    let old = rusqlite::Connection::open(folder.path("old.db")).unwrap();
    old.execute_batch(include_str!("layouts/2.sql")).unwrap();
    old.execute_batch(include_str!("layouts/2_content.sql")).unwrap();
    drop(old);
    for error in [
        letters(&folder.path("old.db")).unwrap_err(),
        send_again(&folder.path("old.db"), None).unwrap_err(),
    ] {
        assert!(matches!(error, LettersError::Older(_)), "{error}");
        assert!(error.to_string().contains("start the server once"), "{error}");
    }
    std::fs::write(folder.path("text"), "no database at all ".repeat(100)).unwrap();
    let foreign = letters(&folder.path("text")).unwrap_err();
    assert!(matches!(foreign, LettersError::Store(_)), "{foreign}");
}
