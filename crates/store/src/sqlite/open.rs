//! Opens the file: makes it, refuses what is not ours, and sets each connection up.

use super::claim::{Claim, beside};
use super::error::{Cause, OpenError};
use super::settings::{Durability, Settings};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The newest layout that this program knows, in `PRAGMA user_version`.
pub(super) const LAYOUT: i64 = 5;

/// What leads from each earlier layout to the next, the first one from version 1.
const UPGRADES: [&str; LAYOUT as usize - 1] = [
    include_str!("upgrade/from_1.sql"),
    include_str!("upgrade/from_2.sql"),
    include_str!("upgrade/from_3.sql"),
    include_str!("upgrade/from_4.sql"),
];

/// Says in the file's header whose it is: "a2ad" in ASCII.
const APPLICATION: i64 = 0x6132_6164;

/// Whoever else looks into the file, such as `sqlite3`, may hold a writer up for so long.
const BUSY: Duration = Duration::from_secs(5);

/// The connection that writes, and the claim on the file, which is dropped after it.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) claim: Claim,
}

pub(super) fn open(settings: &Settings) -> Result<Opened, OpenError> {
    let path = &settings.path;
    let failed = |cause| OpenError::new(path, cause);
    let claim = Claim::take(path).map_err(failed)?;
    let connection = writer(settings).map_err(failed)?;
    Ok(Opened { connection, claim })
}

fn writer(settings: &Settings) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&settings.path, flags)?;
    connection.busy_timeout(BUSY)?;
    // What another program has left in its log stays there when the file turns out to be that one's.
    let has_log = beside(&settings.path, "-wal").exists();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
    let layout = judge(&connection)?;
    if connection.is_readonly("main")? {
        return Err(Cause::ReadOnly);
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
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
