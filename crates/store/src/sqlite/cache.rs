//! Tasks that were written lately, as they were committed, so that reading them folds nothing.
//!
//! Only the writer puts tasks in, in the order of its commits, and it takes out what a transaction
//! touches before that is committed. So what is found here was never older than what somebody has
//! been told, or has seen in the file.

use a2ad_domain::{IdMap, Recorded, Task, TaskId, TaskKey, Version};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// About how many bytes of tasks are held, in all.
const MOST_BYTES: usize = 64 << 20;
/// How many tasks are held, in all.
const MOST_TASKS: usize = 8192;

#[derive(Default)]
pub(super) struct Cache {
    generations: Mutex<Generations>,
}

/// What is used moves to the young; when they are half of all that may be held the old are dropped and
/// the young become old. That is close to dropping what was used least lately, and needs no list.
#[derive(Default)]
struct Generations {
    young: IdMap<TaskId, Arc<Task>>,
    old: IdMap<TaskId, Arc<Task>>,
    young_weight: usize,
}

/// What a transaction does to a task, in order.
pub(super) enum Step {
    /// The task is at hand as it is now.
    Put(Arc<Task>),
    /// The task, if it is held, takes these changes.
    Fold(TaskId, Version, Vec<Recorded>),
    /// The task is gone.
    Gone(TaskId),
}

impl Step {
    fn id(&self) -> TaskId {
        match self {
            Self::Put(task) => task.key().id,
            Self::Fold(id, ..) | Self::Gone(id) => *id,
        }
    }
}

impl Cache {
    /// The task of this key.
    pub(super) fn get(&self, key: &TaskKey) -> Option<Arc<Task>> {
        let mut generations = lock(&self.generations);
        let task = generations.get(key.id)?;
        (task.key().scope == key.scope).then_some(task)
    }

    /// Whether there is a task of this id.
    pub(super) fn holds(&self, id: TaskId) -> bool {
        let generations = lock(&self.generations);
        generations.young.contains_key(&id) || generations.old.contains_key(&id)
    }

    /// Takes out what the steps touch, for [`Cache::put_back`] after the commit.
    pub(super) fn take_out(&self, steps: &[Step]) -> IdMap<TaskId, Arc<Task>> {
        let mut generations = lock(&self.generations);
        let ids = steps.iter().map(Step::id);
        ids.filter_map(|id| Some((id, generations.remove(id)?))).collect()
    }

    /// Puts back what was taken out, after the steps. They have been committed.
    pub(super) fn put_back(&self, mut held: IdMap<TaskId, Arc<Task>>, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Put(task) => {
                    held.insert(task.key().id, task);
                }
                Step::Gone(id) => {
                    held.remove(&id);
                }
                Step::Fold(id, expected, changes) => {
                    let fits = held.get_mut(&id).is_some_and(|task| fold(task, expected, &changes));
                    if !fits {
                        held.remove(&id);
                    }
                }
            }
        }
        let mut generations = lock(&self.generations);
        let dropped: Vec<_> = held.into_values().filter_map(|task| generations.put(task)).collect();
        drop(generations);
        // Freed after the lock.
        drop(dropped);
    }
}

/// Says whether the task is now the one that was committed. A reader that still holds the task makes
/// this copy it once.
fn fold(task: &mut Arc<Task>, expected: Version, changes: &[Recorded]) -> bool {
    task.version() == expected
        && changes.iter().all(|change| Arc::make_mut(task).replay(change).is_ok())
}

impl Generations {
    fn get(&mut self, id: TaskId) -> Option<Arc<Task>> {
        if let Some(task) = self.young.get(&id) {
            return Some(task.clone());
        }
        let task = self.old.remove(&id)?;
        self.young_weight += task.weight();
        self.young.insert(id, task.clone());
        Some(task)
    }

    fn remove(&mut self, id: TaskId) -> Option<Arc<Task>> {
        if let Some(task) = self.young.remove(&id) {
            self.young_weight = self.young_weight.saturating_sub(task.weight());
            return Some(task);
        }
        self.old.remove(&id)
    }

    /// Hands back what there is no more room for.
    fn put(&mut self, task: Arc<Task>) -> Option<IdMap<TaskId, Arc<Task>>> {
        self.remove(task.key().id);
        if task.weight() > MOST_BYTES / 2 {
            return None;
        }
        self.young_weight += task.weight();
        self.young.insert(task.key().id, task);
        let full = self.young_weight > MOST_BYTES / 2 || self.young.len() > MOST_TASKS / 2;
        full.then(|| {
            self.young_weight = 0;
            std::mem::replace(&mut self.old, std::mem::take(&mut self.young))
        })
    }
}

/// Nothing that is done under this lock panics half-way, so a poisoned one is used on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
