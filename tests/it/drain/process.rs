//! The real binary as a process of its own.

use crate::support::Events;
use crate::support::agents::soon;
use crate::support::caller::{Message, request};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// The binary next to the tests. Cargo does not build it for them, because it is another package's.
pub(crate) fn binary() -> PathBuf {
    let tests = std::env::current_exe().expect("the path of the tests");
    let folder = tests.parent().and_then(|deps| deps.parent()).expect("the target folder");
    let binary = folder.join("a2ad");
    assert!(binary.exists(), "{} is missing: run `cargo xtask test`", binary.display());
    binary
}

/// A command line of the binary, away from the settings of whoever runs the tests.
pub(crate) fn command(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    command_by(&[], arguments)
}

/// The same, started by a program that becomes the binary: its name and its first arguments.
pub(crate) fn command_by(
    launcher: &[&str],
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Command {
    let mut command = match launcher {
        [] => Command::new(binary()),
        [program, first @ ..] => {
            let mut command = Command::new(program);
            command.args(first).arg(binary());
            command
        }
    };
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("A2AD"))
    {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A running server. What it prints is kept.
pub(crate) struct Process {
    child: Child,
    base: String,
    client: reqwest::Client,
    printed: JoinHandle<String>,
    logged: JoinHandle<String>,
}

impl Process {
    /// Starts a server with this configuration on a free port and waits until it listens.
    pub(crate) async fn start(toml: &str, filter: &str) -> Self {
        Self::start_with(toml, filter, &[]).await
    }

    /// The same with these variables in its environment.
    pub(crate) async fn start_with(toml: &str, filter: &str, variables: &[(&str, &str)]) -> Self {
        Self::start_by(&[], toml, filter, variables).await
    }

    /// The same, started by a program that becomes the server.
    pub(crate) async fn start_by(
        launcher: &[&str],
        toml: &str,
        filter: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let file = std::env::temp_dir().join(format!("a2ad-{}-{}", std::process::id(), fresh()));
        std::fs::write(&file, toml).expect("a temporary file");
        let arguments = ["serve".as_ref(), "--config".as_ref(), file.as_os_str()];
        let mut command = command_by(launcher, arguments);
        if !toml.contains("[store]") {
            command.args(["--store", "memory"]);
        }
        command.args(["--listen", "127.0.0.1:0"]).env("A2AD_LOG", filter);
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut errors = child.stderr.take().expect("its errors");
        let logged = tokio::spawn(async move {
            let mut all = String::new();
            errors.read_to_string(&mut all).await.expect("UTF-8");
            all
        });
        let mut first = String::new();
        soon("the first line", output.read_line(&mut first)).await.expect("a line");
        let base = first.trim().rsplit(' ').next().expect("an address").to_owned();
        assert!(base.starts_with("http://127.0.0.1:"), "{first}");
        let printed = tokio::spawn(async move {
            output.read_to_string(&mut first).await.expect("UTF-8");
            first
        });
        let _ = std::fs::remove_file(file);
        let client = crate::support::client();
        Self { child, base, client, printed, logged }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("a process that has not ended")
    }

    /// Sends a signal, by its name.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.id();
        let line = format!("kill -{name} {id}");
        let status = Command::new("sh").args(["-c", &line]).status().await.expect("a shell");
        assert!(status.success(), "{line}");
    }

    /// Where it listens.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.start_kill().expect("a process that has not ended");
    }

    /// How the process ended, and everything that it has printed and logged.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let status = soon("the end of the process", self.child.wait()).await.expect("a status");
        let printed = self.printed.await.expect("its output");
        let logged = self.logged.await.expect("its errors");
        (status, format!("{printed}{logged}"))
    }

    fn post(&self, agent: &str, body: String) -> reqwest::RequestBuilder {
        let path = format!("{}/api/v1/a2a/{agent}/jsonrpc", self.base);
        self.client.post(path).header("content-type", "application/json").body(body)
    }

    /// A call with any body: the status and the answer.
    pub(crate) async fn raw(&self, agent: &str, body: String) -> (u16, Value) {
        let response = self.post(agent, body).send().await.expect("an answer");
        let status = response.status().as_u16();
        let body = response.bytes().await.expect("a whole body");
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> (u16, Value) {
        self.raw("script", request(method, &params).to_string()).await
    }

    pub(crate) async fn stream(&self, message: Message) -> Events {
        self.stream_of("script", message).await
    }

    /// The same of this agent.
    pub(crate) async fn stream_of(&self, agent: &str, message: Message) -> Events {
        let body = request("message/stream", &message.params()).to_string();
        let request = self.post(agent, body).header("accept", "text/event-stream");
        Events::new(request.send().await.expect("a stream"))
    }

    /// Re-attaches to a task after an event.
    pub(crate) async fn resume(&self, task: &str, last: &str) -> Events {
        self.resume_of("script", task, last).await
    }

    /// The same for a task of this agent.
    pub(crate) async fn resume_of(&self, agent: &str, task: &str, last: &str) -> Events {
        let body = request("tasks/resubscribe", &serde_json::json!({ "id": task })).to_string();
        let request = self.post(agent, body).header("accept", "text/event-stream");
        let request = request.header("last-event-id", last);
        Events::new(request.send().await.expect("a stream"))
    }

    /// The status of a route that is only read; `None` when nobody listens any more.
    pub(crate) async fn get(&self, path: &str) -> Option<u16> {
        self.get_with(path, &[]).await
    }

    /// The same with headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let request = self.client.get(format!("{}{path}", self.base));
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Some(request.send().await.ok()?.status().as_u16())
    }

    /// Any request: its status, and everything that is answered, headers and all.
    pub(crate) async fn exchange(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> (u16, String) {
        let url = format!("{}{path}", self.base);
        let request = self.client.request(verb.parse().expect("a verb"), url).body(body);
        let add = |request: reqwest::RequestBuilder, header: &(&str, &str)| {
            request.header(header.0, header.1)
        };
        let response = headers.iter().fold(request, add).send().await.expect("an answer");
        let (status, head) = (response.status().as_u16(), format!("{:?}", response.headers()));
        (status, head + &response.text().await.expect("text"))
    }

    /// Waits until the process says that it takes no messages any more.
    pub(crate) async fn not_ready(&self) {
        soon("the end of readiness", async {
            while self.get("/readyz").await.expect("a server that listens") != 503 {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

/// A number that no other call in this process gets.
fn fresh() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NUMBERS: AtomicUsize = AtomicUsize::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}
