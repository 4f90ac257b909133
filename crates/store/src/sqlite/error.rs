//! Why a file could not be opened or copied, and what a store's failures are called in the port.

use a2ad_domain::ports::StoreError;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why there is no store in a file. Its text is one line that names the path, the cause and what to do.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    cause: Cause,
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum Cause {
    /// It is something else than a database.
    NotADatabase,
    /// It is a database of another program.
    Foreign,
    /// Its layout is newer than this program knows.
    Newer {
        /// The version of its layout.
        version: i64,
    },
    /// Another store has it open.
    InUse,
    /// It can be read and not written.
    ReadOnly,
    /// The folder or a file cannot be made or opened.
    Files(std::io::Error),
    /// The disk is full, or does not do what it is told.
    Disk(rusqlite::Error),
    /// The database cannot be opened or set up.
    Database(rusqlite::Error),
    /// What stands in it makes no sense.
    Content(Box<dyn Error + Send + Sync>),
}

impl OpenError {
    pub(super) fn new(path: &Path, cause: impl Into<Cause>) -> Self {
        Self { path: path.to_path_buf(), cause: cause.into() }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot keep tasks in {}: ", self.path.display())?;
        match &self.cause {
            Cause::NotADatabase => {
                f.write_str("it is not a database; name another file or move this one away")
            }
            Cause::Foreign => f.write_str(
                "it is a database of another program; name another file or move this one away",
            ),
            Cause::Newer { version } => write!(
                f,
                "its layout has version {version} and this program knows versions up to {}; use \
                 the newer program or another file",
                super::open::LAYOUT
            ),
            Cause::InUse => {
                f.write_str("another process has it open; stop that process or name another file")
            }
            Cause::ReadOnly => f.write_str("it is read-only; let this user write it"),
            Cause::Files(error) => {
                write!(f, "{error}; let this user read and write the file and its folder")
            }
            Cause::Disk(error) => {
                write!(f, "{error}; make room on the disk, or see whether it works")
            }
            Cause::Content(error) => {
                write!(f, "{error}; restore a backup, or move the file away to begin anew")
            }
            Cause::Database(error) => {
                write!(f, "{error}; restore a backup, or move the file away to begin anew")
            }
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            Cause::Files(error) => Some(error),
            Cause::Disk(error) | Cause::Database(error) => Some(error),
            Cause::Content(error) => Some(&**error),
            Cause::NotADatabase
            | Cause::Foreign
            | Cause::Newer { .. }
            | Cause::InUse
            | Cause::ReadOnly => None,
        }
    }
}

impl From<std::io::Error> for Cause {
    fn from(error: std::io::Error) -> Self {
        Self::Files(error)
    }
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(rusqlite::ErrorCode::ReadOnly) => Self::ReadOnly,
            // Nobody else of us has it, but somebody who reads it with a tool may write as well.
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Self::InUse
            }
            Some(rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::SystemIoFailure) => {
                Self::Disk(error)
            }
            Some(rusqlite::ErrorCode::CannotOpen) => Self::Files(std::io::Error::other(error)),
            _ => Self::Database(error),
        }
    }
}

/// A failure that every request of one transaction is told of.
#[derive(Clone, Debug)]
pub(super) struct Lost(Arc<dyn Error + Send + Sync>);

impl Lost {
    pub(super) fn new(error: Box<dyn Error + Send + Sync>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the transaction was not committed: {}", self.0)
    }
}

impl Error for Lost {
    /// What this says already is not a cause of it.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// A failure as the port calls it.
pub(super) fn unavailable(error: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// A thread of the store that is gone, which happens only when the store is being closed.
pub(super) fn closed() -> StoreError {
    unavailable("the store is closed")
}
