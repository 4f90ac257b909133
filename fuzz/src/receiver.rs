//! Whoever is behind webhooks, within the process: hears what would be sent, and answers as the URL says.

use a2ad_domain::ports::{Clock, Notice, PushSender, Undelivered};
use a2ad_domain::{PushConfig, PushConfigId, TaskId};
use a2ad_http::fuzzing::notification;
use a2ad_http::webhook::{Client, Lookup, Rules, Sender, Target};
use async_trait::async_trait;
use axum::http::HeaderMap;
use futures_util::future::{BoxFuture, ready};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A name below this one leads to a private address, one below the next to no address at all.
const INSIDE: &str = "inside.example";
const NOWHERE: &str = "nowhere.example";

/// How long a slow one takes.
const SLOW: Duration = Duration::from_secs(3);

/// One attempt to tell a webhook something.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) config: PushConfig,
    pub(crate) task: String,
    pub(crate) version: u64,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// When it began, in the order of all that happens here.
    pub(crate) at: usize,
    /// When there was nothing more to say about it: it has arrived, or will not be taken.
    pub(crate) settled: Option<usize>,
}

/// The receiver.
pub(crate) struct Receiver {
    sender: Sender,
    clock: Arc<dyn Clock>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    heard: Vec<Heard>,
    /// How often each webhook was called.
    calls: HashMap<(TaskId, PushConfigId), usize>,
    /// How much has happened.
    ticks: usize,
}

struct Names;

impl Lookup for Names {
    fn addresses<'l>(&'l self, name: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>> {
        let name = name.trim_end_matches('.');
        Box::pin(ready(match name {
            _ if name.ends_with(NOWHERE) => Err(io::Error::other("no such name")),
            _ if name.ends_with(INSIDE) => Ok(vec![Ipv4Addr::new(10, 0, 0, 1).into()]),
            _ => Ok(vec![Ipv4Addr::new(93, 184, 215, 14).into()]),
        }))
    }
}

/// What says which webhooks may be called, with names of its own.
pub(crate) fn client() -> Client {
    Client::new(Rules::default(), Arc::new(Names))
}

impl Receiver {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let sender = Sender::new(client(), 4, 2, clock.clone());
        Self { sender, clock, book: Mutex::default() }
    }

    /// Everything so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.book().heard.clone()
    }

    /// How much has happened so far.
    pub(crate) fn ticks(&self) -> usize {
        self.book().ticks
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an attempt down; its place, and the letter of its answer.
    fn begins(&self, config: &PushConfig, notice: &Notice) -> (usize, u8) {
        let url = config.url.reveal();
        assert!(Target::parse(url, &Rules::default()).is_ok(), "called and must not be: {url}");
        let (headers, body) = notification(&self.sender, config, notice);
        let mut book = self.book();
        book.ticks += 1;
        let at = book.ticks;
        let (task, version) = notice.subject();
        let calls = book.calls.entry((task.id, config.id.clone())).or_default();
        let answer = letter(url, *calls);
        *calls += 1;
        let (config, task) = (config.clone(), task.id.to_string());
        let version = version.0;
        book.heard.push(Heard { config, task, version, headers, body, at, settled: None });
        (book.heard.len() - 1, answer)
    }

    fn settled(&self, place: usize) {
        let mut book = self.book();
        book.ticks += 1;
        book.heard[place].settled = Some(book.ticks);
    }
}

#[async_trait]
impl PushSender for Receiver {
    async fn send(&self, config: &PushConfig, notice: &Notice) -> Result<(), Undelivered> {
        let (place, answer) = self.begins(config, notice);
        let refused = |retry| Err(Undelivered { why: "says so".to_owned(), retry });
        if answer == b'b' {
            return refused(Some(Duration::ZERO));
        }
        if answer == b's' {
            self.clock.sleep(SLOW).await;
        }
        self.settled(place);
        if answer == b'g' { refused(None) } else { Ok(()) }
    }
}

/// What a webhook says to a call: the letters of the last piece of its path in turn: `b` for one that is busy,
/// `s` for one that takes its time, `g` for one that does not want it.
fn letter(url: &str, call: usize) -> u8 {
    let path = url.rsplit('/').next().unwrap_or_default().as_bytes();
    path.get(call % path.len().max(1)).copied().unwrap_or_default()
}
