//! A copy of the file while it is in use.

use super::open::{beside, private_file};
use super::read::ReadError;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Writes what is committed now into a new file. It has its name only when it is whole and on the disk, so
/// a copy that was interrupted is not taken for one.
pub(super) fn back_up(connection: &Connection, path: &Path) -> Result<(), ReadError> {
    let partial = beside(path, "-partial");
    let done = copy(connection, path, &partial);
    if done.is_err() {
        // The reason is reported; a file that cannot even be removed says nothing new.
        let _ = fs::remove_file(&partial);
    }
    done
}

fn copy(connection: &Connection, path: &Path, partial: &Path) -> Result<(), ReadError> {
    if path.try_exists()? {
        return Err(format!("{} exists already; name a new file", path.display()).into());
    }
    // Made here for its mode. SQLite writes into an empty file, and into no other.
    let file = private_file().create(true).truncate(true).open(partial)?;
    let name = partial.to_str().ok_or("the name of a copy must be UTF-8")?;
    connection.execute("VACUUM INTO ?1", [name])?;
    file.sync_all()?;
    fs::rename(partial, path)?;
    Ok(())
}
