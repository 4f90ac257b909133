//! A server that is killed and started again, and says where it lives now.

use super::client::message_id;
use super::stored::ok;
use super::told::Told;
use crate::drain::process::Process;
use crate::support::Place;
use crate::support::agents::soon;
use crate::support::caller::{Message, id};
use crate::support::chance::Chance;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use tokio::sync::watch;

/// After how many further answers and events it is killed.
const KILLED_AFTER: Range<u64> = 200..3_200;

/// The time from one start of the server to the next.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) number: usize,
    pub(super) base: String,
    /// Whether no kill comes that clients could see.
    pub(super) is_last: bool,
}

pub(super) struct Mortal<'a> {
    place: &'a Place,
    /// `None` before the first.
    life: watch::Sender<Option<Life>>,
    /// How many lives have ended, counted before the kill: whoever loses a connection to one that has not
    /// ended has found something else than a kill.
    ended: Cell<usize>,
    /// How much clients have heard.
    heard: watch::Sender<u64>,
}

impl<'a> Mortal<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        let (life, heard) = (watch::Sender::new(None), watch::Sender::new(0));
        Self { place, life, ended: Cell::new(0), heard }
    }

    /// Lives and is killed `kills` times; hands out the process of the life after these.
    pub(super) async fn live(&self, kills: usize, mut chance: Chance, told: &Told) -> Process {
        let mut process = self.start().await;
        for number in 0..kills {
            // Whatever the others do, a task is at work when the kill comes.
            let hangs = Message::new("hang").blocking(false).params();
            told.sent(message_id(&hangs));
            let task = ok(&process, "message/send", hangs.clone()).await;
            told.taken(message_id(&hangs), id(&task));
            told.stands(&task);
            self.begin(number, &process, false);
            self.hear(chance.draw(&KILLED_AFTER)).await;
            process = self.kill_and_start(process).await;
            told.count(|counts| counts.kills += 1);
        }
        self.begin(kills, &process, true);
        process
    }

    /// Waits for so many more answers and events. However slow the machine is, there is always a next one.
    async fn hear(&self, more: u64) {
        let mut heard = self.heard.subscribe();
        let goal = *heard.borrow_and_update() + more;
        while *heard.borrow_and_update() < goal {
            soon("an answer or an event", heard.changed()).await.expect("the sender is here");
        }
    }

    async fn start(&self) -> Process {
        let agent = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
        Process::start(&(self.place.store("process") + agent), "error").await
    }

    fn begin(&self, number: usize, process: &Process, is_last: bool) {
        let base = process.base().to_owned();
        self.life.send_replace(Some(Life { number, base, is_last }));
    }

    /// Kills the process, looks at the file that it leaves, and starts the next.
    pub(super) async fn kill_and_start(&self, mut process: Process) -> Process {
        self.ended.set(self.ended.get() + 1);
        process.kill();
        let (status, output) = process.ended().await;
        assert_eq!(status.code(), None, "it was not the kill that ended it: {output}");
        let mut errors = output.lines().filter(|line| line.contains("ERROR"));
        let unexpected = errors.find(|line| !line.contains("told to fail"));
        assert_eq!(unexpected, None);
        self.is_sound();
        self.start().await
    }

    /// Looks at a copy: whoever opens the file after a crash repairs it, and that is for the server to do.
    fn is_sound(&self) {
        let (file, copy) = (self.place.file(), self.place.folder().join("copy.db"));
        for ending in ["", "-wal"] {
            let named = |path: &Path| format!("{}{ending}", path.display());
            std::fs::copy(named(&file), named(&copy)).expect("a copy of what the process has left");
        }
        assert_eq!(integrity(&copy), "ok");
    }

    /// The life that clients can call in now. One that has ended is waited out, so that nobody calls an
    /// address that may be somebody else's by now.
    pub(super) async fn alive(&self) -> Life {
        let mut life = self.life.subscribe();
        let alive =
            |life: &Option<Life>| life.as_ref().is_some_and(|life| life.number >= self.ended.get());
        let found = soon("the next life of the server", life.wait_for(alive)).await;
        found.expect("the sender is here").clone().expect("a life")
    }

    /// Whether no kill comes that clients could see.
    pub(super) fn is_in_its_last_life(&self) -> bool {
        self.life.borrow().as_ref().is_some_and(|life| life.is_last)
    }

    /// Fails unless connections of this life have had to break.
    pub(super) fn has_ended(&self, life: usize, how: &dyn std::fmt::Debug) {
        assert!(life < self.ended.get(), "a connection broke without a kill: {how:?}");
    }

    /// Counts an answer or an event.
    pub(super) fn heard(&self) {
        self.heard.send_modify(|heard| *heard += 1);
    }
}

/// What SQLite says of the whole file.
pub(crate) fn integrity(file: &Path) -> String {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(file, flags).expect("a database");
    let check = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    check.expect("a result")
}
