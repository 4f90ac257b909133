//! A file that is read again when it has changed.

use std::fs::{File, Metadata};
use std::io::{Error, Read, Result};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a file holds, as it is now. Each look asks the system whether the file is still the one that was
/// read, which takes about a microsecond; so what is changed holds for the very next request, and nothing
/// has to be told about it.
pub(crate) struct Watched<T> {
    path: PathBuf,
    read: fn(&str) -> std::result::Result<T, String>,
    last: Mutex<Option<Seen<T>>>,
}

/// The file as it was when it was last read.
struct Seen<T> {
    /// `None` if it was not there.
    stamp: Option<Stamp>,
    /// `None` if it made no sense.
    held: Option<Arc<T>>,
}

/// What tells one state of a file from another. A file that takes the place of another has a number of its
/// own, so two changes within one tick of the file system's clock are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    length: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Of the file at a path; `None` if there is none.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).as_ref().map(Self::of).ok()
    }

    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            length: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl<T> Watched<T> {
    pub(crate) fn new(path: PathBuf, read: fn(&str) -> std::result::Result<T, String>) -> Self {
        Self { path, read, last: Mutex::new(None) }
    }

    /// What it holds now; `None` while it cannot be read or makes no sense. What it held before does not
    /// count then: what has been taken out of it must not go on being good because of a slip in the rest.
    pub(crate) fn now(&self) -> Option<Arc<T>> {
        let stamp = Stamp::at(&self.path);
        // Nothing panics while the lock is held, and a value that is there is whole.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = &*last
            && seen.stamp == stamp
        {
            return seen.held.clone();
        }
        let (stamp, held) = match load(&self.path, self.read) {
            Ok((stamp, read)) => (Some(stamp), Some(Arc::new(read))),
            Err(error) => {
                tracing::error!(%error, "nobody is let in by this file until it is mended");
                (stamp, None)
            }
        };
        *last = Some(Seen { stamp, held: held.clone() });
        held
    }
}

/// Reads a file. Whoever can write it could let themselves in, so that must be nobody but its owner.
pub(crate) fn load<T>(
    path: &Path,
    read: fn(&str) -> std::result::Result<T, String>,
) -> Result<(Stamp, T)> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let failed = |error: Error| Error::new(error.kind(), said(&error));
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & 0o022 != 0 {
        return Err(Error::other(said(&"others can write it; make it yours with chmod 600")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    let value = read(&text).map_err(|problem| Error::other(said(&problem)))?;
    Ok((Stamp::of(&metadata), value))
}
