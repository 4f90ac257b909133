//! What is kept of a key: one line of JSON.

use super::super::{Caller, owner};
use a2ad_domain::{AgentId, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// The SHA-256 of a key. A slow hash is for secrets that people make up and others can guess; a key has 256
/// random bits, and guessing one by its hash is as hopeless as guessing it outright.
#[derive(Clone)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
        Self(bytes)
    }

    fn parse(text: &str) -> Option<Self> {
        STANDARD_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

/// Takes the same time wherever two digests differ.
impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// What is kept of a key.
#[derive(Clone)]
pub struct KeyRecord {
    /// What the key is called in lists. No secret.
    pub id: String,
    /// Whom it belongs to.
    pub owner: String,
    pub(super) digest: Digest,
    /// When it was made.
    pub created: Timestamp,
    /// The agents that it is for; `None` for every one.
    pub agents: Option<Vec<AgentId>>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

impl KeyRecord {
    /// Who shows the key.
    pub(super) fn caller(&self) -> Option<Caller> {
        let caller = Caller::new(owner::of_key(&self.owner)?);
        Some(match &self.agents {
            Some(agents) => caller.only(agents.as_slice()),
            None => caller,
        })
    }
}

/// The form of a line.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    owner: String,
    sha256: String,
    created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked: Option<String>,
}

/// The records of a file; an error names the line and holds nothing of it.
pub(super) fn read(text: &str) -> Result<Vec<KeyRecord>, String> {
    let mut records: Vec<KeyRecord> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |problem: &str| format!("line {}: {problem}", index + 1);
        let record = serde_json::from_str(line).ok().and_then(record);
        let record = record.ok_or_else(|| wrong("is no key; see the description of auth.keys"))?;
        if records.iter().any(|known| known.id == record.id) {
            return Err(wrong("has the id of an earlier line; remove one of them"));
        }
        records.push(record);
    }
    Ok(records)
}

fn record(line: Line) -> Option<KeyRecord> {
    let agents = line.agents.map(|agents| agents.into_iter().map(AgentId::new).collect());
    let revoked = line.revoked.map(|time| Timestamp::parse(&time));
    let record = KeyRecord {
        id: line.id,
        digest: Digest::parse(&line.sha256)?,
        created: Timestamp::parse(&line.created).ok()?,
        agents: agents.transpose().ok()?,
        revoked: revoked.transpose().ok()?,
        owner: line.owner,
    };
    owner::of_key(&record.owner).map(|_| record)
}

/// The text of a file with these records.
pub(super) fn write(records: &[KeyRecord]) -> String {
    let line = |record: &KeyRecord| {
        let agents = record.agents.as_ref();
        let line = Line {
            id: record.id.clone(),
            owner: record.owner.clone(),
            sha256: STANDARD_NO_PAD.encode(record.digest.0),
            created: record.created.to_string(),
            agents: agents.map(|agents| agents.iter().map(ToString::to_string).collect()),
            revoked: record.revoked.map(|time| time.to_string()),
        };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    };
    records.iter().map(line).collect()
}
