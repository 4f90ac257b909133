//! The use cases on fakes of every port.

use super::sample::{self, AGENT, OTHER_AGENT};
use super::{Bells, FakeBus, FakeStore, ManualClock, ManualSpawner, SequentialIds, lock};
use crate::agent::{Agent, AgentSettings, Card};
use crate::change::{Change, Recorded};
use crate::ids::{Scope, TaskKey};
use crate::ports::{AgentExecutor, Clock, TaskStore};
use crate::service::{Limits, Ports, Push, Sent, Service, Streamed, Watch};
use crate::state::TaskState;
use crate::task::Task;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// What a test may want to be other than usual.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The agents' settings.
    pub settings: AgentSettings,
    /// The limits of the service.
    pub limits: Limits,
    /// The media types that the agents take.
    pub input_modes: Vec<String>,
    /// The media types that the agents make.
    pub output_modes: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        let anything = vec!["*/*".to_owned()];
        Self {
            settings: AgentSettings::default(),
            limits: Limits::default(),
            input_modes: anything.clone(),
            output_modes: anything,
        }
    }
}

impl Setup {
    /// An agent of this setup.
    #[must_use]
    pub fn agent(&self, name: &str, executor: Arc<dyn AgentExecutor>) -> Agent {
        let card = Card {
            name: name.to_owned(),
            description: "for tests".to_owned(),
            version: "1".to_owned(),
            skills: Vec::new(),
            input_modes: self.input_modes.clone(),
            output_modes: self.output_modes.clone(),
        };
        Agent::new(sample::agent_id(name), card, self.settings.clone(), executor)
    }
}

/// A service with two agents, [`AGENT`] and [`OTHER_AGENT`], of the same executor, and its ports. Its bus
/// fails the test when something is published that is not stored.
pub struct World {
    /// The use cases.
    pub service: Service,
    /// The store.
    pub store: Arc<FakeStore>,
    /// The bus.
    pub bus: FakeBus,
    /// The spawner.
    pub spawner: ManualSpawner,
    /// The clock.
    pub clock: ManualClock,
    /// Who hears of new webhooks.
    pub bells: Bells,
    /// The scope that most tests use.
    pub scope: Scope,
    unstored: Arc<Mutex<Vec<String>>>,
}

impl World {
    /// A world with this executor.
    #[must_use]
    pub fn new(executor: Arc<dyn AgentExecutor>) -> Self {
        Self::with(executor, Setup::default())
    }

    /// A world with this executor and setup.
    #[must_use]
    pub fn with(executor: Arc<dyn AgentExecutor>, setup: Setup) -> Self {
        let store = Arc::new(FakeStore::new());
        Self::over(store.clone(), store, executor, setup)
    }

    /// A world whose service sees `port` instead of the store itself.
    #[must_use]
    pub fn over(
        port: Arc<dyn TaskStore>,
        store: Arc<FakeStore>,
        executor: Arc<dyn AgentExecutor>,
        setup: Setup,
    ) -> Self {
        let (bus, spawner) = (FakeBus::new(), ManualSpawner::new());
        let clock = ManualClock::default();
        let unstored = Arc::new(Mutex::new(Vec::new()));
        let (kept, found) = (store.clone(), unstored.clone());
        bus.check_with(move |key, changes| {
            let stored = kept.log(key);
            let early = changes.iter().filter(|change| !stored.contains(change));
            lock(&found).extend(early.map(|change| format!("{key:?}: {change:?}")));
        });
        let bells = Bells::default();
        let ports = Ports {
            store: port,
            bus: Arc::new(bus.clone()),
            spawner: Arc::new(spawner.clone()),
            clock: Arc::new(clock.clone()),
            ids: Arc::new(SequentialIds::new()),
            push: Some(Push { store: store.clone(), bell: Arc::new(bells.clone()) }),
        };
        let agents = [AGENT, OTHER_AGENT].map(|name| Arc::new(setup.agent(name, executor.clone())));
        let service = Service::new(ports, agents, setup.limits);
        Self { service, store, bus, spawner, clock, bells, scope: sample::scope(), unstored }
    }

    /// Keeps a task that is in `state`, as the last run left it; a task at work has no run.
    #[must_use]
    pub fn task_in(&self, state: TaskState) -> TaskKey {
        self.task_after(&sample::way_to(state))
    }

    /// Keeps a task that has taken these changes.
    #[must_use]
    pub fn task_after(&self, changes: &[Change]) -> TaskKey {
        let number = u128::from(u64::MAX) + self.store.tasks().len() as u128;
        let key = sample::key_in(&self.scope, number);
        let now = self.clock.now().as_millis();
        let (task, log) = sample::applied(sample::opened(key.clone(), now), changes, now);
        self.store.put(task, log);
        key
    }

    /// The task as it is kept.
    #[must_use]
    pub fn task(&self, key: &TaskKey) -> Arc<Task> {
        self.store.task(key).expect("a task that is kept")
    }

    /// Opens a task without waiting for it.
    pub async fn open(&self, text: &str) -> TaskKey {
        let call = crate::service::SendMessage { wait: Some(false), ..sample::call(text) };
        match self.service.send(&self.scope, call).await.expect("a message that is taken") {
            Sent::Task(task) => task.key().clone(),
            Sent::Message { .. } => panic!("the agent answered without a task"),
        }
    }
}

impl Drop for World {
    /// A world that ends with open subscriptions has a leak; one that showed what was not stored lied.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        assert_eq!(*lock(&self.unstored), [""; 0], "this was shown before it was stored");
        assert_eq!(self.bus.subscribers(), 0, "somebody still listens");
    }
}

/// Everything that a stream still hands out, until it is over.
pub async fn all(watch: &mut Watch) -> Vec<Recorded> {
    let mut changes = Vec::new();
    while let Some(more) = watch.next().await {
        changes.extend(more.expect("a stream without an error"));
    }
    changes
}

/// What a stream hands out now; empty when it has nothing.
pub async fn next_changes(watch: &mut Watch) -> Vec<Recorded> {
    match poll_now(watch.next()).await {
        Some(Some(changes)) => changes.expect("a stream without an error"),
        Some(None) | None => Vec::new(),
    }
}

/// The future's value if it is there, without waiting for it.
pub async fn poll_now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

impl Streamed {
    /// The stream of a task and what opened it, for tests.
    #[must_use]
    pub fn into_task(self) -> (Option<Arc<Task>>, Watch) {
        match self {
            Self::Task { snapshot, watch, .. } => (snapshot, watch),
            Self::Message { .. } => panic!("an answer without a task"),
        }
    }
}

impl Sent {
    /// The task that came of a message, for tests.
    #[must_use]
    pub fn into_task(self) -> Arc<Task> {
        match self {
            Self::Task(task) => task,
            Self::Message { .. } => panic!("an answer without a task"),
        }
    }
}
