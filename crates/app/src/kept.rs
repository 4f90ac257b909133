//! Where tasks are kept: in memory, in a file, or in a store of the program that embeds the server.

use crate::config::{Config, ConfigError, DurabilityConfig, StoreKind};
use a2ad_domain::ports::{AgentStore, PushStore, StoreError, TaskStore};
use a2ad_domain::{TaskKey, causes};
use a2ad_store::{Capacity, Durability, MemoryAgents, MemoryStore, Settings, SqliteStore};
use std::error::Error;
use std::sync::Arc;

/// A store.
#[derive(Clone)]
pub(crate) enum Kept {
    Memory(Arc<MemoryStore>),
    File(Arc<SqliteStore>),
    Own(Arc<dyn TaskStore>),
}

impl Kept {
    /// The configured store.
    pub(crate) fn open(config: &Config) -> Result<Self, ConfigError> {
        let capacity = Capacity {
            tasks: config.store.max_tasks,
            bytes: config.store.max_bytes.0,
            log: config.limits.log,
        };
        match config.store.kind {
            StoreKind::Memory => Ok(Self::Memory(Arc::new(MemoryStore::new(capacity)))),
            StoreKind::Sqlite => {
                let durability = match config.store.durability {
                    DurabilityConfig::Process => Durability::Process,
                    DurabilityConfig::Power => Durability::Power,
                };
                let path = config.store.path.clone();
                let opened = SqliteStore::open(&Settings { path, durability, capacity });
                let problem =
                    |error: a2ad_store::OpenError| ConfigError::new("store", error.to_string());
                Ok(Self::File(Arc::new(opened.map_err(problem)?)))
            }
        }
    }

    pub(crate) fn port(&self) -> Arc<dyn TaskStore> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::File(store) => store.clone(),
            Self::Own(store) => store.clone(),
        }
    }

    /// Where webhooks are kept, where it is a place of the server's own.
    pub(crate) fn webhooks(&self) -> Option<Arc<dyn PushStore>> {
        match self {
            Self::Memory(store) => Some(store.clone()),
            Self::File(store) => Some(store.clone()),
            Self::Own(_) => None,
        }
    }

    /// Where operators' decisions about agents are kept: over the next start where tasks are.
    pub(crate) fn agents(&self) -> Arc<dyn AgentStore> {
        match self {
            Self::File(store) => store.clone(),
            Self::Memory(_) | Self::Own(_) => Arc::new(MemoryAgents::default()),
        }
    }

    /// How many tasks it holds, where that is known.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Memory(store) => Some(store.len()),
            Self::File(store) => Some(store.len()),
            Self::Own(_) => None,
        }
    }

    /// The tasks that an earlier process has left at work.
    pub(crate) async fn left(&self) -> Result<Vec<TaskKey>, StoreError> {
        match self {
            Self::File(store) => store.orphans().await,
            Self::Memory(_) | Self::Own(_) => Ok(Vec::new()),
        }
    }

    /// Why a server does not start on it: what was at work could not be read, or not be ended.
    pub(crate) fn unusable(&self, error: &(dyn Error + 'static)) -> std::io::Error {
        let (place, cause) = match self {
            Self::File(store) => (store.path().display().to_string(), causes(error)),
            Self::Memory(_) | Self::Own(_) => ("its store".to_owned(), causes(error)),
        };
        std::io::Error::other(format!(
            "cannot go on with the tasks in {place}: {cause}; see whether its disk has room and \
             works, restore a backup, or move the file away to begin anew"
        ))
    }
}
