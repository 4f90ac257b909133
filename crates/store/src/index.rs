//! What the memory store knows about its tasks without opening them: the order of lists, what may be
//! removed first, and how much is kept.

use a2ad_domain::ports::{Cursor, Query, Survey};
use a2ad_domain::{AgentId, ContextId, Scope, Task, TaskId, TaskState, Timestamp};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound;

/// A task's place in a list: newest status first, then the greater id.
type Place = (Reverse<Timestamp>, Reverse<TaskId>);

/// What is known of one task; kept beside the task itself, so that both are found in one step.
pub(crate) struct Known {
    scope: Scope,
    context: ContextId,
    state: TaskState,
    status_at: Timestamp,
    weight: usize,
}

/// The tasks of one scope.
#[derive(Default)]
struct ScopeIndex {
    all: BTreeMap<Place, TaskState>,
    in_state: [usize; TaskState::ALL.len()],
    by_context: HashMap<ContextId, Conversation>,
}

/// The tasks of one conversation. Most have one, which costs no list.
enum Conversation {
    One(Place, TaskState),
    Many(BTreeMap<Place, TaskState>),
}

/// The index of all tasks.
#[derive(Default)]
pub(crate) struct Index {
    scopes: HashMap<Scope, ScopeIndex>,
    /// Tasks that have ended, in the order in which they did: terminal tasks never change, so a queue
    /// is enough and the oldest is found at a flat cost.
    ended: VecDeque<(Timestamp, TaskId)>,
    weight: usize,
}

impl Known {
    /// Whether the task can be one of a survey, as far as that is known without opening it.
    pub(crate) fn may_fit(&self, survey: &Survey) -> bool {
        survey.agent.as_ref().is_none_or(|agent| agent == self.scope.agent())
            && survey.states().any(|state| state == self.state)
    }
}

fn place(at: Timestamp, id: TaskId) -> Place {
    (Reverse(at), Reverse(id))
}

impl Index {
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// The agents that have tasks.
    pub(crate) fn agents(&self) -> HashSet<AgentId> {
        self.scopes.keys().map(|scope| scope.agent().clone()).collect()
    }

    pub(crate) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Takes a new task in.
    pub(crate) fn add(&mut self, task: &Task) -> Known {
        let known = Known {
            scope: task.key().scope.clone(),
            context: task.context().clone(),
            state: task.state(),
            status_at: task.status_at(),
            weight: task.weight(),
        };
        self.weight += known.weight;
        let lists = match self.scopes.get_mut(&known.scope) {
            Some(lists) => lists,
            None => self.scopes.entry(known.scope.clone()).or_default(),
        };
        lists.insert(&known.context, known.state, place(known.status_at, task.key().id));
        known
    }

    /// Takes note of how a task is now.
    pub(crate) fn update(&mut self, known: &mut Known, task: &Task, weight: usize) {
        let (id, old) = (task.key().id, (known.state, known.status_at));
        self.weight = self.weight + weight - known.weight;
        (known.state, known.status_at, known.weight) = (task.state(), task.status_at(), weight);
        if old == (known.state, known.status_at) {
            return;
        }
        if let Some(lists) = self.scopes.get_mut(&known.scope) {
            let old = (old.0, place(old.1, id));
            lists.shift(&known.context, old, (known.state, place(known.status_at, id)));
        }
        if known.state.is_terminal() {
            self.ended.push_back((known.status_at, id));
        }
    }

    /// The task that ended first.
    pub(crate) fn oldest_ended(&self) -> Option<(Timestamp, TaskId)> {
        self.ended.front().copied()
    }

    /// Takes the task that ended first from the queue; [`Index::remove`] has to follow.
    pub(crate) fn pop_oldest_ended(&mut self) -> Option<TaskId> {
        self.ended.pop_front().map(|(_, id)| id)
    }

    /// Forgets a task. What is empty then goes as well.
    pub(crate) fn remove(&mut self, id: TaskId, known: &Known) {
        self.weight -= known.weight;
        if let Some(lists) = self.scopes.get_mut(&known.scope) {
            lists.remove(&known.context, known.state, place(known.status_at, id));
            if lists.all.is_empty() {
                self.scopes.remove(&known.scope);
            }
        }
    }

    /// The places of a page, whether more follow, and how many match in all.
    pub(crate) fn page(&self, scope: &Scope, query: &Query) -> (Vec<Cursor>, bool, usize) {
        let nothing = (Vec::new(), false, 0);
        let Some(lists) = self.scopes.get(scope) else { return nothing };
        let single;
        let list = match &query.context {
            None => &lists.all,
            Some(context) => match lists.by_context.get(context) {
                None => return nothing,
                Some(Conversation::Many(list)) => list,
                Some(Conversation::One(place, state)) => {
                    single = BTreeMap::from([(*place, *state)]);
                    &single
                }
            },
        };
        let may_be = |state: TaskState| query.overdue.is_none() || !state.is_terminal();
        let fits =
            |state: TaskState| query.state.is_none_or(|wanted| wanted == state) && may_be(state);
        // The list is ordered by time, so a lower bound of the time is an end of the range.
        let since = query.since.unwrap_or(Timestamp::from_millis(i64::MIN));
        let oldest = place(since, TaskId::MIN);
        let total = match (query.state, query.since, &query.context) {
            (None, None, _) => list.len(),
            (Some(state), None, None) => lists.in_state[state as usize],
            _ => list.range(..=oldest).filter(|(_, state)| fits(**state)).count(),
        };
        let start = match query.after.map(|after| place(after.status_at, after.id)) {
            Some(start) if start >= oldest => return (Vec::new(), false, total),
            Some(start) => Bound::Excluded(start),
            None => Bound::Unbounded,
        };
        let mut found: Vec<Cursor> = list
            .range((start, Bound::Included(oldest)))
            .filter(|(_, state)| fits(**state))
            .take(query.limit.saturating_add(1))
            .map(|(place, _)| Cursor { status_at: place.0.0, id: place.1.0 })
            .collect();
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        (found, more, total)
    }

    /// An agent's tasks in `state` whose status is older than `since`.
    pub(crate) fn in_state_since(
        &self,
        agent: &AgentId,
        state: TaskState,
        since: Timestamp,
    ) -> impl Iterator<Item = (&Scope, TaskId)> {
        let lists = self.scopes.iter().filter(move |(scope, lists)| {
            scope.agent() == agent && lists.in_state[state as usize] > 0
        });
        lists.flat_map(move |(scope, lists)| {
            let places = lists.all.iter().filter(move |(_, is)| **is == state);
            places.filter(move |(at, _)| at.0.0 < since).map(move |(at, _)| (scope, at.1.0))
        })
    }
}

impl ScopeIndex {
    fn insert(&mut self, context: &ContextId, state: TaskState, place: Place) {
        self.all.insert(place, state);
        self.in_state[state as usize] += 1;
        match self.by_context.get_mut(context) {
            Some(conversation) => conversation.insert(place, state),
            None => {
                self.by_context.insert(context.clone(), Conversation::One(place, state));
            }
        }
    }

    /// Takes a task out of its lists. Nothing is kept of a conversation whose tasks are gone.
    fn remove(&mut self, context: &ContextId, state: TaskState, place: Place) {
        self.all.remove(&place);
        self.in_state[state as usize] -= 1;
        if self.by_context.get_mut(context).is_some_and(|list| list.remove(&place)) {
            self.by_context.remove(context);
        }
    }

    /// Moves a task whose status was written.
    fn shift(&mut self, context: &ContextId, old: (TaskState, Place), new: (TaskState, Place)) {
        self.in_state[old.0 as usize] -= 1;
        self.in_state[new.0 as usize] += 1;
        if old.1 != new.1 {
            self.all.remove(&old.1);
        }
        self.all.insert(new.1, new.0);
        if let Some(conversation) = self.by_context.get_mut(context) {
            conversation.shift(old.1, new);
        }
    }
}

impl Conversation {
    fn insert(&mut self, place: Place, state: TaskState) {
        match self {
            Self::Many(list) => {
                list.insert(place, state);
            }
            Self::One(first, of_first) => {
                *self = Self::Many(BTreeMap::from([(*first, *of_first), (place, state)]));
            }
        }
    }

    /// Says whether nothing is left.
    fn remove(&mut self, place: &Place) -> bool {
        match self {
            Self::One(..) => true,
            Self::Many(list) => {
                list.remove(place);
                list.is_empty()
            }
        }
    }

    fn shift(&mut self, old: Place, new: (TaskState, Place)) {
        match self {
            Self::One(place, state) => (*state, *place) = new,
            Self::Many(list) => {
                list.remove(&old);
                list.insert(new.1, new.0);
            }
        }
    }
}
