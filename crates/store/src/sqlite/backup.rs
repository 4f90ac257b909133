//! A copy of the file while it is in use, by the store that has it open or from beside it.

use super::beside::{Unopened, open_beside, say_no_store};
use super::claim::{beside, private_file};
use super::error::OpenError;
use super::open::reader;
use rusqlite::{Connection, ErrorCode};
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no copy. Its text is one line that names the path, the cause and what to do.
#[derive(Debug)]
pub enum BackupError {
    /// There is nothing to copy.
    NoStore(PathBuf),
    /// What is to be copied is not one of ours, or cannot be read.
    Store(OpenError),
    /// There is a file of the copy's name, which is left alone.
    Exists(PathBuf),
    /// The copy cannot be written.
    Target {
        /// The copy.
        path: PathBuf,
        /// What went wrong.
        error: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore(path) => say_no_store(path, f),
            Self::Store(error) => error.fmt(f),
            Self::Exists(path) => {
                write!(f, "{} exists already; name a new file", path.display())
            }
            Self::Target { path, error } => write!(
                f,
                "cannot write {}: {error}; name a new file in a folder that has room and that this \
                 user can write",
                path.display()
            ),
        }
    }
}

impl Error for BackupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Target { error, .. } => Some(&**error),
            Self::NoStore(_) | Self::Exists(_) => None,
        }
    }
}

impl From<Unopened> for BackupError {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::NoStore(path) => Self::NoStore(path),
            Unopened::Store(error) => Self::Store(error),
        }
    }
}

/// Copies the store in the file `from` into the new file `to`, beside the process that has it open, if there
/// is one, and without stopping it. Says how many tasks there are in the copy.
///
/// # Errors
/// [`BackupError`]; there is no file `to` then, or it is the one that was there before.
pub fn back_up(from: &Path, to: &Path) -> Result<usize, BackupError> {
    let (connection, layout) = open_beside(from, reader)?;
    if layout.is_none() {
        return Err(BackupError::NoStore(from.to_path_buf()));
    }
    copy(&connection, from, to)
}

/// Writes what is committed now into a new file. It has its name only when it is whole and on the disk, so
/// a copy that was interrupted is not taken for one.
pub(super) fn copy(connection: &Connection, from: &Path, to: &Path) -> Result<usize, BackupError> {
    let target =
        |error: Box<dyn Error + Send + Sync>| BackupError::Target { path: to.to_path_buf(), error };
    match to.symlink_metadata() {
        Ok(_) => return Err(BackupError::Exists(to.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(target(error.into())),
    }
    // Another process that writes the same copy has a file of its own.
    let partial = beside(to, &format!("-partial-{}", std::process::id()));
    // Made here for its mode. SQLite writes into an empty file, and into no other.
    let file = private_file().create_new(true).open(&partial).map_err(|e| target(e.into()))?;
    let done = write(connection, &file, &partial).map_err(|error| match error {
        Failure::Source(error) => BackupError::Store(OpenError::new(from, error)),
        Failure::Target(error) => target(error),
    });
    let done = done.and_then(|tasks| {
        // A link is refused where there is a file of the name, however late that came to be; a change of
        // the name would replace it.
        fs::hard_link(&partial, to).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                BackupError::Exists(to.to_path_buf())
            } else {
                target(error.into())
            }
        })?;
        Ok(tasks)
    });
    // When that is not possible the copy is good all the same, or there is a reason to report already.
    let _ = fs::remove_file(&partial);
    let tasks = done?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let synced = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    synced.map_err(|error| target(error.into()))?;
    Ok(tasks)
}

/// Whose fault it is that nothing was written.
enum Failure {
    Source(rusqlite::Error),
    Target(Box<dyn Error + Send + Sync>),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Source(error),
            _ => Self::Target(error.into()),
        }
    }
}

fn write(connection: &Connection, file: &File, partial: &Path) -> Result<usize, Failure> {
    let utf8 = || Failure::Target("the name must be UTF-8".into());
    connection.execute("VACUUM INTO ?1", [partial.to_str().ok_or_else(utf8)?])?;
    let written = reader(partial)?;
    let tasks: i64 = written.query_row("SELECT count(*) FROM task", [], |row| row.get(0))?;
    drop(written);
    file.sync_all().map_err(|error| Failure::Target(error.into()))?;
    Ok(usize::try_from(tasks).unwrap_or_default())
}
