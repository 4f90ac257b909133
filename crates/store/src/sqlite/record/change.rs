//! One change as one row.

use super::content::{DetailsRecord, MessageRecord, PartRecord, parts_of, records_of};
use super::{Damaged, Text, carried_if, present, state_of};
use a2ad_domain::{
    ArtifactId, ArtifactUpdate, Change, RawJson, Recorded, StatusChange, StatusDetails, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A row of the table `change` without its task.
pub(in crate::sqlite) struct ChangeRow {
    pub(in crate::sqlite) version: i64,
    pub(in crate::sqlite) at: i64,
    pub(in crate::sqlite) kind: &'static str,
    pub(in crate::sqlite) body: String,
}

const MESSAGE: &str = "message";
const STATUS: &str = "status";
const ARTIFACT: &str = "artifact";

#[derive(Serialize, Deserialize)]
struct StatusRecord<'a> {
    #[serde(borrow)]
    state: Text<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageRecord<'a>>,
    parked: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    details: Option<StatusDetailsRecord<'a>>,
}

#[derive(Serialize, Deserialize)]
struct StatusDetailsRecord<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<i64>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    metadata: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<NonZeroU32>,
}

#[derive(Serialize, Deserialize)]
struct PieceRecord<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    parts: Vec<PartRecord<'a>>,
    append: bool,
    last: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    details: Option<DetailsRecord<'a>>,
}

impl<'a> StatusRecord<'a> {
    fn of(status: &'a StatusChange) -> Result<Self, Damaged> {
        let details = status.details.as_deref().map(|details| {
            Ok::<_, Damaged>(StatusDetailsRecord {
                deadline: details.deadline.map(Timestamp::as_millis),
                metadata: carried_if(details.metadata.as_ref())?,
                attempt: details.attempt,
            })
        });
        Ok(Self {
            state: Text::of(status.state.name()),
            message: status.message.as_deref().map(MessageRecord::of).transpose()?,
            parked: status.parked,
            details: details.transpose()?,
        })
    }

    fn read(self) -> Result<StatusChange, Damaged> {
        Ok(StatusChange {
            state: state_of(&self.state.0)?,
            message: self.message.map(MessageRecord::read).transpose()?,
            parked: self.parked,
            details: self.details.map(|details| {
                Box::new(StatusDetails {
                    deadline: details.deadline.map(Timestamp::from_millis),
                    metadata: details.metadata.map(RawJson::new),
                    attempt: details.attempt,
                })
            }),
        })
    }
}

impl<'a> PieceRecord<'a> {
    fn of(piece: &'a ArtifactUpdate) -> Result<Self, Damaged> {
        Ok(Self {
            id: Text::of(piece.id.as_str()),
            parts: records_of(&piece.parts)?,
            append: piece.append,
            last: piece.last,
            details: piece.details.as_deref().map(DetailsRecord::of).transpose()?,
        })
    }

    fn read(self) -> Result<ArtifactUpdate, Damaged> {
        Ok(ArtifactUpdate {
            id: artifact_id(&self.id)?,
            parts: parts_of(self.parts)?,
            append: self.append,
            last: self.last,
            details: self.details.map(|details| Box::new(details.read())),
        })
    }
}

pub(super) fn artifact_id(text: &Text<'_>) -> Result<ArtifactId, Damaged> {
    let id = ArtifactId::new(text.shared());
    id.map_err(|e| Damaged::because("an artifact without a valid id")(e.into()))
}

/// The row of a change.
pub(in crate::sqlite) fn write_change(recorded: &Recorded) -> Result<ChangeRow, Damaged> {
    let (kind, body) = match &recorded.change {
        Change::Message(message) => (MESSAGE, serde_json::to_string(&MessageRecord::of(message)?)?),
        Change::Status(status) => (STATUS, serde_json::to_string(&StatusRecord::of(status)?)?),
        Change::Artifact(piece) => (ARTIFACT, serde_json::to_string(&PieceRecord::of(piece)?)?),
    };
    let version = super::snapshot::number_of(recorded.version)?;
    Ok(ChangeRow { version, at: recorded.at.as_millis(), kind, body })
}

/// The change of a row.
pub(in crate::sqlite) fn read_change(
    version: i64,
    at: i64,
    kind: &str,
    body: &str,
) -> Result<Recorded, Damaged> {
    let change = match kind {
        MESSAGE => Change::Message(serde_json::from_str::<MessageRecord<'_>>(body)?.read()?),
        STATUS => Change::Status(serde_json::from_str::<StatusRecord<'_>>(body)?.read()?),
        ARTIFACT => {
            Change::Artifact(Arc::new(serde_json::from_str::<PieceRecord<'_>>(body)?.read()?))
        }
        _ => return Err(Damaged::new("a change of no known kind")),
    };
    let version = super::snapshot::version_of(version)?;
    Ok(Recorded { version, at: Timestamp::from_millis(at), change })
}
