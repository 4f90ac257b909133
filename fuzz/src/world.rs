//! A whole server without sockets, on a clock that only moves when everybody waits.

use crate::file::{AtOnce, Folder};
use crate::receiver::{self, Receiver};
use a2ad_domain::ports::{AgentExecutor, Clock, IdGenerator, PushStore, TaskStore};
use a2ad_domain::service::{Limits, Outbox, Patience, Ports, Push, Service};
use a2ad_domain::testing::SequentialIds;
use a2ad_domain::{Agent, AgentId, AgentSettings, Card, Extension, Timestamp};
use a2ad_executor::Runtime;
use a2ad_http::webhook::Courier;
use a2ad_http::{
    Access, Allowance, Authenticator, BodyLimits, CardMode, CardSigner, Front, MessageLimits, Peer,
    Proxies, PublicKeys, Router, Settings, VersionPolicy, Vitals, router,
};
use a2ad_store::{Capacity, Durability, LocalBus, MemoryStore, SqliteStore};
use async_trait::async_trait;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use uuid::Uuid;

/// How long an answer or the end of the runs may take, by the clock that moves when everybody waits.
const PATIENCE: Duration = Duration::from_secs(3600);
/// The longest body that is read: small, so that longer ones are tried.
pub(crate) const MAX_BODY: usize = 4096;
/// How many webhooks a task may have.
pub(crate) const WEBHOOKS: usize = 3;
/// How often a webhook that does not answer is tried, and for how long.
const PERSISTENCE: Patience = Patience {
    first_pause: Duration::from_secs(1),
    longest_pause: Duration::from_secs(8),
    give_up: Duration::from_secs(60),
};
/// How much is kept: few tasks, so that they have to make room. What a task weighs differs between stores, so
/// their number counts first.
pub(crate) const CAPACITY: Capacity = Capacity { tasks: 8, bytes: 1 << 24, log: LOG as usize };
/// How many of a task's changes its log holds: few, so that readers come back too late.
pub(crate) const LOG: u64 = 6;

/// Runs a future to its end on a runtime whose time does not pass by itself.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static HOME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
    }
    HOME.with(|home| home.block_on(future))
}

/// Has the same done over a store in memory and over one in a file: what is said is the same.
pub(crate) fn over_both<F: Future<Output = Vec<String>>>(
    capacity: Capacity,
    work: impl Fn(Stores) -> F,
) {
    let in_memory = run(work(Stores::memory(capacity)));
    let in_a_file = run(work(Stores::file(capacity)));
    assert_eq!(in_memory.len(), in_a_file.len());
    for (number, (memory, file)) in in_memory.iter().zip(&in_a_file).enumerate() {
        assert_eq!(memory, file, "answer {number} over a store in memory and over one in a file");
    }
}

/// The time of the runtime, from a day in the year 2026 on.
struct Time(Instant);

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000).after(self.0.elapsed())
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Attempts come at the same times whoever else tries again.
struct NoChance;

impl IdGenerator for NoChance {
    fn uuid(&self) -> Uuid {
        Uuid::nil()
    }
}

struct Nothing;

#[async_trait]
impl Vitals for Nothing {
    fn live_runs(&self) -> usize {
        0
    }

    fn subscribed_tasks(&self) -> usize {
        0
    }

    fn stored_tasks(&self) -> Option<usize> {
        None
    }

    fn open_webhooks(&self) -> Option<usize> {
        None
    }

    async fn store_serves(&self) -> bool {
        true
    }
}

/// An agent that everybody may call.
pub(crate) fn open(id: &str, executor: impl AgentExecutor + 'static) -> Front {
    let settings = AgentSettings {
        deadline: Some(Duration::from_secs(30)),
        max_running: 2,
        max_queued: 1,
        ..AgentSettings::default()
    };
    let card = Card::new(id, "Takes what it gets.");
    let id = AgentId::new(id).expect("an agent id");
    let agent = Arc::new(Agent::new(id, card, settings, Arc::new(executor)));
    Front {
        agent,
        access: Access::Open,
        card_mode: CardMode::Hybrid,
        since: SystemTime::UNIX_EPOCH,
    }
}

/// An agent that takes texts only, wants an extension to be named, and knows its callers.
pub(crate) fn strict(
    id: &str,
    executor: impl AgentExecutor + 'static,
    by: Arc<dyn Authenticator>,
) -> Front {
    let mut card = Card::new(id, "Takes little.");
    card.input_modes = vec!["text/plain".to_owned()];
    let extension = Extension {
        uri: "urn:extension".to_owned(),
        description: None,
        required: true,
        params: None,
    };
    let id = AgentId::new(id).expect("an agent id");
    let agent = Agent::new(id, card, AgentSettings::default(), Arc::new(executor));
    let agent = Arc::new(agent.with_extensions(vec![extension]));
    let access = Access::Guarded { by, share_tasks: false };
    Front { agent, access, card_mode: CardMode::V1, since: SystemTime::UNIX_EPOCH }
}

/// Where a server keeps what it keeps.
pub(crate) struct Stores {
    pub(crate) tasks: Arc<dyn TaskStore>,
    pub(crate) webhooks: Arc<dyn PushStore>,
    _folder: Option<Folder>,
}

impl Stores {
    /// In memory.
    pub(crate) fn memory(capacity: Capacity) -> Self {
        let store = Arc::new(MemoryStore::new(capacity));
        Self { tasks: store.clone(), webhooks: store, _folder: None }
    }

    /// In a file, which goes with the server.
    pub(crate) fn file(capacity: Capacity) -> Self {
        let folder = Folder::new();
        let (path, durability) = (folder.path().join("tasks.db"), Durability::Process);
        let settings = a2ad_store::Settings { path, durability, capacity };
        let store = Arc::new(AtOnce(SqliteStore::open(&settings).expect("a new file")));
        Self { tasks: store.clone(), webhooks: store, _folder: Some(folder) }
    }
}

/// A server.
pub(crate) struct World {
    router: TowerToHyperService<Router>,
    service: Service,
    runtime: Runtime,
    bus: Arc<LocalBus>,
    courier: Courier,
    pub(crate) receiver: Arc<Receiver>,
    // The folder goes last.
    pub(crate) stores: Stores,
}

impl World {
    /// A server with these agents, of which the first is the default, over stores without tasks.
    pub(crate) fn new(stores: Stores, fronts: Vec<Front>) -> Self {
        let (runtime, bus) = (Runtime::new(4), Arc::new(LocalBus::new()));
        let clock: Arc<dyn Clock> = Arc::new(Time(Instant::now()));
        let receiver = Arc::new(Receiver::new(clock.clone()));
        let courier = Courier::new(Outbox {
            tasks: stores.tasks.clone(),
            webhooks: stores.webhooks.clone(),
            sender: receiver.clone(),
            clock: clock.clone(),
            ids: Arc::new(NoChance),
            patience: PERSISTENCE,
        });
        let bell = Arc::new(courier.clone());
        let ports = Ports {
            store: stores.tasks.clone(),
            bus: courier.listening(bus.clone()),
            spawner: Arc::new(runtime.clone()),
            clock,
            ids: Arc::new(SequentialIds::new()),
            push: Some(Push { store: stores.webhooks.clone(), bell }),
        };
        let limits = Limits {
            wait: Duration::from_secs(60),
            history: 12,
            task_bytes: 64 << 10,
            webhooks: WEBHOOKS,
            ..Limits::default()
        };
        let agents = fronts.iter().map(|front| front.agent.clone());
        let service = Service::new(ports, agents, limits);
        let settings = Settings {
            base_url: "http://a2ad.test".to_owned(),
            body: BodyLimits {
                bytes: MAX_BODY,
                pause: Duration::from_secs(30),
                whole: Duration::from_secs(120),
            },
            keep_alive: Duration::from_secs(15),
            version_policy: VersionPolicy::Lenient,
            proxies: Proxies::Trusted(vec!["127.0.0.0/8".parse().expect("a network")]),
            card_max_age: Duration::from_secs(300),
            message: MessageLimits::default(),
            allowance: Arc::new(Allowance::new(None, None, Vec::new())),
            tally: Arc::default(),
            webhooks: Some(receiver::client()),
            signer: Arc::new(CardSigner::new(Vec::new())),
            keys: PublicKeys::default(),
        };
        let default = fronts[0].clone();
        let router = router(service.clone(), fronts, &default, Arc::new(Nothing), settings);
        let router = TowerToHyperService::new(router);
        Self { router, service, runtime, bus, courier, receiver, stores }
    }

    /// The answer to a request, which comes from a proxy that is trusted.
    pub(crate) async fn call(&self, mut request: Request<Body>) -> Response<Body> {
        request.extensions_mut().insert(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let answer = tokio::time::timeout(PATIENCE, self.router.call(request)).await;
        let answer = answer.expect("an answer within an hour");
        answer.unwrap_or_else(|never| match never {})
    }

    /// Ends everything and makes sure that nothing is left.
    pub(crate) async fn finish(self) {
        self.service.drain();
        let drained = tokio::time::timeout(PATIENCE, self.runtime.drain(Duration::from_secs(5)));
        drained.await.expect("an end of all runs within an hour");
        assert_eq!(self.bus.topics(), 0, "somebody still listens");
        let closed = tokio::time::timeout(PATIENCE, self.courier.close(Duration::from_secs(5)));
        closed.await.expect("an end of all deliveries within an hour");
        assert_eq!(self.courier.followed(), 0, "somebody still tells a webhook");
    }
}
