//! The file that keys are kept in, for whoever makes and revokes them.

use super::super::owner;
use super::super::watched::load;
use super::Key;
use super::record::{self, Digest, KeyRecord};
use a2ad_domain::{AgentId, Timestamp};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file of keys.
pub struct KeyFile(PathBuf);

impl KeyFile {
    /// The file at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// What is in it.
    ///
    /// # Errors
    /// When it cannot be read or makes no sense.
    pub fn records(&self) -> Result<Vec<KeyRecord>> {
        load(&self.0, record::read).map(|(_, records)| records)
    }

    /// Adds a key for `owner`, and makes the file if there is none.
    ///
    /// # Errors
    /// When the owner's name makes no sense, or the file cannot be changed.
    pub fn create(
        &self,
        owner: &str,
        agents: Option<Vec<AgentId>>,
        created: Timestamp,
    ) -> Result<Key> {
        if owner::of_key(owner).is_none() {
            let problem = "an owner's name is a short text without control characters";
            return Err(Error::new(ErrorKind::InvalidInput, problem));
        }
        let key = Key::random()?;
        self.change(|records| {
            records.push(KeyRecord {
                id: key.id().to_owned(),
                owner: owner.to_owned(),
                digest: Digest::of(key.reveal()),
                created,
                agents,
                revoked: None,
            });
            Ok(())
        })?;
        Ok(key)
    }

    /// Revokes a key for good. It stays in the file, so that it can be seen whose it was.
    ///
    /// # Errors
    /// When there is no such key, or the file cannot be changed.
    pub fn revoke(&self, id: &str, revoked: Timestamp) -> Result<()> {
        self.change(|records| {
            let record = records.iter_mut().find(|record| record.id == id);
            let unknown = || Error::new(ErrorKind::InvalidInput, format!("there is no key {id}"));
            let record = record.ok_or_else(unknown)?;
            record.revoked.get_or_insert(revoked);
            Ok(())
        })
    }

    /// Changes it as a whole: who reads it sees all of a change or nothing. Two changes at once come one
    /// after the other, since each holds the lock of the folder.
    fn change(&self, change: impl FnOnce(&mut Vec<KeyRecord>) -> Result<()>) -> Result<()> {
        let said =
            |error: Error| Error::new(error.kind(), format!("{}: {error}", self.0.display()));
        let folder = match self.0.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(said)?;
        let folder = File::open(folder).map_err(said)?;
        folder.lock().map_err(said)?;
        let mut records = match self.records() {
            Ok(records) => records,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        change(&mut records)?;
        let mut name = self.0.clone().into_os_string();
        name.push(".new");
        let new = PathBuf::from(name);
        // Left by a change that was cut off; nobody else is at it, since the lock is ours.
        let _ = std::fs::remove_file(&new);
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
        let written = written.and_then(|mut file| {
            file.write_all(record::write(&records).as_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&new, &self.0)).map_err(said)?;
        folder.sync_all().map_err(said)
    }
}
