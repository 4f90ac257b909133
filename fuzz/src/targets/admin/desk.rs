//! A server with an operator, from one start to its end, and what each of its answers must be.

use super::audit;
use crate::conversation::{Answer, Asked};
use crate::file::Folder;
use crate::json;
use a2ad::{App, Config, Service};
use a2ad_domain::TaskState;
use a2ad_domain::testing::PATIENCE;
use a2ad_http::{Peer, Router};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::cell::Cell;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const BASE: &str = "/api/v1/admin";
/// A server that is not started yet. What the one before has ended may hold the file until it is dropped.
async fn app(config: &Config) -> App {
    loop {
        match App::builder(config.clone()).build() {
            Ok(app) => return app,
            Err(error) => assert!(error.to_string().contains("has it open"), "{error}"),
        }
        tokio::task::yield_now().await;
    }
}

/// What whoever comes over a proxy cannot do without.
const FORWARDED: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
/// What is answered where nothing has failed.
const STATUSES: [u16; 10] = [200, 201, 400, 401, 403, 404, 405, 409, 413, 415];

/// A server.
pub(super) struct Desk {
    router: TowerToHyperService<Router>,
    service: Service,
    stop: oneshot::Sender<()>,
    running: JoinHandle<a2ad::Drained>,
    secrets: [String; 2],
    audit: PathBuf,
    written: Cell<usize>,
}

/// What an operator was answered.
pub(super) struct Reply {
    pub(super) answer: Answer,
    /// `None` where no tree of values can hold it.
    pub(super) value: Option<Value>,
}

impl Reply {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.answer.body).into_owned()
    }
}

/// The store has threads of its own, so this clock goes as all do.
pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static HOME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
    }
    HOME.with(|home| home.block_on(future))
}

/// A request with a body.
pub(super) fn json(method: Method, uri: Uri, body: String) -> Asked {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("a2a-version", HeaderValue::from_static("1.0"));
    Asked { method, uri, headers, body: body.into_bytes() }
}

/// A request of the operator's without a body.
pub(super) fn operator(method: Method, path: &str) -> Asked {
    let uri = Uri::try_from(path).expect("a path");
    Asked { method, uri, headers: HeaderMap::new(), body: Vec::new() }
}

impl Desk {
    /// Starts the server of a folder, the first time with a new file. The secrets are new for each folder, so that no
    /// input can hold them.
    pub(super) async fn open(folder: &Folder) -> Self {
        let path = |name: &str| folder.path().join(name);
        let (key, secret) = (path("ann.key"), path("secret"));
        for file in [&key, &secret].into_iter().filter(|file| !file.exists()) {
            let chance = || RandomState::new().hash_one(file);
            let text = format!("{:016x}{:016x}\n", chance(), chance());
            std::fs::write(file, text).expect("a file");
        }
        let secrets = [&key, &secret]
            .map(|file| std::fs::read_to_string(file).expect("a secret").trim_end().to_owned());
        let audit = path("audit.log");
        let text = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\npublic_url = \"http://a.example\"\ndrain = \"0s\"\n\
             max_body = 2048\n[store]\nkind = \"sqlite\"\ndurability = \"process\"\npath = {:?}\n\
             [admin]\naudit_log = {audit:?}\nkeys.ann = {{ file = {key:?} }}\n\
             [[agent]]\nid = \"echo\"\nexecutor.kind = \"echo\"\n\
             [[agent]]\nid = \"script\"\nexecutor.kind = \"script\"\n",
            path("tasks.db"),
        );
        let config = Config::parse(&text, "fuzz").expect("a configuration");
        let app = timeout(PATIENCE, app(&config)).await.expect("a file that nobody holds");
        let server = app.bind().await.expect("a server");
        let router = TowerToHyperService::new(a2ad::fuzzing::routes(&server));
        let service = server.service().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        let written = Cell::new(std::fs::read(&audit).expect("the audit log").len());
        Self { router, service, stop, running, secrets, audit, written }
    }

    /// Ends it as a process that is told to stop does.
    pub(super) async fn close(self) {
        let _ = self.stop.send(());
        let drained = self.running.await.expect("no panic");
        assert_eq!(drained.left, 0, "{drained:?}");
    }

    /// Any request, from the machine itself.
    pub(super) async fn call(&self, asked: &Asked) -> Answer {
        let mut request = asked.request();
        request.extensions_mut().insert(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let Ok(answer) = self.router.call(request).await;
        let answer = Answer::read(answer).await;
        self.check_secrets(&String::from_utf8_lossy(&answer.body));
        answer
    }

    fn check_secrets(&self, text: &str) {
        for secret in &self.secrets {
            assert!(!text.contains(&**secret), "a secret is told: {text}");
        }
    }

    /// A request below the routes of operators. It shows the key unless it says what it shows.
    pub(super) async fn ask(&self, asked: &Asked) -> Reply {
        let mut headers = asked.headers.clone();
        let is_near = !FORWARDED.iter().any(|name| headers.contains_key(*name));
        let is_let_in = is_near && !headers.contains_key("x-api-key");
        if !headers.contains_key("x-api-key") {
            let key = HeaderValue::from_str(&self.secrets[0]).expect("a header");
            headers.insert("x-api-key", key);
        }
        if !headers.contains_key("content-type") {
            headers.insert("content-type", HeaderValue::from_static("application/json"));
        }
        let uri = Uri::try_from(format!("{BASE}{}", asked.uri)).expect("a path behind a path");
        let (method, body) = (asked.method.clone(), asked.body.clone());
        let answer = self.call(&Asked { method, uri, headers, body }).await;
        let reply = Reply { value: json::value(&answer.body), answer };
        self.check(asked, is_let_in.then_some("ann"), is_near, &reply);
        reply
    }

    fn check(&self, asked: &Asked, operator: Option<&str>, is_near: bool, reply: &Reply) {
        let Reply { answer, value } = reply;
        let (status, text) = (answer.status, reply.text());
        assert!(STATUSES.contains(&status.as_u16()), "status {status}: {text}");
        assert_eq!(answer.kind(), "application/json");
        let says = |name: &str| answer.headers.contains_key(name);
        assert_eq!(status == StatusCode::METHOD_NOT_ALLOWED, says("allow"));
        assert_eq!(status == StatusCode::UNAUTHORIZED, says("www-authenticate"));
        assert_eq!(status == StatusCode::FORBIDDEN, !is_near, "{text}");
        assert_eq!(status == StatusCode::UNAUTHORIZED, is_near && operator.is_none(), "{text}");
        if status.is_success() {
            assert_eq!(answer.headers.get("cache-control"), Some(&"no-store".parse().expect("it")));
        } else {
            let error = &value.as_ref().expect("an error is small")["error"];
            assert_eq!(error["code"], status.as_u16(), "{text}");
            assert!(error["message"].as_str().is_some_and(|it| !it.is_empty()), "{text}");
        }
        let log = std::fs::read_to_string(&self.audit).expect("the audit log");
        let line = &log[self.written.replace(log.len())..];
        self.check_secrets(line);
        audit::check(line, asked, operator, status, value.as_ref());
    }

    /// Waits until a task has ended, waits for its client, or hangs.
    pub(super) async fn settle(&self, task: &str, hangs: bool) {
        let settled = async {
            loop {
                let task = self.service.find(task).await.expect("a task");
                if !task.is_running() || (hangs && task.state() == TaskState::Working) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, settled).await.expect("a task that comes to rest");
    }
}
