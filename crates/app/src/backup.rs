//! A copy of the configured store, made beside the server that may be running on it.

use crate::config::{Config, StoreKind};
use crate::exit;
use a2ad_store::BackupError;
use std::path::Path;

/// Copies the configured store into a new file and says how many tasks there are in it.
///
/// # Errors
/// The code to end the process with, and a line that says what to do.
pub fn back_up(config: &Config, file: &Path) -> Result<usize, (u8, String)> {
    match config.store.kind {
        StoreKind::Memory => {
            let problem = "the configuration keeps tasks in memory, where only their server can read \
                           them; name the store that is meant, with --store sqlite:PATH or --config FILE";
            Err((exit::CONFIG, problem.to_owned()))
        }
        StoreKind::Sqlite => a2ad_store::back_up(&config.store.path, file).map_err(|error| {
            let code = match error {
                BackupError::NoStore(_) | BackupError::Store(_) => exit::CONFIG,
                BackupError::Exists(_) | BackupError::Target { .. } => exit::CANTCREAT,
            };
            (code, error.to_string())
        }),
    }
}
