//! What operators do about webhooks that were given up, beside the server that may have the file open: look,
//! and have it told after all. Both are one short transaction on rows that the server keeps nowhere else.

use crate::sqlite::beside::{Unopened, open_beside, say_no_store};
use crate::sqlite::error::OpenError;
use crate::sqlite::open::{LAYOUT, reader};
use a2ad_domain::Timestamp;
use rusqlite::{Connection, OpenFlags, params};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a server that is writing may hold this up.
const BUSY: Duration = Duration::from_secs(5);

/// A change that a webhook was not told of. What could be a secret is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The number of the webhook in the file.
    pub webhook: i64,
    /// The change.
    pub version: i64,
    /// The agent.
    pub agent: String,
    /// The id of the task.
    pub task: String,
    /// The id of the webhook.
    pub id: String,
    /// When it was given up.
    pub at: Timestamp,
    /// Why.
    pub why: String,
    /// Whether it is about to be told after all.
    pub again: bool,
}

/// Why letters cannot be read or sent again. Its text is one line that says what to do.
#[derive(Debug)]
pub enum LettersError {
    /// There is no store.
    NoStore(PathBuf),
    /// It is not one of ours, is older than this program, or cannot be read or written.
    Store(OpenError),
    /// It has been laid out by an earlier version, and no server has brought it up since.
    Older(PathBuf),
}

impl fmt::Display for LettersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore(path) => say_no_store(path, f),
            Self::Store(error) => error.fmt(f),
            Self::Older(path) => write!(
                f,
                "{} was written by an earlier version; start the server once, which brings it up",
                path.display()
            ),
        }
    }
}

impl std::error::Error for LettersError {}

impl From<Unopened> for LettersError {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::NoStore(path) => Self::NoStore(path),
            Unopened::Store(error) => Self::Store(error),
        }
    }
}

/// What was given up, the oldest first.
///
/// # Errors
/// [`LettersError`].
pub fn letters(store: &Path) -> Result<Vec<DeadLetter>, LettersError> {
    let file = open(store, reader)?;
    let read = || -> rusqlite::Result<Vec<DeadLetter>> {
        let mut statement = file.prepare(
            "SELECT webhook.number, letter.version, scope.agent, lower(hex(task.id)), webhook.id,
                 letter.at, letter.why, letter.again
             FROM letter JOIN webhook ON webhook.number = letter.webhook
                 JOIN task ON task.number = webhook.task JOIN scope ON scope.number = task.scope
             ORDER BY letter.at, letter.webhook, letter.version",
        )?;
        let letters = statement.query_map([], |row| {
            Ok(DeadLetter {
                webhook: row.get(0)?,
                version: row.get(1)?,
                agent: row.get(2)?,
                task: hyphenated(&row.get::<_, String>(3)?),
                id: row.get(4)?,
                at: Timestamp::from_millis(row.get(5)?),
                why: row.get(6)?,
                again: row.get(7)?,
            })
        })?;
        letters.collect()
    };
    read().map_err(|error| unusable(store, error))
}

/// Has everything told after all that was given up, or only that of one webhook; says how much that is. A
/// running server notices within a minute, another one when it starts.
///
/// # Errors
/// [`LettersError`].
pub fn send_again(store: &Path, webhook: Option<i64>) -> Result<usize, LettersError> {
    let file = open(store, |path| {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        Ok(connection)
    })?;
    let marked = file.execute(
        "UPDATE letter SET again = 1 WHERE again = 0 AND (?1 IS NULL OR webhook = ?1)",
        params![webhook],
    );
    marked.map_err(|error| unusable(store, error))
}

fn open(
    store: &Path,
    connect: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
) -> Result<Connection, LettersError> {
    let (file, layout) = open_beside(store, connect)?;
    if layout != Some(LAYOUT) {
        return Err(LettersError::Older(store.to_path_buf()));
    }
    Ok(file)
}

fn unusable(store: &Path, error: rusqlite::Error) -> LettersError {
    LettersError::Store(OpenError::new(store, error))
}

/// The text of an id that stands in the file as bytes.
fn hyphenated(hex: &str) -> String {
    let mut text = hex.to_owned();
    for place in [20, 16, 12, 8] {
        if text.len() > place {
            text.insert(place, '-');
        }
    }
    text
}
