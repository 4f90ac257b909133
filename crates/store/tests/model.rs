//! Each store against the plain fake: after any sequence of operations both answer every question alike. A
//! store in a file may be closed and opened again at any moment.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{Query, TaskStore};
use a2ad_domain::testing::sample::{self, applied, at, foreign_scopes, key_in, opened_in, scope};
use a2ad_domain::testing::{FakeStore, generate};
use a2ad_domain::{Change, Scope, Task, TaskState};
use a2ad_store::{Capacity, Durability, MemoryStore};
use proptest::prelude::*;
use std::sync::Arc;
use support::Folder;

/// Something that happens to a store. Tasks are named by their place among those that were opened.
#[derive(Clone, Debug)]
enum Event {
    Open {
        scope: usize,
        conversation: bool,
    },
    Write {
        task: prop::sample::Index,
        change: Change,
    },
    Purge {
        before: i64,
    },
    /// The store is closed and opened again; one in memory cannot be.
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..2_usize, any::<bool>())
            .prop_map(|(scope, conversation)| Event::Open { scope, conversation }),
        8 => (any::<prop::sample::Index>(), generate::change())
            .prop_map(|(task, change)| Event::Write { task, change }),
        1 => (0..40_i64).prop_map(|before| Event::Purge { before }),
        1 => Just(Event::Restart),
    ]
}

fn scopes() -> [Scope; 2] {
    [scope(), foreign_scopes()[0].clone()]
}

/// Both stores, and the tasks as their writers know them.
struct Pair {
    /// `None` only while it is opened again.
    subject: Option<Box<dyn TaskStore>>,
    folder: Option<Folder>,
    fake: FakeStore,
    tasks: Vec<Task>,
    now: i64,
}

impl Pair {
    fn in_memory() -> Self {
        Self::of(Box::new(MemoryStore::new(Capacity::default())), None)
    }

    fn in_a_file() -> Self {
        let folder = Folder::new();
        Self::of(Box::new(folder.open(Durability::Process)), Some(folder))
    }

    fn of(subject: Box<dyn TaskStore>, folder: Option<Folder>) -> Self {
        let (fake, tasks) = (FakeStore::new(), Vec::new());
        Self { subject: Some(subject), folder, fake, tasks, now: 0 }
    }

    fn subject(&self) -> &dyn TaskStore {
        &**self.subject.as_ref().unwrap()
    }

    async fn apply(&mut self, event: Event) {
        // Two events share a time, so that ids have to break ties.
        self.now += 1;
        let millis = self.now / 2;
        match event {
            Event::Open { scope, conversation } => {
                // Ids are not in the order of time.
                let number = (self.tasks.len() as u128 * 7919) % 104_729 + 1;
                let key = key_in(&scopes()[scope], number);
                let task = opened_in(key, if conversation { "a" } else { "b" }, millis);
                let shared = Arc::new(task.clone());
                self.subject().insert(&shared).await.unwrap();
                self.fake.insert(&shared).await.unwrap();
                self.tasks.push(task);
            }
            Event::Write { task, change } if !self.tasks.is_empty() => {
                let index = task.index(self.tasks.len());
                let task = &mut self.tasks[index];
                let (expected, before) = (task.version(), task.clone());
                let Ok(recorded) = task.apply(change, at(millis)) else { return };
                let recorded = [recorded];
                let task = task.clone();
                let one = self.subject().append(before.key(), expected, &recorded, &task).await;
                let two = self.fake.append(before.key(), expected, &recorded, &task).await;
                assert_eq!(one.is_ok(), two.is_ok(), "{one:?} {two:?}");
            }
            Event::Write { .. } => {}
            Event::Restart => {
                if let Some(folder) = &self.folder {
                    self.subject = None;
                    self.subject = Some(Box::new(folder.open(Durability::Process)));
                }
            }
            Event::Purge { before } => {
                let before = at(before.min(millis));
                let one = self.subject().purge_ended_before(before).await.unwrap();
                let two = self.fake.purge_ended_before(before).await.unwrap();
                assert_eq!(one, two);
            }
        }
    }

    async fn compare(&self) {
        for task in &self.tasks {
            let one = self.subject().load(task.key()).await.ok();
            let two = self.fake.load(task.key()).await.ok();
            assert_eq!(one, two);
        }
        for scope in scopes() {
            for conversation in [None, Some("a"), Some("b")] {
                let context = conversation.map(sample::context);
                for state in TaskState::ALL.into_iter().map(Some).chain([None]) {
                    let filters =
                        [(None, None), (Some(self.now / 4), None), (None, Some(self.now))];
                    for (since, overdue) in filters {
                        let (context, since, overdue) =
                            (context.clone(), since.map(at), overdue.map(at));
                        let query = Query { context, state, since, overdue, limit: 2, after: None };
                        self.compare_pages(&scope, query).await;
                    }
                }
            }
        }
        let (agent, since) = (scopes()[0].agent().clone(), at(self.now / 4));
        let mut one = self.subject().waiting_since(&agent, since, 1000).await.unwrap();
        let mut two = self.fake.waiting_since(&agent, since, 1000).await.unwrap();
        one.sort();
        two.sort();
        assert_eq!(one, two);
    }

    async fn compare_pages(&self, scope: &Scope, mut query: Query) {
        loop {
            let one = self.subject().list(scope, &query).await.unwrap();
            let two = self.fake.list(scope, &query).await.unwrap();
            assert_eq!(one.tasks, two.tasks, "{query:?}");
            assert_eq!((one.next, one.total), (two.next, two.total), "{query:?}");
            query.after = one.next;
            if query.after.is_none() {
                return;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sequence_of_operations_reads_like_in_a_plain_map(events in prop::collection::vec(event(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for mut pair in [Pair::in_memory(), Pair::in_a_file()] {
                for event in events.clone() {
                    pair.apply(event).await;
                }
                pair.compare().await;
            }
        });
    }
}

#[tokio::test]
async fn a_place_of_any_kind_begins_a_page() {
    for pair in [Pair::in_memory(), Pair::in_a_file()] {
        begins_a_page(pair).await;
    }
}

async fn begins_a_page(mut pair: Pair) {
    for _ in 0..8 {
        pair.apply(Event::Open { scope: 0, conversation: true }).await;
    }
    let ids = [1, 7920, u128::MAX].map(a2ad_domain::TaskId::from_u128);
    for millis in [i64::MIN, -1, 0, 2, 4, i64::MAX] {
        for id in ids {
            for since in [None, Some(at(2)), Some(at(4)), Some(at(i64::MAX))] {
                let after = a2ad_domain::ports::Cursor { status_at: at(millis), id };
                let query = Query {
                    context: None,
                    state: None,
                    since,
                    overdue: None,
                    limit: 3,
                    after: Some(after),
                };
                pair.compare_pages(&scope(), query).await;
            }
        }
    }
}

#[tokio::test]
async fn several_changes_at_once_are_indexed_as_their_last() {
    for pair in [Pair::in_memory(), Pair::in_a_file()] {
        is_indexed_as_its_last(pair).await;
    }
}

async fn is_indexed_as_its_last(mut pair: Pair) {
    pair.apply(Event::Open { scope: 0, conversation: true }).await;
    let task = pair.tasks[0].clone();
    let changes = [
        sample::status(TaskState::Working),
        sample::piece("a", "x", false),
        sample::status(TaskState::InputRequired),
        sample::status(TaskState::Completed),
    ];
    let (changed, recorded) = applied(task.clone(), &changes, 9);
    pair.subject().append(task.key(), task.version(), &recorded, &changed).await.unwrap();
    pair.fake.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
    pair.now = 80;
    pair.compare().await;
}
