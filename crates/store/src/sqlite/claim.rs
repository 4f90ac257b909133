//! Takes a file for this process alone. When the file is refused then, nothing is left behind of that.

use super::error::Cause;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A file that this process has to itself.
pub(super) struct Claim {
    /// Locked. It is a file beside the database: closing any handle of the database file itself would
    /// release the locks that SQLite holds on it.
    lock: File,
    made: Made,
}

impl Claim {
    /// Makes the folder and the file where they are missing, and takes the lock.
    pub(super) fn take(path: &Path) -> Result<Self, Cause> {
        let mut made = Made::default();
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            made.folder(folder)?;
        }
        let name = beside(path, "-lock");
        made.file(&name)?;
        let lock = private_file().open(&name)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Cause::InUse,
            TryLockError::Error(error) => Cause::Files(error),
        })?;
        if !is_at(&lock, &name) {
            // Another process was refused a moment ago, and has removed what is locked here.
            return Err(Cause::InUse);
        }
        // SQLite makes these itself, and what is there already belongs to the database.
        made.by_others(["-wal", "-shm"].map(|ending| beside(path, ending)));
        // SQLite takes an empty file for a new database, and gives its other files the same mode.
        made.file(path)?;
        Ok(Self { lock, made })
    }

    /// The file is good, so what was made stays. Gives the lock, which is to be held as long as the file
    /// is used.
    pub(super) fn keep(mut self) -> Lock {
        self.made.0.clear();
        Lock(self.lock)
    }
}

/// The lock of a file that is used. It is given back by name and not only by being closed: a program that the
/// process is just starting has a copy of every open file for a moment, and would hold the lock that long.
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is left then, which is as good but for that moment.
        let _ = self.0.unlock();
    }
}

/// What was made, which goes with this, the newest first.
#[derive(Default)]
struct Made(Vec<Thing>);

enum Thing {
    Folder(PathBuf),
    File(PathBuf),
}

impl Made {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<_> = folder.ancestors().take_while(|each| is_missing(each)).collect();
        private_folder().create(folder)?;
        self.0.extend(missing.into_iter().rev().map(|each| Thing::Folder(each.to_path_buf())));
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<()> {
        match private_file().create_new(true).open(path) {
            Ok(_) => {
                self.0.push(Thing::File(path.to_path_buf()));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What is missing now and made by others counts as well.
    fn by_others(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let missing = paths.into_iter().filter(|path| is_missing(path));
        self.0.extend(missing.map(Thing::File));
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for thing in self.0.drain(..).rev() {
            // What cannot be removed stays; why the file was refused is what has to be told.
            let _ = match thing {
                Thing::Folder(path) => std::fs::remove_dir(path),
                Thing::File(path) => std::fs::remove_file(path),
            };
        }
    }
}

fn is_missing(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path.symlink_metadata().is_err()
}

/// Whether this is the file of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let there = path.metadata().map(number).ok();
    there.is_some() && there == file.metadata().map(number).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
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
