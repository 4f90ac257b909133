//! Each store of webhooks against a model of what has still to be told: after any sequence of operations, of
//! restarts and of crashes, both say of every webhook the same.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::ports::{Letter, PushStore, StoreError, TaskStore};
use a2ad_domain::testing::sample::{at, key, opened, status, webhook};
use a2ad_domain::testing::{FakeStore, generate};
use a2ad_domain::{Change, PushConfigId, Task, TaskState, Version, WebhookName};
use a2ad_store::{Capacity, Durability, MemoryStore, SqliteStore, send_again};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;
use std::sync::Arc;
use support::Folder;

const NAMES: [&str; 3] = ["a", "b", "c"];
/// One less than there are names, so that there is one too many.
const MOST: usize = 2;

/// Something that happens. Tasks and webhooks are named by their place among those that there have been.
#[derive(Clone, Debug)]
enum Event {
    /// A task is opened, maybe by a message that brings a webhook.
    Open {
        hook: Option<usize>,
    },
    /// A task changes, maybe by a message that brings a webhook.
    Write {
        task: Index,
        change: Change,
        hook: Option<usize>,
    },
    Set {
        task: Index,
        name: usize,
    },
    Delete {
        task: Index,
        name: usize,
    },
    /// A webhook, which may be gone, has been told of everything up to a change.
    Told {
        hook: Index,
        upto: Index,
    },
    GiveUp {
        hook: Index,
        change: Index,
    },
    /// An operator has everything sent again that was given up for a webhook.
    SendAgain {
        hook: Index,
    },
    ToldAfterAll {
        hook: Index,
        change: Index,
    },
    Purge,
    /// The store is closed and opened again; one in memory cannot be.
    Restart,
    /// The process is killed, and the store is opened as it was left.
    Crash,
}

fn event() -> impl Strategy<Value = Event> {
    let index = any::<Index>;
    let brought = || prop::option::of(0..NAMES.len());
    prop_oneof![
        2 => brought().prop_map(|hook| Event::Open { hook }),
        4 => (index(), generate::change(), brought())
            .prop_map(|(task, change, hook)| Event::Write { task, change, hook }),
        2 => (index(), 0..NAMES.len()).prop_map(|(task, name)| Event::Set { task, name }),
        1 => (index(), 0..NAMES.len()).prop_map(|(task, name)| Event::Delete { task, name }),
        3 => (index(), index()).prop_map(|(hook, upto)| Event::Told { hook, upto }),
        3 => (index(), index()).prop_map(|(hook, change)| Event::GiveUp { hook, change }),
        2 => index().prop_map(|hook| Event::SendAgain { hook }),
        2 => (index(), index()).prop_map(|(hook, change)| Event::ToldAfterAll { hook, change }),
        1 => Just(Event::Purge),
        1 => Just(Event::Restart),
        1 => Just(Event::Crash),
    ]
}

/// A webhook in the model.
#[derive(Clone)]
struct Hook {
    task: usize,
    name: usize,
    /// The store's own name for it.
    number: i64,
    /// It is there and not replaced.
    lives: bool,
    told: u64,
    /// What was given up, and what of it is to be told after all.
    letters: BTreeSet<u64>,
    again: BTreeSet<u64>,
}

/// A task in the model.
struct Kept {
    task: Task,
    lives: bool,
}

trait Store: TaskStore + PushStore {}
impl<S: TaskStore + PushStore> Store for S {}

enum Subject {
    Memory(MemoryStore),
    Fake(FakeStore),
    /// `None` only while it is opened again.
    File(Option<SqliteStore>, Folder),
}

/// A store and what it should hold.
struct Pair {
    subject: Subject,
    tasks: Vec<Kept>,
    hooks: Vec<Hook>,
    now: i64,
}

impl Hook {
    /// The changes that it has still to be told, of a task that is at a version.
    fn owed(&self, version: u64) -> Vec<u64> {
        self.again.iter().copied().chain(self.told + 1..=version).collect()
    }
}

impl Pair {
    fn of(subject: Subject) -> Self {
        Self { subject, tasks: Vec::new(), hooks: Vec::new(), now: 0 }
    }

    fn store(&self) -> &dyn Store {
        match &self.subject {
            Subject::Memory(store) => store,
            Subject::Fake(store) => store,
            Subject::File(store, _) => store.as_ref().unwrap(),
        }
    }

    fn version(&self, task: usize) -> u64 {
        self.tasks[task].task.version().0
    }

    fn name_of(&self, hook: &Hook) -> WebhookName {
        WebhookName { task: self.tasks[hook.task].task.key().clone(), number: hook.number }
    }

    fn living(&self, task: usize) -> Vec<&Hook> {
        self.hooks.iter().filter(|hook| hook.task == task && hook.lives).collect()
    }

    /// Whether a task may have a webhook of this name.
    fn has_room(&self, task: usize, name: usize) -> bool {
        let there = self.living(task);
        there.len() < MOST || there.iter().any(|hook| hook.name == name)
    }

    /// The model has a webhook of this name from now on.
    fn keep(&mut self, task: usize, name: usize, number: i64, after: u64) {
        let mut told = after;
        for hook in &mut self.hooks {
            if hook.task == task && hook.name == name && hook.lives {
                (told, hook.lives) = (hook.told, false);
            }
            assert_ne!(hook.number, number, "numbers are never given again");
        }
        let (letters, again) = (BTreeSet::new(), BTreeSet::new());
        self.hooks.push(Hook { task, name, number, lives: true, told, letters, again });
    }

    async fn apply(&mut self, event: Event) {
        self.now += 1;
        match event {
            Event::Open { hook } => self.open(hook).await,
            Event::Purge => {
                self.store().purge_ended_before(at(self.now)).await.unwrap();
                for kept in &mut self.tasks {
                    kept.lives &= !kept.task.state().is_terminal();
                }
                let gone: Vec<bool> = self.tasks.iter().map(|kept| !kept.lives).collect();
                self.hooks.iter_mut().for_each(|hook| hook.lives &= !gone[hook.task]);
            }
            Event::Restart => self.restart(false),
            Event::Crash => self.restart(true),
            Event::Write { task, change, hook } if !self.tasks.is_empty() => {
                self.write(task.index(self.tasks.len()), change, hook).await;
            }
            Event::Set { task, name } if !self.tasks.is_empty() => {
                self.set(task.index(self.tasks.len()), name).await;
            }
            Event::Delete { task, name } if !self.tasks.is_empty() => {
                let task = task.index(self.tasks.len());
                let id = PushConfigId::new(NAMES[name]).unwrap();
                let deleted = self.store().delete(self.tasks[task].task.key(), &id).await;
                assert_eq!(deleted.is_ok(), self.tasks[task].lives);
                let of = |hook: &&mut Hook| hook.task == task && hook.name == name;
                self.hooks.iter_mut().filter(of).for_each(|hook| hook.lives = false);
            }
            Event::Told { hook, .. }
            | Event::GiveUp { hook, .. }
            | Event::SendAgain { hook }
            | Event::ToldAfterAll { hook, .. }
                if !self.hooks.is_empty() =>
            {
                self.tell(hook.index(self.hooks.len()), &event).await;
            }
            // Nothing is there that it could happen to.
            Event::Write { .. }
            | Event::Set { .. }
            | Event::Delete { .. }
            | Event::Told { .. }
            | Event::GiveUp { .. }
            | Event::SendAgain { .. }
            | Event::ToldAfterAll { .. } => {}
        }
    }

    async fn open(&mut self, hook: Option<usize>) {
        let number = self.tasks.len();
        let task = opened(key(number as u128 + 1), self.now);
        let shared = Arc::new(task.clone());
        self.tasks.push(Kept { task, lives: true });
        match hook {
            None => self.store().insert(&shared).await.unwrap(),
            Some(name) => {
                let config = webhook(NAMES[name], "https://hooks.example/");
                let made = self.store().insert_with(&shared, &config).await.unwrap();
                self.keep(number, name, made, shared.version().0);
            }
        }
    }

    async fn write(&mut self, number: usize, change: Change, hook: Option<usize>) {
        let before = self.tasks[number].task.clone();
        let mut task = before.clone();
        let Ok(recorded) = task.apply(change, at(self.now)) else { return };
        let (expected, lives) = (before.version(), self.tasks[number].lives);
        let Some(name) = hook else {
            let done = self.store().append(before.key(), expected, &[recorded], &task).await;
            assert_eq!(done.is_ok(), lives, "{done:?}");
            self.tasks[number].task = task;
            return;
        };
        let config = webhook(NAMES[name], "https://hooks.example/");
        let changes = [recorded];
        let store = self.store();
        let done = store.append_with(before.key(), expected, &changes, &task, &config, MOST).await;
        match done {
            Ok(Some(made)) => {
                assert!(lives && self.has_room(number, name));
                self.keep(number, name, made, expected.0);
                self.tasks[number].task = task;
            }
            Ok(None) => assert!(lives && !self.has_room(number, name)),
            Err(StoreError::NotFound) => assert!(!lives),
            Err(error) => panic!("{error}"),
        }
    }

    async fn set(&mut self, task: usize, name: usize) {
        let key = self.tasks[task].task.key().clone();
        let config = webhook(NAMES[name], "https://hooks.example/");
        let Ok(kept) = self.store().set(&key, &config, None, MOST).await else {
            assert!(!self.tasks[task].lives);
            return;
        };
        assert!(self.tasks[task].lives);
        assert_eq!(kept, self.has_room(task, name));
        if kept {
            let all = self.store().webhooks(&key).await.unwrap();
            let made = all.iter().find(|known| known.config.id == config.id).unwrap();
            self.keep(task, name, made.number, self.version(task));
        }
    }

    /// What becomes of the notices of a webhook. Whatever was on its way for one that is gone changes nothing.
    async fn tell(&mut self, index: usize, event: &Event) {
        let mut hook = self.hooks[index].clone();
        let (name, version) = (self.name_of(&hook), self.version(hook.task));
        let pick = |index: &Index| index.index(usize::try_from(version).unwrap()) as u64 + 1;
        let keeps_letters = !matches!(self.subject, Subject::Memory(_));
        match event {
            Event::Told { upto, .. } => {
                self.store().told(&name, Version(pick(upto))).await.unwrap();
                hook.told = hook.told.max(pick(upto));
            }
            Event::GiveUp { change, .. } => {
                let version = Version(pick(change));
                let letter = Letter { version, at: at(self.now), why: "no answer".to_owned() };
                self.store().give_up(&name, &letter).await.unwrap();
                hook.told = hook.told.max(version.0);
                hook.again.remove(&version.0);
                if keeps_letters {
                    hook.letters.insert(version.0);
                }
            }
            Event::SendAgain { .. } => {
                match &self.subject {
                    Subject::Memory(_) => {}
                    Subject::Fake(store) => store.send_again(&name),
                    Subject::File(_, folder) => {
                        send_again(&folder.path("tasks.db"), Some(name.number)).unwrap();
                    }
                }
                hook.again = hook.letters.clone();
            }
            Event::ToldAfterAll { change, .. } => {
                self.store().told_after_all(&name, Version(pick(change))).await.unwrap();
                hook.letters.remove(&pick(change));
                hook.again.remove(&pick(change));
            }
            other => unreachable!("{other:?} is not about a notice"),
        }
        if hook.lives {
            self.hooks[index] = hook;
        }
    }

    /// Closes the store and opens it again, or another one that finds what a kill at this moment would leave.
    fn restart(&mut self, killed: bool) {
        let Subject::File(store, folder) = &mut self.subject else { return };
        if killed {
            let other = Folder::new();
            for name in ["tasks.db", "tasks.db-wal"] {
                if folder.path(name).exists() {
                    std::fs::copy(folder.path(name), other.path(name)).unwrap();
                }
            }
            drop(store.take());
            *folder = other;
        }
        drop(store.take());
        *store = Some(folder.open(Durability::Process));
    }

    /// Whether the store says the same as the model: which webhooks there are, what each has still to be told,
    /// and who is to be looked after.
    async fn compare(&self) {
        let (mut due, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (number, Kept { task, lives }) in self.tasks.iter().enumerate() {
            let version = task.version().0;
            let mut expected = Vec::new();
            for hook in self.living(number) {
                let owed = hook.owed(version);
                if !owed.is_empty() {
                    due.insert(hook.number);
                }
                if !owed.is_empty() || !task.state().is_terminal() {
                    open.insert(hook.number);
                }
                expected.push((hook.number, NAMES[hook.name].to_owned(), hook.told, owed));
            }
            let found = self.store().webhooks(task.key()).await;
            assert_eq!(found.is_ok(), *lives);
            let found = found.unwrap_or_default().into_iter().map(|known| {
                let again = known.again.iter().map(|version| version.0).collect();
                let told = known.told.0;
                let name = known.config.id.to_string();
                let letters = BTreeSet::new();
                let hook = Hook { task: 0, name: 0, number: 0, lives: true, told, letters, again };
                (known.number, name, told, hook.owed(version))
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        let numbers = |names: Vec<WebhookName>| -> BTreeSet<i64> {
            names.into_iter().map(|name| name.number).collect()
        };
        assert_eq!(numbers(self.store().due().await.unwrap()), due);
        assert_eq!(numbers(self.store().open().await.unwrap()), open);
        for hook in &self.hooks {
            let found = self.store().webhook(&self.name_of(hook)).await.unwrap();
            assert_eq!(found.is_some(), hook.lives);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_has_still_to_be_told_is_what_the_model_says_over_restarts_and_crashes(
        events in prop::collection::vec(event(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = Folder::new();
            let file = folder.open(Durability::Process);
            let memory = MemoryStore::new(Capacity::default());
            for subject in [
                Subject::Memory(memory),
                Subject::Fake(FakeStore::new()),
                Subject::File(Some(file), folder),
            ] {
                let mut pair = Pair::of(subject);
                for event in events.clone() {
                    pair.apply(event).await;
                    pair.compare().await;
                }
            }
        });
    }
}

/// The case that a crash is about: the store has answered, and nothing was closed.
#[tokio::test]
async fn what_was_acknowledged_before_a_kill_is_owed_after_it_and_nothing_else() {
    let folder = Folder::new();
    let file = folder.open(Durability::Process);
    let mut pair = Pair::of(Subject::File(Some(file), folder));
    pair.open(Some(0)).await;
    for change in [status(TaskState::Working), status(TaskState::Completed)] {
        pair.write(0, change, None).await;
    }
    pair.restart(true);
    pair.compare().await;
    assert_eq!(pair.hooks[0].owed(3), [2, 3]);
    let letter = Letter { version: Version(2), at: at(9), why: "no answer".to_owned() };
    let name = pair.name_of(&pair.hooks[0]);
    pair.store().give_up(&name, &letter).await.unwrap();
    pair.hooks[0].told = 2;
    pair.hooks[0].letters.insert(2);
    pair.restart(true);
    pair.compare().await;
    assert_eq!(pair.hooks[0].owed(3), [3]);
}
