//! Opens a store that another process may have open, without making a file that is not there.

use super::error::OpenError;
use super::open::judge;
use rusqlite::Connection;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is nothing to look at.
pub(super) enum Unopened {
    /// There is no file of that name.
    NoStore(PathBuf),
    /// It is not one of ours, or cannot be read.
    Store(OpenError),
}

/// The file, and the version of its layout if it has one. `connect` must need no lock of ours: that one keeps
/// two servers from one file.
pub(super) fn open_beside(
    path: &Path,
    connect: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
) -> Result<(Connection, Option<i64>), Unopened> {
    let unusable = |cause| Unopened::Store(OpenError::new(path, cause));
    // Looked at by name: connecting could make the file, and closing a handle of it would release the locks
    // that SQLite holds on it, should a store of this very process have it open.
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unopened::NoStore(path.to_path_buf()));
        }
        Err(error) => return Err(unusable(error.into())),
        Ok(_) => {}
    }
    let connection = connect(path).map_err(|error| unusable(error.into()))?;
    let layout = judge(&connection).map_err(unusable)?;
    Ok((connection, layout))
}

/// What to do where there is no store.
pub(super) fn say_no_store(path: &Path, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = path.display();
    write!(f, "there is no store in {path}; name the file that a server keeps its tasks in")
}
