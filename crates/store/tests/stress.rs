//! Many threads at one memory store: every commit is made by one writer and seen by all.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{Changes, Query, StoreError, TaskStore};
use a2ad_domain::testing::sample::{applied, key, opened, piece, scope, status};
use a2ad_domain::{TaskState, Version};
use a2ad_store::{Capacity, MemoryStore};
use std::sync::Arc;

/// Commits `count` chunks, reading the task again as often as somebody else was faster.
async fn write(store: Arc<MemoryStore>, writer: usize, count: usize) {
    for number in 0..count {
        loop {
            let task = store.load(&key(1)).await.unwrap();
            let text = format!("{writer}:{number} ");
            let change = [piece("a", &text, task.artifact(&artifact()).is_some())];
            let (changed, recorded) = applied((*task).clone(), &change, 1);
            match store.append(&key(1), task.version(), &recorded, &changed).await {
                Ok(()) => break,
                Err(StoreError::Conflict { actual }) => assert!(actual > task.version()),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn artifact() -> a2ad_domain::ArtifactId {
    a2ad_domain::testing::sample::artifact_id("a")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_chunk_of_competing_writers_is_lost_or_doubled() {
    const WRITERS: usize = 4;
    const CHUNKS: usize = 100;
    let store = Arc::new(MemoryStore::new(Capacity::default()));
    store.insert(&Arc::new(opened(key(1), 0))).await.unwrap();
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write(store.clone(), writer, CHUNKS))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let task = store.load(&key(1)).await.unwrap();
    assert_eq!(task.version(), Version((WRITERS * CHUNKS) as u64 + 1));
    let text: String = task.artifacts()[0].parts().filter_map(|part| part.plain_text()).collect();
    for writer in 0..WRITERS {
        let own = text.split_whitespace().filter(|word| word.starts_with(&format!("{writer}:")));
        let expected: Vec<_> = (0..CHUNKS).map(|number| format!("{writer}:{number}")).collect();
        assert_eq!(own.collect::<Vec<_>>(), expected, "in the order of its writer");
    }
    let Changes::After(log) = store.changes_after(&key(1), Version::FIRST, 9999).await.unwrap()
    else {
        panic!("a short log was cut")
    };
    let mut folded = opened(key(1), 0);
    log.iter().for_each(|change| folded.replay(change).unwrap());
    assert_eq!(folded, *task);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_come_and_go_at_the_cap_and_readers_see_whole_ones() {
    const CAP: usize = 20;
    let store = Arc::new(MemoryStore::new(Capacity { tasks: CAP, ..Capacity::default() }));
    let everything =
        Query { context: None, state: None, since: None, overdue: None, limit: 50, after: None };
    let lives = |offset: u128| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..200 {
                let key = key(offset + number);
                let task = opened(key.clone(), 0);
                store.insert(&Arc::new(task.clone())).await.unwrap();
                let changes = [piece("a", "x", false), status(TaskState::Completed)];
                let (changed, recorded) = applied(task, &changes, 1);
                store.append(&key, Version::FIRST, &recorded, &changed).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    };
    let writers: Vec<_> = (0..4).map(|n| lives(1 + n * 1000)).collect();
    let reader = {
        let (store, query) = (store.clone(), everything.clone());
        tokio::spawn(async move {
            for _ in 0..200 {
                let page = store.list(&scope(), &query).await.unwrap();
                assert!(page.tasks.len() <= CAP && page.total <= CAP);
                for task in &page.tasks {
                    let whole = task.version() == Version(3) && task.artifacts().len() == 1;
                    assert!(whole || task.version() == Version::FIRST, "{task:?}");
                }
                tokio::task::yield_now().await;
            }
        })
    };
    for task in writers.into_iter().chain([reader]) {
        task.await.unwrap();
    }
    assert_eq!(store.len(), CAP);
    assert_eq!(store.list(&scope(), &everything).await.unwrap().total, CAP);
}
