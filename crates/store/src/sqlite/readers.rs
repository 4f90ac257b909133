//! A few threads that read, each with a connection of its own. A reader sees what was committed when its
//! transaction began, and neither waits for the writer nor makes it wait.

use super::error::closed;
use a2ad_domain::ports::StoreError;
use rusqlite::Connection;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce(&Connection) + Send>;

pub(super) struct Readers {
    /// `None` only while they are being dropped.
    queue: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        let start = |connection: Connection| {
            let jobs = jobs.clone();
            thread::Builder::new().name("sqlite-reader".into()).spawn(move || {
                // One of them waits for the queue and the others for the lock, which comes to the same.
                let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok(job) = next() {
                    job(&connection);
                }
            })
        };
        let threads = connections.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Self { queue: Some(queue), threads })
    }

    /// Reads something in one transaction, so that all of it is of one moment.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask_plainly(|connection| {
            let moment = connection.unchecked_transaction().map_err(super::error::unavailable)?;
            // It has written nothing, so how it ends does not matter.
            read(&moment)
        })
        .await
    }

    /// The same without a transaction, which some statements do not want.
    pub(super) async fn ask_plainly<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, done) = oneshot::channel();
        let job = Box::new(move |connection: &Connection| {
            // Whoever has asked may have left.
            let _ = answer.send(read(connection));
        });
        self.queue.as_ref().ok_or_else(closed)?.send(job).map_err(|_| closed())?;
        done.await.map_err(|_| closed())?
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread that reads the store has panicked");
            }
        }
    }
}
