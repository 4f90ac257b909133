//! Opens the file: makes it, refuses what is not ours, and sets each connection up.

use super::error::{Cause, OpenError};
use super::settings::{Durability, Settings};
use rusqlite::{Connection, OpenFlags};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The newest layout that this program knows, in `PRAGMA user_version`.
pub(super) const LAYOUT: i64 = 2;

/// What leads from each earlier layout to the next, the first one from version 1.
const UPGRADES: [&str; LAYOUT as usize - 1] = [include_str!("upgrade/from_1.sql")];

/// Says in the file's header whose it is: "a2ad" in ASCII.
const APPLICATION: i64 = 0x6132_6164;

/// Whoever else looks into the file, such as `sqlite3`, may hold a writer up for so long.
const BUSY: Duration = Duration::from_secs(5);

/// The connection that writes, and the lock that it has the file to itself with.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// Held as long as the store lives. It is a file beside the database: closing any handle of the
    /// database file itself would release the locks that SQLite holds on it.
    pub(super) lock: File,
}

pub(super) fn open(settings: &Settings) -> Result<Opened, OpenError> {
    let path = &settings.path;
    let failed = |cause| OpenError::new(path, cause);
    let lock = claim(path).map_err(failed)?;
    let connection = writer(settings).map_err(failed)?;
    Ok(Opened { connection, lock })
}

/// Makes the folder and the file where they are missing, and takes the lock.
fn claim(path: &Path) -> Result<File, Cause> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folder().create(folder)?;
    }
    let lock = private_file().create(true).open(beside(path, "-lock"))?;
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Cause::InUse,
        TryLockError::Error(error) => Cause::Files(error),
    })?;
    match private_file().create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        // SQLite takes an empty file for a new database, and gives its other files the same mode.
        Ok(_) | Err(_) => Ok(lock),
    }
}

/// The path of a file that belongs to another one.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// What tasks say is nobody else's business.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn writer(settings: &Settings) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&settings.path, flags)?;
    connection.busy_timeout(BUSY)?;
    let layout = judge(&connection)?;
    if connection.is_readonly("main")? {
        return Err(Cause::ReadOnly);
    }
    if layout.is_none() {
        // It cannot be set any more once there are tables.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    match settings.durability {
        Durability::Process => connection.pragma_update(None, "synchronous", "NORMAL")?,
        Durability::Power => {
            connection.pragma_update(None, "synchronous", "FULL")?;
            // Where it exists, nothing less makes the disk write.
            connection.pragma_update(None, "fullfsync", true)?;
        }
    }
    // In pages. The longer the log, the more often a page was written again before it is copied.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 4_096, |_| Ok(()))?;
    // What a burst has left of the log is given back when it was written into the file.
    connection.pragma_update_and_check(None, "journal_size_limit", 64 << 20, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    match layout {
        None => lay_out(&connection)?,
        Some(version) => upgrade(&connection, version)?,
    }
    Ok(connection)
}

/// The version of the file's layout, `None` for a new file; refuses one that is not ours, before anything
/// is written.
pub(super) fn judge(connection: &Connection) -> Result<Option<i64>, Cause> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, layout) = (number("application_id")?, number("user_version")?);
    let objects = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    match (application, layout) {
        // Also a file that was being made when the process ended: the layout is one transaction.
        (0, 0) if objects == 0 => Ok(None),
        (APPLICATION, version @ 1..=LAYOUT) => Ok(Some(version)),
        (APPLICATION, version) if version > LAYOUT => Err(Cause::Newer { version }),
        _ => Err(Cause::Foreign),
    }
}

fn lay_out(connection: &Connection) -> Result<(), rusqlite::Error> {
    let layout = connection.unchecked_transaction()?;
    layout.execute_batch(include_str!("schema.sql"))?;
    layout.pragma_update(None, "application_id", APPLICATION)?;
    layout.pragma_update(None, "user_version", LAYOUT)?;
    layout.commit()
}

/// Brings a file of an earlier version up to this one, or leaves it as it was: it is one transaction.
fn upgrade(connection: &Connection, from: i64) -> Result<(), rusqlite::Error> {
    if from == LAYOUT {
        return Ok(());
    }
    let upgrade = connection.unchecked_transaction()?;
    for (step, version) in UPGRADES.iter().zip(1..) {
        if version >= from {
            upgrade.execute_batch(step)?;
        }
    }
    upgrade.pragma_update(None, "user_version", LAYOUT)?;
    upgrade.commit()?;
    tracing::info!(from, to = LAYOUT, "the store's file has a new layout");
    Ok(())
}

/// A connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "cache_size", -4_096)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
