//! A folder of a test's own, for stores in files.
#![allow(dead_code, unreachable_pub)] // Each test file is a crate of its own and uses its part of this.

use a2ad_store::{Durability, Settings, SqliteStore};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("a2ad-store-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Opens the store in this folder, or makes it.
    pub fn open(&self, durability: Durability) -> SqliteStore {
        let settings = Settings { durability, ..Settings::at(self.path("tasks.db")) };
        SqliteStore::open(&settings).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
