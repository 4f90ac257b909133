//! Who did what: a line for every request of an operator, and of whoever was not let in as one. It names what
//! was done to what, and holds nothing of what was sent.

use super::operation::{Found, Operation};
use crate::json;
use a2ad_domain::Timestamp;
use a2ad_domain::ports::Clock;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes the lines: to the log, with the target `audit`, and to a file if there is one.
pub struct Audit {
    clock: Arc<dyn Clock>,
    /// A line is written with one call while this is held, so lines do not mix.
    file: Option<Mutex<File>>,
}

/// One line.
pub(super) struct Entry<'a> {
    pub(super) operation: &'static str,
    /// What it is about: the id of an agent or a task.
    pub(super) subject: Option<String>,
    /// Nobody, if nobody was let in.
    pub(super) operator: Option<&'a str>,
    pub(super) peer: Option<IpAddr>,
    pub(super) status: u16,
    /// What was said about the tasks of an agent that is withdrawn.
    pub(super) tasks: Option<&'static str>,
    pub(super) canceled: Option<usize>,
}

impl Entry<'_> {
    pub(super) fn of(found: &Found) -> Self {
        let (operation, subject) = match found {
            Found::Operation(operation) => (operation.name(), operation.subject()),
            Found::OtherVerbs(_) | Found::Nothing => ("none", None),
        };
        let (tasks, canceled) = (None, None);
        Self { operation, subject, operator: None, peer: None, status: 0, tasks, canceled }
    }

    fn outcome(&self) -> &'static str {
        match self.status {
            200..=299 => "done",
            500.. => "failed",
            _ => "refused",
        }
    }
}

impl Audit {
    /// Writes to the log, and to the end of the file at `path` if there is one. A file that is not there is
    /// made, for the server's user only.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: Option<&Path>, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let open = |path| OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = path.map(open).transpose()?.map(Mutex::new);
        Ok(Self { clock, file })
    }

    /// The time that lines are given.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn write(&self, entry: &Entry<'_>) {
        let Entry { operation, status, canceled, .. } = *entry;
        let (subject, operator) = (entry.subject.as_deref(), entry.operator);
        let (outcome, tasks) = (entry.outcome(), entry.tasks);
        let peer = entry.peer.map(|peer| peer.to_string());
        let peer = peer.as_deref();
        tracing::info!(
            target: "audit", operation, subject, operator, peer, outcome, status, tasks, canceled
        );
        let Some(file) = &self.file else { return };
        let mut line = Vec::with_capacity(256);
        json::object(&mut line, |o| {
            o.displayed("at", self.now());
            o.string("operation", operation);
            o.maybe("subject", subject);
            o.maybe("operator", operator);
            o.maybe("peer", peer);
            o.string("outcome", outcome);
            o.plain("status", status);
            o.maybe("tasks", tasks);
            if let Some(canceled) = canceled {
                o.plain("canceled", canceled);
            }
        });
        line.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = append(&mut file, &line) {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}

/// Writes a line as a whole or not at all: the next one must not go on where this one broke off.
fn append(file: &mut File, line: &[u8]) -> io::Result<()> {
    let mut written = 0;
    while written < line.len() {
        match file.write(&line[written..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(more) if more > 0 => written += more,
            failed => {
                if written > 0 {
                    // What is no ordinary file has no end to take back; there it stays half.
                    let _ = file
                        .metadata()
                        .and_then(|it| file.set_len(it.len().saturating_sub(written as u64)));
                }
                return failed.and(Err(ErrorKind::WriteZero.into()));
            }
        }
    }
    Ok(())
}

impl Operation {
    /// What it is done to, in the words of the request: the id of an agent or a task.
    fn subject(&self) -> Option<String> {
        match self {
            Self::ListAgents | Self::AddAgent | Self::ListTasks => None,
            Self::GetAgent(id)
            | Self::ChangeAgent(id)
            | Self::RemoveAgent(id)
            | Self::Publish(id)
            | Self::Unpublish(id) => Some(id.to_string()),
            Self::GetTask(id) | Self::CancelTask(id) => Some(id.to_string()),
        }
    }
}
