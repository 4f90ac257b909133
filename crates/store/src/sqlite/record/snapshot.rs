//! A task at one version, whole.

use super::change::artifact_id;
use super::content::{DetailsRecord, MessageRecord, PartRecord, parts_of, records_of};
use super::{Damaged, Text, carried_if, present, state_of};
use a2ad_domain::{
    Artifact, ContextId, RawJson, Task, TaskKey, TaskParts, Timestamp, TurnStart, Version,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::num::NonZeroU32;

/// What never changes of a task and therefore stands in its row only.
pub(in crate::sqlite) struct Row {
    pub(in crate::sqlite) key: TaskKey,
    pub(in crate::sqlite) context: ContextId,
    pub(in crate::sqlite) created: Timestamp,
}

/// The row has most of these as well, at the task's newest version; the snapshot may be older.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotRecord<'a> {
    version: i64,
    #[serde(borrow)]
    state: Text<'a>,
    status_at: i64,
    changed: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<i64>,
    parked: bool,
    /// Left out for a first attempt at a first turn, which is what most tasks are at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnRecord>,
    weight: usize,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    status_message: Option<MessageRecord<'a>>,
    #[serde(borrow)]
    history: Vec<MessageRecord<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ArtifactRecord<'a>>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    metadata: Option<&'a RawValue>,
}

/// How the newest turn began.
#[derive(Serialize, Deserialize)]
struct TurnRecord {
    message: usize,
    artifacts: usize,
    attempt: NonZeroU32,
}

impl TurnRecord {
    fn of(turn: TurnStart) -> Option<Self> {
        let TurnStart { message, artifacts, attempt } = turn;
        (turn != TurnStart::FIRST).then_some(Self { message, artifacts, attempt })
    }

    fn read(self) -> TurnStart {
        let Self { message, artifacts, attempt } = self;
        TurnStart { message, artifacts, attempt }
    }
}

/// The chunks stay apart, so that a task that was read is equal to the one that was written.
#[derive(Serialize, Deserialize)]
struct ArtifactRecord<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    details: Option<DetailsRecord<'a>>,
    #[serde(borrow)]
    chunks: Vec<Vec<PartRecord<'a>>>,
}

impl<'a> ArtifactRecord<'a> {
    fn of(artifact: &'a Artifact) -> Result<Self, Damaged> {
        Ok(Self {
            id: Text::of(artifact.id.as_str()),
            details: artifact.details.as_deref().map(DetailsRecord::of).transpose()?,
            chunks: artifact.chunks.iter().map(records_of).collect::<Result<_, _>>()?,
        })
    }

    fn read(self) -> Result<Artifact, Damaged> {
        Ok(Artifact {
            id: artifact_id(&self.id)?,
            details: self.details.map(|details| Box::new(details.read())),
            chunks: self.chunks.into_iter().map(parts_of).collect::<Result<_, _>>()?,
        })
    }
}

/// A version as the file knows it.
pub(super) fn number_of(version: Version) -> Result<i64, Damaged> {
    i64::try_from(version.0).map_err(|_| Damaged::new("no room for so large a version"))
}

/// A version as the domain knows it.
pub(super) fn version_of(number: i64) -> Result<Version, Damaged> {
    u64::try_from(number).map(Version).map_err(|_| Damaged::new("a version below zero"))
}

/// The snapshot of a task.
pub(in crate::sqlite) fn write_snapshot(task: &Task) -> Result<String, Damaged> {
    let history = task.history().iter().map(|message| MessageRecord::of(message));
    let record = SnapshotRecord {
        version: number_of(task.version())?,
        state: Text::of(task.state().name()),
        status_at: task.status_at().as_millis(),
        changed: task.changed().as_millis(),
        deadline: task.deadline().map(Timestamp::as_millis),
        parked: task.is_parked(),
        turn: TurnRecord::of(task.turn()),
        weight: task.weight(),
        status_message: task.status_message().map(|m| MessageRecord::of(m)).transpose()?,
        history: history.collect::<Result<_, _>>()?,
        artifacts: task.artifacts().iter().map(ArtifactRecord::of).collect::<Result<_, _>>()?,
        metadata: carried_if(task.metadata())?,
    };
    Ok(serde_json::to_string(&record)?)
}

/// The task of a snapshot.
pub(in crate::sqlite) fn read_snapshot(row: Row, body: &str) -> Result<Task, Damaged> {
    let record: SnapshotRecord<'_> = serde_json::from_str(body)?;
    let version = version_of(record.version)?;
    let history = record.history.into_iter().map(MessageRecord::read);
    let artifacts = record.artifacts.into_iter().map(ArtifactRecord::read);
    let parts = TaskParts {
        key: row.key,
        context: row.context,
        version,
        created: row.created,
        deadline: record.deadline.map(Timestamp::from_millis),
        changed: Timestamp::from_millis(record.changed),
        state: state_of(&record.state.0)?,
        status_at: Timestamp::from_millis(record.status_at),
        status_message: record.status_message.map(MessageRecord::read).transpose()?,
        parked: record.parked,
        turn: record.turn.map_or(TurnStart::FIRST, TurnRecord::read),
        history: history.collect::<Result<_, _>>()?,
        artifacts: artifacts.collect::<Result<_, _>>()?,
        metadata: record.metadata.map(RawJson::new),
        weight: record.weight,
    };
    Task::restore(parts).map_err(|e| Damaged::because("a snapshot of no task")(e.into()))
}
