//! A server within the test.

use super::Events;
use a2ad::config::StoreKind;
use a2ad::{App, AppBuilder, Config, Gauges};
use a2ad_domain::Owner;
use a2ad_domain::testing::PATIENCE;
use a2ad_executor::Drained;
use a2ad_http::{Authenticator, Caller, Parts, Scheme, Unauthenticated};
use async_trait::async_trait;
use axum::http::HeaderMap;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Takes the owner from the header `x-test-owner`.
pub(crate) struct HeaderOwner;

#[async_trait]
impl Authenticator for HeaderOwner {
    fn schemes(&self) -> &[Scheme] {
        &[Scheme::Bearer]
    }

    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated> {
        let Some(owner) = head.headers.get("x-test-owner") else {
            return Ok(Caller::new(Owner::anonymous()));
        };
        let owner = owner.to_str().map_err(|_| Unauthenticated)?;
        Owner::new(owner).map(Caller::new).map_err(|_| Unauthenticated)
    }
}

/// An answer with everything.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Reads an answer to its end.
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a whole body").to_vec();
        Self { status, headers, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// A running server. A test ends it with [`TestServer::finish`], which fails when work is left over.
pub(crate) struct TestServer {
    address: SocketAddr,
    client: reqwest::Client,
    gauges: Arc<Gauges>,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<Drained>>,
    /// What it runs on, if that is not what the test runs on.
    home: Option<Runtime>,
}

impl TestServer {
    /// The agents echo and script.
    pub(crate) async fn start() -> Self {
        Self::with_config("").await
    }

    pub(crate) async fn with_config(toml: &str) -> Self {
        Self::custom(toml, |builder| builder).await
    }

    /// With parts of the test's own.
    pub(crate) async fn custom(toml: &str, parts: impl FnOnce(AppBuilder) -> AppBuilder) -> Self {
        Self::on(None, toml, parts).await
    }

    /// The same on a runtime of its own, so that it can crash.
    pub(crate) async fn mortal(toml: &str, parts: impl FnOnce(AppBuilder) -> AppBuilder) -> Self {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self::on(Some(home.expect("a runtime")), toml, parts).await
    }

    async fn on(
        home: Option<Runtime>,
        toml: &str,
        parts: impl FnOnce(AppBuilder) -> AppBuilder,
    ) -> Self {
        let mut config = Config::parse(toml, "test").expect("a good configuration");
        // A file is only for those who name one.
        if !toml.contains("sqlite") {
            config.store.kind = StoreKind::Memory;
        }
        config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let app = parts(App::builder(config)).build().expect("parts that fit");
        let runs_on = home.as_ref().map_or_else(Handle::current, |home| home.handle().clone());
        let bound = runs_on.spawn(app.bind()).await.expect("no panic");
        let server = bound.expect("a free port");
        let (address, gauges) = (server.local_addr(), server.gauges());
        let (stop, stopped) = oneshot::channel();
        let running = runs_on.spawn(server.run(async {
            let _ = stopped.await;
        }));
        let client = crate::support::client();
        Self { address, client, gauges, stop: Some(stop), running: Some(running), home }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// Tells the server to stop and does not wait for it.
    pub(crate) fn begin_to_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until the server has stopped.
    pub(crate) async fn stopped(mut self) -> Drained {
        self.begin_to_stop();
        let running = self.running.take().expect("a server stops once");
        let drained = running.await.expect("a server that stops in order");
        self.leave_home().await;
        drained
    }

    /// Ends it where it stands, as a kill does: no run is brought to an end and nobody is told. When this
    /// returns it has let go of everything.
    pub(crate) async fn crash(mut self) {
        assert!(self.home.is_some(), "it would take the test with it");
        self.leave_home().await;
        // Only now: the server takes the end of the one who can stop it for the word to stop.
        (self.running, self.stop) = (None, None);
    }

    /// Drops what the server still does.
    async fn leave_home(&mut self) {
        if let Some(home) = self.home.take() {
            tokio::task::spawn_blocking(move || drop(home)).await.expect("no panic");
        }
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Reply {
        let request = self.client.post(self.url(path)).body(body);
        Reply::read(send(request, headers).await).await
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        Reply::read(send(self.client.get(self.url(path)), headers).await).await
    }

    /// A request of any verb without a body.
    pub(crate) async fn request(&self, verb: &str, path: &str) -> Reply {
        Reply::read(self.open(verb, path, &[], None).await).await
    }

    /// A request of any verb; its answer is still to be read.
    pub(crate) async fn open(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> reqwest::Response {
        let request = self.client.request(verb.parse().expect("a verb"), self.url(path));
        let request = body.into_iter().fold(request, reqwest::RequestBuilder::body);
        send(request, headers).await
    }

    /// A call to a route; its answer, which must be JSON over 200.
    pub(crate) async fn rpc_at(&self, path: &str, body: Value) -> Value {
        let headers = [("content-type", "application/json")];
        let reply = self.post(path, &headers, body.to_string()).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        assert_eq!(reply.headers["content-type"], "application/json");
        reply.json()
    }

    /// A call to an agent that streams.
    pub(crate) async fn stream(&self, agent: &str, body: Value) -> Events {
        self.stream_at(&rpc_path(agent), &[], body).await
    }

    /// A call to a route that streams.
    pub(crate) async fn stream_at(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Events {
        let request = self.client.post(self.url(path)).body(body.to_string());
        let request = request.header("accept", "text/event-stream");
        let json = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let request =
            if json { request } else { request.header("content-type", "application/json") };
        let response = send(request, headers).await;
        assert_eq!(response.status(), 200);
        if response.headers()["content-type"] != "text/event-stream" {
            panic!("no stream: {}", String::from_utf8_lossy(&Reply::read(response).await.body));
        }
        Events::new(response)
    }

    /// Ends the server and fails when runs or subscriptions are left over.
    pub(crate) async fn finish(self) -> Drained {
        self.no_run_left().await;
        self.stopped().await
    }

    /// Waits until every run and every subscription is gone.
    pub(crate) async fn no_run_left(&self) {
        let gauges = &self.gauges;
        let nothing_left = async {
            while gauges.live_runs() + gauges.subscribed_tasks() > 0 {
                tokio::task::yield_now().await;
            }
        };
        if tokio::time::timeout(PATIENCE, nothing_left).await.is_err() {
            let (runs, tasks) = (gauges.live_runs(), gauges.subscribed_tasks());
            panic!("left over: {runs} runs, {tasks} tasks with subscribers");
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            home.shutdown_background();
        }
        if self.running.is_some() && !std::thread::panicking() {
            panic!("a test has to finish its server");
        }
    }
}

fn rpc_path(agent: &str) -> String {
    format!("/api/v1/a2a/{agent}/jsonrpc")
}

async fn send(mut request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> reqwest::Response {
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer")
}
