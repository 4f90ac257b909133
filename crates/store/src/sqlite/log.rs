//! The table `change`. A row stands at its task's number and its version in one, so that the log of a task
//! is one stretch of the table and no index has to be written beside it.

use super::read::ReadError;
use super::record::{ChangeRow, read_change};
use a2ad_domain::Recorded;
use rusqlite::{Connection, params};

/// About how many bytes a change takes in the file beside its text.
pub(super) const CHANGE: i64 = 64;

/// How many bits of a row's number are its version; `schema.sql` takes the number apart again. They are
/// enough for a change a millisecond over three days, and leave enough for 34,000,000,000 tasks.
const VERSION: u32 = 28;

/// The numbers that the changes of a task can have lie after `first` and up to `last`.
#[derive(Clone, Copy)]
struct Stretch {
    first: i64,
    last: i64,
}

impl Stretch {
    fn of(task: i64) -> rusqlite::Result<Self> {
        let most = i64::MAX >> VERSION;
        if !(0..=most).contains(&task) {
            return Err(rusqlite::Error::IntegralValueOutOfRange(0, task));
        }
        let first = task << VERSION;
        Ok(Self { first, last: first | ((1 << VERSION) - 1) })
    }

    /// The number of the change that led to a version. Another task's log begins where this one would go
    /// on after too many, so that must fail.
    fn at(self, version: i64) -> rusqlite::Result<i64> {
        let number = self.first.checked_add(version).filter(|_| version >= 0);
        let out = rusqlite::Error::IntegralValueOutOfRange(0, version);
        number.filter(|number| *number <= self.last).ok_or(out)
    }

    /// The same, or the last one where there cannot be such a change.
    fn up_to(self, version: i64) -> i64 {
        self.at(version).unwrap_or(self.last)
    }
}

/// Writes changes of a task.
pub(super) fn insert(file: &Connection, task: i64, rows: &[ChangeRow]) -> rusqlite::Result<()> {
    let stretch = Stretch::of(task)?;
    let mut statement =
        file.prepare_cached("INSERT INTO change (number, at, kind, body) VALUES (?1, ?2, ?3, ?4)")?;
    for row in rows {
        statement.execute(params![stretch.at(row.version)?, row.at, row.kind, row.body])?;
    }
    Ok(())
}

/// The changes of a task after a version, at most so many, in their order.
pub(super) fn after(
    file: &Connection,
    task: i64,
    version: i64,
    limit: i64,
) -> Result<Vec<Recorded>, ReadError> {
    let stretch = Stretch::of(task)?;
    let mut statement = file.prepare_cached(
        "SELECT version, at, kind, body FROM change
         WHERE number > ?1 AND number <= ?2 ORDER BY number LIMIT ?3",
    )?;
    let mut rows = statement.query(params![stretch.up_to(version), stretch.last, limit])?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, body) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
        changes.push(read_change(row.get(0)?, row.get(1)?, kind, body)?);
    }
    Ok(changes)
}

/// Removes the changes of a task up to a version; says how much they weighed.
pub(super) fn forget(file: &Connection, task: i64, upto: i64) -> rusqlite::Result<i64> {
    let stretch = Stretch::of(task)?;
    let (first, last) = (stretch.first, stretch.up_to(upto));
    let freed: i64 = file
        .prepare_cached(
            "SELECT coalesce(sum(octet_length(body) + ?3), 0) FROM change
             WHERE number > ?1 AND number <= ?2",
        )?
        .query_row(params![first, last, CHANGE], |row| row.get(0))?;
    remove_between(file, first, last)?;
    Ok(freed)
}

/// Removes all changes of a task.
pub(super) fn remove(file: &Connection, task: i64) -> rusqlite::Result<()> {
    let stretch = Stretch::of(task)?;
    remove_between(file, stretch.first, stretch.last)
}

fn remove_between(file: &Connection, first: i64, last: i64) -> rusqlite::Result<()> {
    let mut statement =
        file.prepare_cached("DELETE FROM change WHERE number > ?1 AND number <= ?2")?;
    statement.execute([first, last]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::{Stretch, VERSION};

    #[test]
    fn logs_of_tasks_stand_one_after_the_other_and_never_meet() {
        let (this, next) = (Stretch::of(7).unwrap(), Stretch::of(8).unwrap());
        let last = (1 << VERSION) - 1;
        assert_eq!(this.at(last).unwrap(), this.last);
        assert_eq!(this.last + 1, next.first);
        assert!(this.at(last + 1).is_err());
        assert!(this.at(-1).is_err());
        assert_eq!(this.up_to(i64::MAX), this.last);
    }

    #[test]
    fn a_number_that_no_row_can_have_is_refused() {
        assert!(Stretch::of(-1).is_err());
        assert!(Stretch::of(1 << (63 - VERSION)).is_err());
        assert_eq!(Stretch::of((1 << (63 - VERSION)) - 1).unwrap().last, i64::MAX);
    }
}
