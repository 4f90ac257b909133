//! The rows about executors that call out: what a run costs over the bare call of what is behind it, and
//! how soon that is gone after a cancel.

use super::Bench;
use super::process::Server;
use super::rows::Row;
use super::table::Line;
use crate::Result;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How many calls of each side are made; the two take turns. The first do not count.
const ROUNDS: usize = 300;
const WARM_UP: usize = 20;

/// How many runs are canceled.
const CANCELS: usize = 50;

/// How long an answer may take at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the service and the program give back.
const TEXT: &str = "hello";

impl Bench {
    /// The median of a send to an agent in front of a service, less that of a call to the service.
    pub(super) fn http_overhead(&self, row: &Row) -> Result<Vec<Line>> {
        let service = Service::start()?;
        let server = self.executors(service.address, 0)?;
        let mut bare = Client::open(service.address)?;
        let mut agent = Client::open(server.address()?)?;
        let turn = format!(r#"{{"version":1,"text":"{TEXT}","history":[]}}"#);
        let line = overhead(
            row.about,
            1.0,
            || bare.post("/turn", &turn).and_then(|answer| holds(&answer, TEXT)),
            || agent.send("http", TEXT).and_then(|answer| holds(&answer, "completed")),
        )?;
        Ok(vec![line])
    }

    /// The median of a send to an agent of a program, less that of starting the program.
    pub(super) fn command_overhead(&self, row: &Row) -> Result<Vec<Line>> {
        let service = Service::start()?;
        let server = self.executors(service.address, 0)?;
        let mut agent = Client::open(server.address()?)?;
        let line = overhead(
            row.about,
            2.0,
            || holds(&started("cat", TEXT)?, TEXT),
            || agent.send("command", TEXT).and_then(|answer| holds(&answer, "completed")),
        )?;
        Ok(vec![line])
    }

    /// The time from the call of a cancel until the program, or the connection to the service, is gone.
    pub(super) fn stop(&self, row: &Row) -> Result<Vec<Line>> {
        let service = Service::start()?;
        let life = TcpListener::bind("127.0.0.1:0")?;
        let server = self.executors(service.address, life.local_addr()?.port())?;
        let mut agent = Client::open(server.address()?)?;
        let mut program = || Ok(life.accept()?.0);
        let commands = gone(&mut agent, "hang", &mut program)?;
        let mut call = || Ok(service.silent.recv_timeout(PATIENCE)?);
        let calls = gone(&mut agent, "silent", &mut call)?;
        let of = |what: &str| format!("{}: {what}", row.about);
        Ok(vec![
            Line::limit(&of("the program"), commands, 100.0, "ms"),
            Line::limit(&of("the call"), calls, 100.0, "ms"),
        ])
    }

    /// A server with an agent of each kind.
    fn executors(&self, service: SocketAddr, life: u16) -> Result<Server> {
        let hang = format!("exec 9<>/dev/tcp/127.0.0.1/{life}; echo up >&9; sleep 1000");
        let toml = format!(
            "[[agent]]\nid = \"http\"\nexecutor = {{ kind = \"http\", url = \"http://{service}/turn\" }}\n\
             [[agent]]\nid = \"silent\"\nexecutor = {{ kind = \"http\", url = \"http://{service}/silent\" }}\n\
             [[agent]]\nid = \"command\"\nexecutor = {{ kind = \"command\", program = \"cat\" }}\n\
             [[agent]]\nid = \"hang\"\n\
             executor = {{ kind = \"command\", program = \"bash\", args = [\"-c\", \"{hang}\"] }}\n"
        );
        let file = self.binary("executors.bench.toml");
        std::fs::write(&file, toml)?;
        self.server_of(&file)
    }
}

/// Both sides take turns, so that a disturbance meets both.
fn overhead(
    what: &str,
    budget: f64,
    mut bare: impl FnMut() -> Result,
    mut run: impl FnMut() -> Result,
) -> Result<Line> {
    let (mut bare_times, mut run_times) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        let (one, two) = (timed(&mut bare)?, timed(&mut run)?);
        if round >= WARM_UP {
            bare_times.push(one);
            run_times.push(two);
        }
    }
    let (bare, run) = (median(bare_times), median(run_times));
    let note = format!("{run:.2} ms, bare {bare:.2} ms");
    Ok(Line::limit(what, run - bare, budget, "ms").note(note))
}

fn timed(call: &mut impl FnMut() -> Result) -> Result<Duration> {
    let start = Instant::now();
    call()?;
    Ok(start.elapsed())
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// Cancels runs one after the other. `begun` gives what the run holds open; its end is waited for.
fn gone(agent: &mut Client, id: &str, begun: &mut dyn FnMut() -> Result<TcpStream>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..CANCELS {
        let answer = agent.begin(id)?;
        let task = answer.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let task = task.ok_or_else(|| format!("no task in {answer}"))?;
        let mut held = begun()?;
        held.set_read_timeout(Some(PATIENCE))?;
        let start = Instant::now();
        holds(&agent.cancel(id, task)?, "canceled")?;
        let mut rest = Vec::new();
        // What is killed may reset the connection instead of closing it.
        let _ = held.read_to_end(&mut rest);
        times.push(start.elapsed());
    }
    Ok(median(times))
}

fn holds(answer: &str, text: &str) -> Result {
    if answer.contains(text) { Ok(()) } else { Err(format!("{text:?} is not in {answer}").into()) }
}

/// Starts a program, tells it a text and returns what it says.
fn started(program: &str, text: &str) -> Result<String> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A service that answers at once on one path, and never on another.
struct Service {
    address: SocketAddr,
    /// The connections that wait for an answer.
    silent: Receiver<TcpStream>,
}

impl Service {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (told, silent) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = told.clone();
                thread::spawn(move || {
                    // A client that goes away ends its thread.
                    if let Ok(Some(stream)) = answer_all(stream) {
                        let _ = told.send(stream);
                    }
                });
            }
        });
        Ok(Self { address, silent })
    }
}

/// Answers the calls of a connection; hands it back when one wants no answer.
fn answer_all(mut stream: TcpStream) -> Result<Option<TcpStream>> {
    stream.set_nodelay(true)?;
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{TEXT}",
        TEXT.len()
    );
    let mut buffer = Vec::new();
    loop {
        let Some(head) = read_message(&mut stream, &mut buffer)? else { return Ok(None) };
        if head.starts_with("POST /silent ") {
            return Ok(Some(stream));
        }
        stream.write_all(answer.as_bytes())?;
    }
}

/// Reads a head and a body with a length, and returns both; `None` when the connection has ended.
fn read_message(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<String>> {
    let mut piece = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(buffer);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length:").nth(1).and_then(|it| it.lines().next());
            let length: usize = length.unwrap_or("0").trim().parse()?;
            let whole = head.len() + 4 + length;
            if buffer.len() >= whole {
                let message: Vec<u8> = buffer.drain(..whole).collect();
                return Ok(Some(String::from_utf8_lossy(&message).into_owned()));
            }
        }
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(&piece[..read]);
    }
}

/// A connection that posts JSON.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    fn post(&mut self, path: &str, body: &str) -> Result<String> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        let answer = read_message(&mut self.stream, &mut self.buffer)?;
        answer.ok_or_else(|| "the connection was closed".into())
    }

    fn send(&mut self, agent: &str, text: &str) -> Result<String> {
        self.message(agent, text, true)
    }

    fn begin(&mut self, agent: &str) -> Result<String> {
        self.message(agent, "go", false)
    }

    fn message(&mut self, agent: &str, text: &str, blocking: bool) -> Result<String> {
        let params = format!(
            r#"{{"message":{{"role":"user","messageId":"m","parts":[{{"kind":"text","text":"{text}"}}]}},"configuration":{{"blocking":{blocking}}}}}"#
        );
        self.call(agent, "message/send", &params)
    }

    fn cancel(&mut self, agent: &str, task: &str) -> Result<String> {
        self.call(agent, "tasks/cancel", &format!(r#"{{"id":"{task}"}}"#))
    }

    fn call(&mut self, agent: &str, method: &str, params: &str) -> Result<String> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        self.post(&format!("/api/v1/a2a/{agent}/jsonrpc"), &body)
    }
}
