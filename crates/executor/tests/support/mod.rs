//! A service on the real runtime, store and bus, for tests of the runtime.
#![allow(dead_code, unreachable_pub)] // Each test file is a crate of its own and uses its part of this.

pub mod pipes;
pub mod stub;

use a2ad_domain::ports::{AgentExecutor, Spawner, TaskStore};
use a2ad_domain::service::{Limits, Ports, SendMessage, Service};
use a2ad_domain::testing::sample::{AGENT, OTHER_AGENT, call, call_for, scope, scope_of};
use a2ad_domain::testing::{ManualClock, PATIENCE, SequentialIds, Setup, all};
use a2ad_domain::{AgentSettings, Error, Task, TaskKey};
use a2ad_executor::Runtime;
use a2ad_store::{Capacity, LocalBus, MemoryStore};
use std::sync::Arc;
use tokio::time::timeout;

/// How many runs the server lets go on at once; more than most tests need.
pub const MAX_RUNNING: usize = 100;

/// A server without a wire.
pub struct Server {
    pub service: Service,
    pub runtime: Runtime,
    pub bus: Arc<LocalBus>,
    pub store: Arc<MemoryStore>,
    pub clock: ManualClock,
}

impl Server {
    /// A server with this executor; `adjust` changes what the agents' settings usually are.
    pub fn new(executor: Arc<dyn AgentExecutor>, adjust: impl FnOnce(&mut AgentSettings)) -> Self {
        let store = Arc::new(MemoryStore::new(Capacity::default()));
        Self::over(store.clone(), store, executor, adjust)
    }

    /// A server whose service sees `port` instead of the store itself.
    pub fn over(
        port: Arc<dyn TaskStore>,
        store: Arc<MemoryStore>,
        executor: Arc<dyn AgentExecutor>,
        adjust: impl FnOnce(&mut AgentSettings),
    ) -> Self {
        let mut setup = Setup::default();
        adjust(&mut setup.settings);
        let (runtime, bus) = (Runtime::new(MAX_RUNNING), Arc::new(LocalBus::new()));
        let clock = ManualClock::default();
        let ports = Ports {
            store: port,
            bus: bus.clone(),
            spawner: Arc::new(runtime.clone()),
            clock: Arc::new(clock.clone()),
            ids: Arc::new(SequentialIds::new()),
            push: None,
        };
        let agents = [AGENT, OTHER_AGENT].map(|name| Arc::new(setup.agent(name, executor.clone())));
        let service = Service::new(ports, agents, Limits::default());
        Self { service, runtime, bus, store, clock }
    }

    /// Opens a task without waiting for it.
    pub async fn open(&self, text: &str) -> Result<TaskKey, Error> {
        let call = SendMessage { wait: Some(false), ..call(text) };
        let sent = self.service.send(&scope(), call).await?;
        Ok(sent.into_task().key().clone())
    }

    /// Opens a task of the other agent without waiting for it.
    pub async fn open_elsewhere(&self, text: &str) -> Result<TaskKey, Error> {
        let call = SendMessage { wait: Some(false), ..call(text) };
        let sent = self.service.send(&scope_of(OTHER_AGENT, "alice"), call).await?;
        Ok(sent.into_task().key().clone())
    }

    /// Sends and waits for the task to come to rest.
    pub async fn send(&self, text: &str) -> Arc<Task> {
        let sent = timeout(PATIENCE, self.service.send(&scope(), call(text))).await;
        sent.expect("a task that comes to rest").expect("a message that is taken").into_task()
    }

    pub async fn task(&self, key: &TaskKey) -> Arc<Task> {
        self.service.get(&key.scope, &key.id.to_string()).await.expect("a task that is kept")
    }

    pub async fn cancel(&self, key: &TaskKey) -> Result<Arc<Task>, Error> {
        self.service.cancel(&key.scope, &key.id.to_string()).await
    }

    /// Waits until the task has ended.
    pub async fn ended(&self, key: &TaskKey) -> Arc<Task> {
        if let Ok(attached) = self.service.attach(&key.scope, &key.id.to_string(), None).await {
            let (_, mut watch) = attached.into_task();
            timeout(PATIENCE, all(&mut watch)).await.expect("a task that ends");
        }
        let task = self.task(key).await;
        assert!(task.state().is_terminal());
        task
    }

    /// Lets everything that can go on do so. On the runtime of a single thread that tests have.
    pub async fn quiet(&self) {
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until no run is left, and checks that nothing is left of any.
    pub async fn assert_empty(&self) {
        self.quiet().await;
        assert_eq!(self.runtime.live(), 0, "runs are left");
        assert_eq!(self.bus.topics(), 0, "subscriptions are left");
    }

    /// How many more runs an agent with these settings could be given.
    pub fn free_places(&self, most: usize) -> usize {
        let agent = self.service.agent(scope().agent()).expect("an agent");
        let places: Vec<_> = (0..most).map_while(|_| self.runtime.reserve(&agent).ok()).collect();
        places.len()
    }
}

impl Server {
    /// Waits until the task's artifacts hold this text, whether or not it goes on then.
    pub async fn shows(&self, key: &TaskKey, text: &str) {
        let seen = async {
            loop {
                let attached = self.service.attach(&key.scope, &key.id.to_string(), None).await;
                let Ok(attached) = attached else { break };
                let (task, mut watch) = attached.into_task();
                if artifacts(&task.expect("a snapshot")) == text || watch.next().await.is_none() {
                    break;
                }
            }
        };
        timeout(PATIENCE, seen).await.expect("a task that goes on");
        assert_eq!(artifacts(&*self.task(key).await), text);
    }

    /// Lets time pass by itself until the task has ended. What comes over a socket comes before.
    pub async fn out_of_time(&self, key: &TaskKey) -> Arc<Task> {
        tokio::time::pause();
        let task = self.ended(key).await;
        tokio::time::resume();
        task
    }

    /// Goes on with a task that waits, and waits for it to come to rest.
    pub async fn answer(&self, key: &TaskKey, text: &str) -> Arc<Task> {
        let sent = timeout(PATIENCE, self.service.send(&key.scope, call_for(key, text))).await;
        sent.expect("a task that comes to rest").expect("a message that is taken").into_task()
    }
}

/// The text of all artifacts.
pub fn artifacts(task: &Task) -> String {
    let parts = task.artifacts().iter().flat_map(|artifact| artifact.parts());
    parts.filter_map(|part| part.plain_text()).collect()
}

/// What a client is told with the status.
pub fn told(task: &Task) -> &str {
    let said = task.status_message().expect("a status message");
    said.parts.as_slice()[0].plain_text().expect("a text")
}
