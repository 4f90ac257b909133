//! What it takes to keep bytes in SQLite before anybody is told of them, with as little as can be: one table
//! without an index, one thread that commits whatever has queued up, the log written ahead. Nothing can be
//! found there again; it is the least that a durable server on SQLite costs.

use rusqlite::Connection;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use tokio::sync::oneshot;

/// What is to be kept, and whom to tell.
type Entry = (Vec<u8>, oneshot::Sender<()>);

/// The thread, from outside.
#[derive(Clone)]
pub(crate) struct Log(mpsc::Sender<Entry>);

impl Log {
    /// A log in a new file.
    pub(crate) fn create(path: &Path) -> rusqlite::Result<Self> {
        let file = Connection::open(path)?;
        file.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        file.pragma_update(None, "synchronous", "NORMAL")?;
        // As the server has it.
        file.pragma_update_and_check(None, "wal_autocheckpoint", 4_096, |_| Ok(()))?;
        file.execute_batch("CREATE TABLE log (number INTEGER PRIMARY KEY, body BLOB NOT NULL)")?;
        let (queue, entries) = mpsc::channel();
        thread::spawn(move || {
            if let Err(error) = keep(&file, &entries) {
                eprintln!("the log cannot be written: {error}");
            }
        });
        Ok(Self(queue))
    }

    /// Is ready when it is committed.
    pub(crate) async fn keep(&self, body: Vec<u8>) -> io::Result<()> {
        let gone = || io::Error::other("the thread that writes is gone");
        let (tell, told) = oneshot::channel();
        self.0.send((body, tell)).map_err(|_| gone())?;
        told.await.map_err(|_| gone())
    }
}

fn keep(file: &Connection, entries: &mpsc::Receiver<Entry>) -> rusqlite::Result<()> {
    while let Ok(first) = entries.recv() {
        // Those who are about to ask are let in, as the server does it.
        thread::yield_now();
        let group = file.unchecked_transaction()?;
        let mut waiting = Vec::new();
        for (body, tell) in std::iter::once(first).chain(entries.try_iter()) {
            group.prepare_cached("INSERT INTO log (body) VALUES (?1)")?.execute([body])?;
            waiting.push(tell);
        }
        group.commit()?;
        for tell in waiting {
            // Whoever asked may have left.
            let _ = tell.send(());
        }
    }
    Ok(())
}
