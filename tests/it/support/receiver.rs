//! A webhook that does what a test tells it, down to the bytes.

use super::agents::soon;
use a2ad_domain::CancelSignal;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a server is told so that it calls webhooks of a test, and gives no slow one up.
pub(crate) const HOOKS: &str = "[push]\nallow_private = true\ntimeout = \"10m\"\n";
/// The same for one that tries again soon.
pub(crate) const EAGER: &str = "[push]\nallow_private = true\ntimeout = \"10m\"\n\
                                pause = \"2ms\"\nlongest_pause = \"20ms\"\n";
/// Where nobody answers.
pub(crate) const NOWHERE: &str = "http://127.0.0.1:9/hook";

/// What a webhook does with a request that it has read.
#[derive(Clone)]
pub(crate) enum Reaction {
    Answer(u16),
    /// Answers with headers of its own, each ended by a line break.
    With(u16, String),
    /// Answers with a body of so many bytes.
    Long(usize),
    /// Closes the connection without a word.
    Break,
    /// Answers when this is raised.
    Hold(CancelSignal),
}

/// What a webhook was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Whether the webhook was going to answer with success.
    pub(crate) taken: bool,
}

impl Told {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

#[derive(Default)]
struct Book {
    reactions: BTreeMap<String, VecDeque<Reaction>>,
    told: BTreeMap<String, Vec<Told>>,
}

/// A receiver with a webhook under every path.
pub(crate) struct Receiver {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
    heard: watch::Sender<usize>,
    listening: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (book, heard) = (Arc::new(Mutex::new(Book::default())), watch::Sender::new(0));
        let (shared, hears) = (book.clone(), heard.clone());
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone(), hears.clone()));
            }
        });
        Self { address, book, heard, listening }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What the next requests to a path meet; later ones are taken.
    pub(crate) fn react(&self, path: &str, reactions: impl IntoIterator<Item = Reaction>) {
        self.book().reactions.entry(path.to_owned()).or_default().extend(reactions);
    }

    /// Everything that a path was told, what was not taken included.
    pub(crate) fn all(&self, path: &str) -> Vec<Told> {
        self.book().told.get(path).cloned().unwrap_or_default()
    }

    /// What a path has taken.
    pub(crate) fn taken(&self, path: &str) -> Vec<Told> {
        self.all(path).into_iter().filter(|told| told.taken).collect()
    }

    /// What a path has taken, once that is enough.
    pub(crate) async fn until(&self, path: &str, enough: impl Fn(&[Told]) -> bool) -> Vec<Told> {
        let mut heard = self.heard.subscribe();
        soon("what a webhook waits for", async {
            loop {
                heard.borrow_and_update();
                let taken = self.taken(path);
                if enough(&taken) {
                    return taken;
                }
                heard.changed().await.expect("the receiver is here");
            }
        })
        .await
    }

    /// What a path has taken, the end of its task included.
    pub(crate) async fn until_ended(&self, path: &str) -> Vec<Told> {
        self.until(path, |taken| taken.iter().any(|told| is_end(&told.json()))).await
    }

    /// Waits for so many requests to a path, taken or not.
    pub(crate) async fn requests(&self, path: &str, count: usize) {
        let mut heard = self.heard.subscribe();
        soon("a request to a webhook", async {
            while self.all(path).len() < count {
                heard.changed().await.expect("the receiver is here");
            }
        })
        .await;
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no panic")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// The state that a notice tells of, in whatever line.
pub(crate) fn state_of(notice: &Value) -> Option<&str> {
    let status =
        if notice.get("statusUpdate").is_some() { &notice["statusUpdate"] } else { notice };
    status["status"]["state"].as_str()
}

/// Whether a notice tells of the end of its task.
fn is_end(notice: &Value) -> bool {
    let ends = ["completed", "failed", "canceled", "rejected"];
    let state = state_of(notice).unwrap_or_default().to_ascii_lowercase();
    ends.iter().any(|end| state.ends_with(end))
}

/// Serves one connection until it is closed.
async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>, heard: watch::Sender<usize>) {
    let mut read = Vec::new();
    while let Some((path, headers, body)) = request(&mut stream, &mut read).await {
        let reaction = {
            let mut book = book.lock().expect("no panic");
            let next = book.reactions.get_mut(&path).and_then(VecDeque::pop_front);
            let reaction = next.unwrap_or(Reaction::Answer(200));
            let taken = match &reaction {
                Reaction::Answer(status) | Reaction::With(status, _) => *status / 100 == 2,
                Reaction::Long(_) | Reaction::Hold(_) => true,
                Reaction::Break => false,
            };
            book.told.entry(path).or_default().push(Told { headers, body, taken });
            reaction
        };
        heard.send_modify(|heard| *heard += 1);
        let (status, headers, length) = match reaction {
            Reaction::Answer(status) => (status, String::new(), 0),
            Reaction::With(status, headers) => (status, headers, 0),
            Reaction::Long(length) => (200, String::new(), length),
            Reaction::Break => return,
            Reaction::Hold(until) => {
                until.raised().await;
                (200, String::new(), 0)
            }
        };
        let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\n\r\n");
        let answer = [head.as_bytes(), &vec![b'x'; length]].concat();
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// Reads one request: its path, headers and body.
async fn request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
) -> Option<(String, HashMap<String, String>, Vec<u8>)> {
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(read[..end].to_vec()).expect("text");
            let mut lines = head.split("\r\n");
            let path = lines.next()?.split(' ').nth(1)?.to_owned();
            let headers: HashMap<String, String> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length = headers.get("content-length").map_or(0, |n| n.parse().expect("a length"));
            if read.len() >= end + 4 + length {
                let body = read[end + 4..end + 4 + length].to_vec();
                read.drain(..end + 4 + length);
                return Some((path, headers, body));
            }
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}
