//! Messages, parts and what artifacts say about themselves, as they stand in the file.

use super::{Damaged, Text, carried, carried_if, present};
use a2ad_domain::{Content, Details, Message, MessageId, Part, PartLabel, Parts, RawJson, Role};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
enum RoleRecord {
    #[serde(rename = "user")]
    User,
    #[serde(rename = "agent")]
    Agent,
}

#[derive(Serialize, Deserialize)]
pub(super) struct MessageRecord<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    role: RoleRecord,
    #[serde(borrow)]
    parts: Vec<PartRecord<'a>>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    references: Vec<Text<'a>>,
}

/// Exactly one of the first four is there.
#[derive(Serialize, Deserialize)]
pub(super) struct PartRecord<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    /// In Base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    url: Option<Text<'a>>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    data: Option<&'a RawValue>,
    /// A member of its own, so that a label that says nothing comes back as one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    label: Option<LabelRecord<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LabelRecord<'a> {
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    media_type: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    filename: Option<Text<'a>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DetailsRecord<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    name: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    description: Option<Text<'a>>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Text<'a>>,
}

fn texts(names: &[Arc<str>]) -> Vec<Text<'_>> {
    names.iter().map(|name| Text::of(name)).collect()
}

fn names(texts: &[Text<'_>]) -> Box<[Arc<str>]> {
    texts.iter().map(Text::shared).collect()
}

impl<'a> MessageRecord<'a> {
    pub(super) fn of(message: &'a Message) -> Result<Self, Damaged> {
        Ok(Self {
            id: Text::of(message.id.as_str()),
            role: match message.role {
                Role::User => RoleRecord::User,
                Role::Agent => RoleRecord::Agent,
            },
            parts: records_of(&message.parts)?,
            metadata: carried_if(message.metadata.as_ref())?,
            extensions: texts(&message.extensions),
            references: texts(&message.references),
        })
    }

    pub(super) fn read(self) -> Result<Arc<Message>, Damaged> {
        let id = MessageId::new(self.id.shared());
        Ok(Arc::new(Message {
            id: id.map_err(|e| Damaged::because("a message without a valid id")(e.into()))?,
            role: match self.role {
                RoleRecord::User => Role::User,
                RoleRecord::Agent => Role::Agent,
            },
            parts: parts_of(self.parts)?,
            metadata: self.metadata.map(RawJson::new),
            extensions: names(&self.extensions),
            references: names(&self.references),
        }))
    }
}

pub(super) fn records_of(parts: &Parts) -> Result<Vec<PartRecord<'_>>, Damaged> {
    parts.as_slice().iter().map(PartRecord::of).collect()
}

pub(super) fn parts_of(records: Vec<PartRecord<'_>>) -> Result<Parts, Damaged> {
    let parts = records.into_iter().map(PartRecord::read).collect::<Result<_, _>>()?;
    Parts::new(parts).ok_or(Damaged::new("a list of no parts"))
}

impl<'a> PartRecord<'a> {
    fn of(part: &'a Part) -> Result<Self, Damaged> {
        let label = part.label.as_deref().map(LabelRecord::of).transpose()?;
        let mut record = Self { text: None, bytes: None, url: None, data: None, label };
        match &part.content {
            Content::Text(text) => record.text = Some(Text::of(text)),
            Content::Bytes(bytes) => record.bytes = Some(Text(Cow::Owned(STANDARD.encode(bytes)))),
            Content::Url(url) => record.url = Some(Text::of(url)),
            Content::Data(data) => record.data = Some(carried(data)?),
        }
        Ok(record)
    }

    fn read(self) -> Result<Part, Damaged> {
        let content = match (self.text, self.bytes, self.url, self.data) {
            (Some(text), None, None, None) => Content::Text(text.shared()),
            (None, Some(bytes), None, None) => {
                let decoded = STANDARD.decode(bytes.0.as_bytes());
                let decoded =
                    decoded.map_err(|e| Damaged::because("bytes that are not Base64")(e.into()))?;
                Content::Bytes(decoded.into())
            }
            (None, None, Some(url), None) => Content::Url(url.shared()),
            (None, None, None, Some(data)) => Content::Data(RawJson::new(data)),
            _ => return Err(Damaged::new("a part that is not of exactly one kind")),
        };
        let label = self.label.map(|label| Box::new(label.read()));
        Ok(Part { content, label })
    }
}

impl<'a> LabelRecord<'a> {
    fn of(label: &'a PartLabel) -> Result<Self, Damaged> {
        Ok(Self {
            metadata: carried_if(label.metadata.as_ref())?,
            media_type: label.media_type.as_deref().map(Text::of),
            filename: label.filename.as_deref().map(Text::of),
        })
    }

    fn read(self) -> PartLabel {
        PartLabel {
            metadata: self.metadata.map(RawJson::new),
            media_type: self.media_type.as_ref().map(Text::shared),
            filename: self.filename.as_ref().map(Text::shared),
        }
    }
}

impl<'a> DetailsRecord<'a> {
    pub(super) fn of(details: &'a Details) -> Result<Self, Damaged> {
        Ok(Self {
            name: details.name.as_deref().map(Text::of),
            description: details.description.as_deref().map(Text::of),
            metadata: carried_if(details.metadata.as_ref())?,
            extensions: texts(&details.extensions),
        })
    }

    pub(super) fn read(self) -> Details {
        Details {
            name: self.name.as_ref().map(Text::shared),
            description: self.description.as_ref().map(Text::shared),
            metadata: self.metadata.map(RawJson::new),
            extensions: names(&self.extensions),
        }
    }
}
