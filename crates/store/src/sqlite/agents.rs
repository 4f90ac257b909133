//! What operators have decided about agents, in the file: rows that the server reads when it starts.

use super::SqliteStore;
use super::error::unavailable;
use super::ledger::Ledger;
use super::read::ReadError;
use super::record::Damaged;
use super::write::Written;
use super::writer::Work;
use a2ad_domain::ports::{AgentStore, KeptAgent, StoreError};
use a2ad_domain::{AgentId, RawJson};
use async_trait::async_trait;
use rusqlite::{Connection, params};

/// What is to be written.
pub(super) enum AgentWork {
    Keep(KeptAgent),
    Forget(AgentId),
}

impl AgentWork {
    pub(super) fn perform(&self, ledger: &Ledger) -> Result<Written, StoreError> {
        let file = &ledger.connection;
        let done = match self {
            Self::Keep(KeptAgent { id, description, published }) => {
                let body = description.as_ref().map(RawJson::as_str);
                let statement = "INSERT INTO agent (id, body, published) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE
                         SET body = excluded.body, published = excluded.published";
                file.prepare_cached(statement)
                    .and_then(|mut it| it.execute(params![id.as_str(), body, published]))
            }
            Self::Forget(id) => file
                .prepare_cached("DELETE FROM agent WHERE id = ?1")
                .and_then(|mut it| it.execute([id.as_str()])),
        };
        done.map_err(unavailable)?;
        Ok(Written::nothing())
    }
}

fn read(file: &Connection) -> Result<Vec<KeptAgent>, ReadError> {
    let mut statement = file.prepare_cached("SELECT id, body, published FROM agent ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut kept = Vec::new();
    while let Some(row) = rows.next()? {
        let id = AgentId::new(row.get_ref(0)?.as_str()?);
        let id = id.map_err(|e| Damaged::because("an agent of an id that cannot be")(e.into()))?;
        let body = row.get_ref(1)?.as_str_or_null()?;
        let description = body.map(RawJson::parse).transpose()?;
        kept.push(KeptAgent { id, description, published: row.get(2)? });
    }
    Ok(kept)
}

#[async_trait]
impl AgentStore for SqliteStore {
    async fn kept(&self) -> Result<Vec<KeptAgent>, StoreError> {
        self.read(|file| read(file).map_err(StoreError::Unavailable)).await
    }

    async fn keep(&self, agent: &KeptAgent) -> Result<(), StoreError> {
        let work = AgentWork::Keep(agent.clone());
        self.writer.ask(Work::Agent(work)).await.map(|_| ())
    }

    async fn forget(&self, id: &AgentId) -> Result<(), StoreError> {
        let work = AgentWork::Forget(id.clone());
        self.writer.ask(Work::Agent(work)).await.map(|_| ())
    }
}
