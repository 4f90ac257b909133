//! What every store of tasks holds to: lists, conversations and housekeeping.

use super::store::{keep, write};
use crate::ids::TaskId;
use crate::ports::{Page, Query, StoreError, TaskStore};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::sample::{
    self, at, context, foreign_scopes, key, key_in, opened, opened_in, piece, scope, status,
};
use std::sync::Arc;

/// A query for all tasks, or all in a state.
#[must_use]
pub fn everything(state: Option<TaskState>) -> Query {
    Query { context: None, state, since: None, overdue: None, limit: 1000, after: None }
}

fn numbers(page: &Page) -> Vec<u128> {
    page.tasks.iter().map(|task| task.key().id.as_uuid().as_u128()).collect()
}

async fn page(store: &impl TaskStore, query: &Query) -> Page {
    store.list(&scope(), query).await.expect("a page")
}

/// Keeps tasks 1 to `count`, each opened a millisecond after the one before.
async fn keep_many(store: &impl TaskStore, count: u8) -> Vec<Task> {
    let mut tasks = Vec::new();
    for number in 1..=count {
        let task = opened(key(number.into()), number.into());
        keep(store, &task).await;
        tasks.push(task);
    }
    tasks
}

/// No tasks is an answer, not an error.
pub async fn an_empty_scope_has_an_empty_page(store: impl TaskStore) {
    let page = page(&store, &everything(None)).await;
    assert_eq!((numbers(&page), page.total, page.next), (vec![], 0, None));
}

/// The order of a list.
pub async fn the_newest_status_comes_first_and_then_the_greater_id(store: impl TaskStore) {
    for (number, millis) in [(3, 10), (1, 10), (2, 10), (5, 1), (4, 99)] {
        keep(&store, &opened(key(number), millis)).await;
    }
    let page = page(&store, &everything(None)).await;
    assert_eq!(numbers(&page), [4, 3, 2, 1, 5]);
    assert_eq!((page.total, page.next), (5, None));
}

/// A new status moves a task to the front; other changes leave it where it is.
pub async fn a_task_moves_in_the_list_with_its_status_only(store: impl TaskStore) {
    let mut tasks = keep_many(&store, 3).await;
    write(&store, &mut tasks[0], &[piece("a", "x", false)], 50).await;
    assert_eq!(numbers(&page(&store, &everything(None)).await), [3, 2, 1]);
    write(&store, &mut tasks[0], &[status(TaskState::Working)], 60).await;
    let page = page(&store, &everything(None)).await;
    assert_eq!(numbers(&page), [1, 3, 2]);
    assert_eq!(*page.tasks[0], tasks[0], "a list shows tasks as they are");
}

/// Every filter and every pair of filters, against tasks that differ in all of them.
pub async fn filters_narrow_a_page_and_its_total(store: impl TaskStore) {
    let mut tasks = Vec::new();
    for (index, state) in TaskState::ALL.into_iter().enumerate() {
        for (offset, conversation) in [(0, "a"), (10, "b")] {
            let number = index + offset + 1;
            let mut task = opened_in(key(number as u128), conversation, 0);
            keep(&store, &task).await;
            let millis = i64::try_from(number).expect("a small number");
            for change in sample::way_to(state) {
                write(&store, &mut task, &[change], millis).await;
            }
            tasks.push(task);
        }
    }
    let states = TaskState::ALL.into_iter().map(Some).chain([None]);
    for state in states {
        for conversation in [None, Some("a"), Some("b"), Some("unknown")] {
            for since in [None, Some(0), Some(5), Some(13), Some(100)] {
                let query = Query {
                    context: conversation.map(context),
                    since: since.map(at),
                    ..everything(state)
                };
                let fits = tasks.iter().filter(|task| {
                    query.context.as_ref().is_none_or(|context| context == task.context())
                        && state.is_none_or(|state| state == task.state())
                        && query.since.is_none_or(|since| task.status_at() >= since)
                });
                let mut fits: Vec<(i64, TaskId)> =
                    fits.map(|task| (task.status_at().as_millis(), task.key().id)).collect();
                fits.sort_by(|a, b| b.cmp(a));
                let page = page(&store, &query).await;
                let found: Vec<(i64, TaskId)> = page
                    .tasks
                    .iter()
                    .map(|task| (task.status_at().as_millis(), task.key().id))
                    .collect();
                assert_eq!(found, fits, "{query:?}");
                assert_eq!(page.total, fits.len(), "{query:?}");
            }
        }
    }
}

/// Pages of every size, to the last one, which has no next.
pub async fn pages_give_every_task_once(store: impl TaskStore) {
    keep_many(&store, 12).await;
    for limit in [1, 2, 3, 4, 5, 11, 12, 13] {
        let mut query = Query { limit, ..everything(None) };
        let mut seen = Vec::new();
        loop {
            let page = page(&store, &query).await;
            assert_eq!(page.total, 12, "the total is that of all pages");
            assert!(!page.tasks.is_empty() && page.tasks.len() <= limit);
            seen.extend(numbers(&page));
            query.after = page.next;
            if page.next.is_none() {
                break;
            }
        }
        assert_eq!(seen, (1..=12).rev().collect::<Vec<u128>>(), "pages of {limit}");
    }
}

/// The next page begins where the last one ended, even when the task that stood there has moved up.
pub async fn a_page_follows_a_place_whose_task_has_moved(store: impl TaskStore) {
    let mut tasks = keep_many(&store, 6).await;
    let first = page(&store, &Query { limit: 3, ..everything(None) }).await;
    assert_eq!(numbers(&first), [6, 5, 4]);
    write(&store, &mut tasks[3], &[status(TaskState::Working)], 50).await;
    let query = Query { limit: 3, after: first.next, ..everything(None) };
    let second = page(&store, &query).await;
    assert_eq!((numbers(&second), second.next), (vec![3, 2, 1], None));
}

/// The next page begins where the last one ended, even when the task that stood there was removed.
pub async fn a_page_follows_a_place_whose_task_is_gone(store: impl TaskStore) {
    let mut tasks = keep_many(&store, 6).await;
    for task in &mut tasks {
        let millis = task.created().as_millis() + 10;
        // Only the fourth ends long ago; the others are alive.
        let state = if millis == 14 { TaskState::Completed } else { TaskState::Working };
        write(&store, task, &[status(state)], millis).await;
    }
    let first = page(&store, &Query { limit: 3, ..everything(None) }).await;
    assert_eq!(numbers(&first), [6, 5, 4]);
    assert_eq!(store.purge_ended_before(at(100)).await.expect("a purge"), 1);
    let query = Query { limit: 3, after: first.next, ..everything(None) };
    let second = page(&store, &query).await;
    assert_eq!((numbers(&second), second.next, second.total), (vec![3, 2, 1], None, 5));
}

/// Tasks of other scopes are neither shown nor counted, and a place of one scope is of no use in another.
pub async fn a_list_shows_one_scope_only(store: impl TaskStore) {
    keep_many(&store, 3).await;
    for (index, other) in foreign_scopes().iter().enumerate() {
        keep(&store, &opened(key_in(other, 100 + index as u128), 50)).await;
    }
    let mine = page(&store, &Query { limit: 2, ..everything(None) }).await;
    assert_eq!((numbers(&mine), mine.total), (vec![3, 2], 3));
    for (index, other) in foreign_scopes().iter().enumerate() {
        let query = Query { context: Some(context("c")), ..everything(None) };
        for query in [everything(None), everything(Some(TaskState::Submitted)), query] {
            let theirs = store.list(other, &query).await.expect("a page");
            assert_eq!((numbers(&theirs), theirs.total), (vec![100 + index as u128], 1));
        }
        let query = Query { after: mine.next, ..everything(None) };
        let theirs = store.list(other, &query).await.expect("a page");
        assert_eq!(numbers(&theirs), [], "what is newer than the place is not shown");
    }
}

/// A run is overdue from its deadline on: not before, not while its task waits, not when it has ended.
pub async fn only_what_should_have_ended_is_listed_as_overdue(store: impl TaskStore) {
    let mut number = 0;
    let mut expected = Vec::new();
    for due in [10, 20, 30] {
        for state in TaskState::ALL {
            number += 1;
            let message = Arc::new(sample::message(&format!("m-{number}"), "x"));
            let mut task = Task::open(key(number), context("c"), message, Some(at(due)), at(0));
            keep(&store, &task).await;
            for change in sample::way_to(state) {
                write(&store, &mut task, &[change], due).await;
            }
            if due <= 20 && task.is_running() {
                expected.push(number);
            }
        }
    }
    assert!(!expected.is_empty());
    let of = |now| Query { overdue: Some(at(now)), ..everything(None) };
    let mut found = numbers(&page(&store, &of(20)).await);
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(page(&store, &of(9)).await.total, 0);
    let first = page(&store, &Query { limit: 1, ..of(20) }).await;
    assert_eq!((first.tasks.len(), first.total), (1, expected.len()));
    let rest = page(&store, &Query { after: first.next, ..of(20) }).await;
    assert_eq!((rest.tasks.len(), rest.total), (expected.len() - 1, expected.len()));
    let working = Query { state: Some(TaskState::Working), ..of(20) };
    assert!(page(&store, &working).await.tasks.iter().all(|task| task.is_overdue(at(20))));
}

/// Interrupted tasks of an agent, in all its scopes, whose status is older than the time; at most so many.
pub async fn only_tasks_that_wait_too_long_are_found_waiting(store: impl TaskStore) {
    let [bob, other_agent, _] = foreign_scopes();
    let mut expected = Vec::new();
    let mut number = 0;
    for (scope, millis) in
        [(scope(), 10), (bob, 10), (other_agent.clone(), 10), (scope(), 20), (scope(), 30)]
    {
        for state in TaskState::ALL {
            number += 1;
            let mut task = opened(key_in(&scope, number), 0);
            keep(&store, &task).await;
            for change in sample::way_to(state) {
                write(&store, &mut task, &[change], millis).await;
            }
            let interrupted = state == TaskState::InputRequired || state == TaskState::AuthRequired;
            if interrupted && millis < 20 && scope.agent() != other_agent.agent() {
                expected.push(task.key().clone());
            }
        }
    }
    let agent = scope().agent().clone();
    let mut found = store.waiting_since(&agent, at(20), 100).await.expect("an answer");
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(store.waiting_since(&agent, at(20), 3).await.expect("an answer").len(), 3);
    assert_eq!(store.waiting_since(&agent, at(10), 100).await.expect("an answer"), []);
}

/// What lives, or ended at that time or later, stays; the rest is gone from everywhere.
pub async fn only_what_ended_long_enough_ago_is_purged(store: impl TaskStore) {
    let mut number = 0;
    let (mut old, mut kept) = (Vec::new(), Vec::new());
    for millis in [10, 20, 30] {
        for state in TaskState::ALL {
            number += 1;
            let mut task = opened(key(number), 0);
            keep(&store, &task).await;
            for change in sample::way_to(state) {
                write(&store, &mut task, &[change], millis).await;
            }
            let gone = state.is_terminal() && millis < 20;
            if gone { old.push(task) } else { kept.push(task) }
        }
    }
    assert_eq!(store.purge_ended_before(at(20)).await.expect("a purge"), old.len());
    assert_eq!(store.purge_ended_before(at(20)).await.expect("a purge"), 0);
    for task in &old {
        assert!(matches!(store.load(task.key()).await, Err(StoreError::NotFound)));
    }
    for task in &kept {
        assert_eq!(*store.load(task.key()).await.expect("a live task"), *task);
    }
    assert_eq!(page(&store, &everything(None)).await.total, kept.len());
}
