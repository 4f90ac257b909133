//! A folder for a store in a file. It is gone when the test ends.

use std::path::{Path, PathBuf};

/// The folder.
pub(crate) struct Place(PathBuf);

impl Place {
    /// An empty folder; `name` tells the places of one process apart.
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("a2ad-place-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
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

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
