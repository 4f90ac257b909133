//! Which runs may go on: places for each agent, a limit for the server, and whose turn is next.

use a2ad_domain::{Agent, AgentId, AgentSettings};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The places of all agents.
///
/// One short lock guards all of it, so that what is free and who is told so are one step; nothing is
/// waited for and no run is polled under it.
pub(crate) struct Admission {
    state: Mutex<State>,
}

struct State {
    /// How many runs go on at once, of all agents together.
    max_running: usize,
    running: usize,
    lanes: Vec<Lane>,
    numbers: HashMap<AgentId, usize>,
    /// The lanes in which a run waits, each once, in the order in which they are asked for their next
    /// run: an agent with a long queue gets no more than its turn.
    turns: VecDeque<usize>,
    tickets: u64,
}

/// The places of one agent.
struct Lane {
    max_running: usize,
    /// Runs that may be under way or queued.
    places: usize,
    running: usize,
    /// Runs under way, queued, or about to start.
    taken: usize,
    /// Runs whose task is over and whose executor has not ended yet.
    leaving: usize,
    /// Runs that wait, in the order in which they came.
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Admission {
    /// Places for agents that are met as they come; at most `max_running` runs go on at once.
    pub(crate) fn new(max_running: usize) -> Self {
        let state = State {
            max_running,
            running: 0,
            lanes: Vec::new(),
            numbers: HashMap::new(),
            turns: VecDeque::new(),
            tickets: 0,
        };
        Self { state: Mutex::new(state) }
    }

    /// A place for one run, if the agent has one left. Runs that were stopped and still clean up take no
    /// place, but when there are twice as many of them as may run, nothing new is taken.
    pub(crate) fn reserve(self: &Arc<Self>, agent: &Agent) -> Option<Place> {
        let mut state = self.lock();
        let number = state.lane(agent);
        // The agent may have been changed since.
        for _ in 0..state.lanes[number].take_limits(&agent.settings) {
            state.pass_on();
        }
        let lane = &mut state.lanes[number];
        if lane.taken >= lane.places || lane.leaving >= lane.most_alive() {
            return None;
        }
        lane.taken += 1;
        Some(Place { admission: self.clone(), lane: number, leaving: false })
    }

    /// Nothing that is done under the lock panics half-way, so a poisoned one is used on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lane(&mut self, agent: &Agent) -> usize {
        if let Some(number) = self.numbers.get(&agent.id) {
            return *number;
        }
        self.lanes.push(Lane {
            max_running: agent.settings.max_running,
            places: Lane::places(&agent.settings),
            running: 0,
            taken: 0,
            leaving: 0,
            waiting: BTreeMap::new(),
        });
        let number = self.lanes.len() - 1;
        self.numbers.insert(agent.id.clone(), number);
        number
    }

    /// Whether a run of this lane may go on now. It need not ask whether another lane waits: whoever
    /// waits does so for a place of its own agent, or there is none left at all.
    fn has_room(&self, lane: usize) -> bool {
        let lane = &self.lanes[lane];
        self.running < self.max_running
            && lane.running < lane.max_running
            && lane.running + lane.leaving < lane.most_alive()
    }

    /// Gives a place back and passes on what is free.
    fn release(&mut self, lane: usize) {
        self.running -= 1;
        self.lanes[lane].running -= 1;
        self.pass_on();
    }

    /// Passes on what is free, one turn for each lane.
    fn pass_on(&mut self) {
        // A lane that was not asked for want of room in the server keeps its place in the order.
        for _ in 0..self.turns.len() {
            if self.running >= self.max_running {
                return;
            }
            let Some(number) = self.turns.pop_front() else { return };
            if !self.has_room(number) {
                self.turns.push_back(number);
                continue;
            }
            let lane = &mut self.lanes[number];
            if let Some((_, granted)) = lane.waiting.pop_first() {
                lane.running += 1;
                self.running += 1;
                // One that has stopped waiting gives its place back itself, as `Waiting` says.
                let _ = granted.send(());
            }
            if !self.lanes[number].waiting.is_empty() {
                self.turns.push_back(number);
            }
        }
    }
}

impl Lane {
    /// How many runs of an agent may be under way or queued.
    fn places(settings: &AgentSettings) -> usize {
        settings.max_running.saturating_add(settings.max_queued)
    }

    /// From now on these limits hold; says how many of those that wait may have their turn by that.
    fn take_limits(&mut self, settings: &AgentSettings) -> usize {
        self.places = Self::places(settings);
        let before = std::mem::replace(&mut self.max_running, settings.max_running);
        self.max_running.saturating_sub(before).min(self.waiting.len())
    }

    /// How many executors may be at work or cleaning up at once.
    fn most_alive(&self) -> usize {
        self.max_running.saturating_mul(2)
    }
}

/// A reserved place; gives itself back when dropped, which is also when its run has ended.
pub(crate) struct Place {
    admission: Arc<Admission>,
    lane: usize,
    /// Whether the run's task is over and the place is somebody else's already.
    leaving: bool,
}

impl Place {
    /// Waits for the run's turn. Runs of one agent start in the order in which they ask.
    pub(crate) async fn turn(&self) -> Turn {
        let ticket = {
            let mut state = self.admission.lock();
            if state.has_room(self.lane) && state.lanes[self.lane].waiting.is_empty() {
                state.lanes[self.lane].running += 1;
                state.running += 1;
                None
            } else {
                let (grant, granted) = oneshot::channel();
                let number = state.tickets;
                state.tickets += 1;
                if state.lanes[self.lane].waiting.is_empty() {
                    state.turns.push_back(self.lane);
                }
                state.lanes[self.lane].waiting.insert(number, grant);
                Some((number, granted))
            }
        };
        let turn = || Turn { admission: self.admission.clone(), lane: self.lane };
        let Some((number, granted)) = ticket else { return turn() };
        let mut waiting = Waiting { place: self, number, served: false };
        let _ = granted.await;
        waiting.served = true;
        turn()
    }

    /// The run's task is over: its place is free at once, although its executor may still clean up.
    pub(crate) fn leave(&mut self) {
        if !std::mem::replace(&mut self.leaving, true) {
            let mut state = self.admission.lock();
            let lane = &mut state.lanes[self.lane];
            lane.taken -= 1;
            lane.leaving += 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        let lane = &mut state.lanes[self.lane];
        if self.leaving {
            lane.leaving -= 1;
            // Somebody may wait for just that.
            state.pass_on();
        } else {
            lane.taken -= 1;
        }
    }
}

/// A run in the queue. One that is dropped there takes its ticket out; if its turn has come already, it
/// passes it on.
struct Waiting<'a> {
    place: &'a Place,
    number: u64,
    served: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.served {
            return;
        }
        let mut state = self.place.admission.lock();
        let lane = self.place.lane;
        if state.lanes[lane].waiting.remove(&self.number).is_none() {
            state.release(lane);
        } else if state.lanes[lane].waiting.is_empty() {
            state.turns.retain(|number| *number != lane);
        }
    }
}

/// A run's turn: it may go on until this is dropped.
pub(crate) struct Turn {
    admission: Arc<Admission>,
    lane: usize,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.admission.lock().release(self.lane);
    }
}
