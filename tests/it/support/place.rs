//! A folder for a store in a file. It is gone when the test ends.

use super::Folder;
use std::path::{Path, PathBuf};

/// The folder.
pub(crate) struct Place(Folder);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        Self(Folder::new(name))
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Where the store is, in a folder that the server makes.
    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("data/tasks.db")
    }

    /// The part of a configuration that says so.
    pub(crate) fn store(&self, durability: &str) -> String {
        format!(
            "[store]\nkind = \"sqlite\"\npath = \"{}\"\ndurability = \"{durability}\"\n",
            self.file().display()
        )
    }
}
