//! What the memory store knows about its tasks without opening them: the order of lists, what may be
//! removed first, and how much is kept.

use a2ad_domain::ports::{Cursor, Query};
use a2ad_domain::{ContextId, Scope, Task, TaskId, TaskState, Timestamp};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A task's place in a list: newest status first, then the greater id.
type Place = (Reverse<Timestamp>, Reverse<TaskId>);

struct Known {
    scope: Scope,
    context: ContextId,
    state: TaskState,
    status_at: Timestamp,
    weight: usize,
}

#[derive(Default)]
struct ScopeIndex {
    all: BTreeSet<Place>,
    by_context: HashMap<ContextId, BTreeSet<Place>>,
    by_state: BTreeMap<TaskState, BTreeSet<Place>>,
}

/// The index of all tasks.
#[derive(Default)]
pub(crate) struct Index {
    known: HashMap<TaskId, Known>,
    scopes: HashMap<Scope, ScopeIndex>,
    /// Tasks that have ended, in the order in which they did: terminal tasks never change, so a queue
    /// is enough and the oldest is found at a flat cost.
    ended: VecDeque<(Timestamp, TaskId)>,
    weight: usize,
}

fn place(at: Timestamp, id: TaskId) -> Place {
    (Reverse(at), Reverse(id))
}

impl Index {
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    pub(crate) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Takes note of how a task is now.
    pub(crate) fn put(&mut self, task: &Task, weight: usize) {
        let (id, scope) = (task.key().id, &task.key().scope);
        let (state, status_at) = (task.state(), task.status_at());
        if let Some(known) = self.known.get_mut(&id) {
            self.weight = self.weight + weight - known.weight;
            known.weight = weight;
            if known.state == state && known.status_at == status_at {
                return;
            }
            let old = (known.state, place(known.status_at, id));
            (known.state, known.status_at) = (state, status_at);
            if let Some(lists) = self.scopes.get_mut(scope) {
                lists.shift(task.context(), old, (state, place(status_at, id)));
            }
        } else {
            let known = Known {
                scope: scope.clone(),
                context: task.context().clone(),
                state,
                status_at,
                weight,
            };
            self.known.insert(id, known);
            self.weight += weight;
            let lists = self.scopes.entry(scope.clone()).or_default();
            lists.insert(task.context(), state, place(status_at, id));
        }
        if state.is_terminal() {
            self.ended.push_back((status_at, id));
        }
    }

    /// The task that ended first.
    pub(crate) fn oldest_ended(&self) -> Option<(Timestamp, TaskId)> {
        self.ended.front().copied()
    }

    /// Forgets the task that ended first.
    pub(crate) fn forget_oldest_ended(&mut self) -> Option<TaskId> {
        let (_, id) = self.ended.pop_front()?;
        let known = self.known.remove(&id)?;
        self.weight -= known.weight;
        if let Some(lists) = self.scopes.get_mut(&known.scope) {
            lists.remove(&known.context, known.state, place(known.status_at, id));
            if lists.all.is_empty() {
                self.scopes.remove(&known.scope);
            }
        }
        Some(id)
    }

    /// The places of a page, whether more follow, and how many match in all.
    pub(crate) fn page(&self, scope: &Scope, query: &Query) -> (Vec<Cursor>, bool, usize) {
        let empty = ScopeIndex::default();
        let none = BTreeSet::new();
        let lists = self.scopes.get(scope).unwrap_or(&empty);
        // The narrowest list that one filter gives; the other filters are checked task by task.
        let list = match (&query.context, query.state) {
            (Some(context), _) => lists.by_context.get(context).unwrap_or(&none),
            (None, Some(state)) => lists.by_state.get(&state).unwrap_or(&none),
            (None, None) => &lists.all,
        };
        let state = query.context.as_ref().and(query.state);
        let fits = |place: &Place| {
            state.is_none_or(|state| self.known.get(&place.1.0).is_some_and(|k| k.state == state))
        };
        // The list is ordered by time, so a lower bound of the time is an end of the range.
        let oldest =
            query.since.map_or(place(Timestamp::from_millis(i64::MIN), TaskId::MIN), |since| {
                place(since, TaskId::MIN)
            });
        let total = match (state, query.since) {
            (None, None) => list.len(),
            _ => list.range(..=oldest).filter(|place| fits(place)).count(),
        };
        let start = query.after.map(|after| place(after.status_at, after.id));
        let range: Box<dyn Iterator<Item = &Place>> = match start {
            Some(start) if start >= oldest => Box::new(std::iter::empty()),
            Some(start) => Box::new(
                list.range((std::ops::Bound::Excluded(start), std::ops::Bound::Included(oldest))),
            ),
            None => Box::new(list.range(..=oldest)),
        };
        let mut found: Vec<Cursor> = range
            .filter(|place| fits(place))
            .take(query.limit.saturating_add(1))
            .map(|place| Cursor { status_at: place.0.0, id: place.1.0 })
            .collect();
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        (found, more, total)
    }

    /// The tasks of a conversation.
    pub(crate) fn conversation(&self, scope: &Scope, context: &ContextId) -> Vec<TaskId> {
        let places = self.scopes.get(scope).and_then(|lists| lists.by_context.get(context));
        places.into_iter().flatten().map(|place| place.1.0).collect()
    }

    /// Tasks in `state` whose status is older than `since`.
    pub(crate) fn in_state_since(
        &self,
        state: TaskState,
        since: Timestamp,
    ) -> impl Iterator<Item = (&Scope, TaskId)> {
        self.scopes.iter().flat_map(move |(scope, lists)| {
            let places = lists.by_state.get(&state).into_iter().flatten();
            places.filter(move |place| place.0.0 < since).map(move |place| (scope, place.1.0))
        })
    }
}

impl ScopeIndex {
    fn insert(&mut self, context: &ContextId, state: TaskState, place: Place) {
        self.all.insert(place);
        self.by_state.entry(state).or_default().insert(place);
        match self.by_context.get_mut(context) {
            Some(list) => list.insert(place),
            None => self.by_context.entry(context.clone()).or_default().insert(place),
        };
    }

    /// Takes a task out of its lists. An empty list goes as well, so that nothing is kept of a
    /// conversation whose tasks are gone.
    fn remove(&mut self, context: &ContextId, state: TaskState, place: Place) {
        self.all.remove(&place);
        if let Some(list) = self.by_state.get_mut(&state) {
            list.remove(&place);
        }
        if let Some(list) = self.by_context.get_mut(context) {
            list.remove(&place);
            if list.is_empty() {
                self.by_context.remove(context);
            }
        }
    }

    /// Moves a task whose status was written.
    fn shift(&mut self, context: &ContextId, old: (TaskState, Place), new: (TaskState, Place)) {
        if old.1 != new.1 {
            self.all.remove(&old.1);
            self.all.insert(new.1);
            if let Some(list) = self.by_context.get_mut(context) {
                list.remove(&old.1);
                list.insert(new.1);
            }
        }
        if let Some(list) = self.by_state.get_mut(&old.0) {
            list.remove(&old.1);
        }
        self.by_state.entry(new.0).or_default().insert(new.1);
    }
}
