//! What messages and artifacts hold. The shapes are those of the 1.0 line (specification 1.0 §4.1);
//! text is shared, so a part that is in the history, in an artifact and in a stream exists once.

use crate::ids::{ArtifactId, MessageId};
use crate::raw_json::RawJson;
use bytes::Bytes;
use std::sync::Arc;

/// The content of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(Arc<str>),
    /// A file, inline.
    Bytes(Bytes),
    /// A file, by reference. The server never fetches it.
    Url(Arc<str>),
    /// Structured data.
    Data(RawJson),
}

/// What a part may say about its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartLabel {
    /// Free-form members; always an object.
    pub metadata: Option<RawJson>,
    /// The media type of the content.
    pub media_type: Option<Arc<str>>,
    /// The file's name.
    pub filename: Option<Arc<str>>,
}

/// One part of a message or an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it holds.
    pub content: Content,
    /// What it says about that; boxed, since most parts say nothing.
    pub label: Option<Box<PartLabel>>,
}

impl Part {
    /// A plain text part.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self { content: Content::Text(text.into()), label: None }
    }

    /// A structured part.
    #[must_use]
    pub fn data(data: RawJson) -> Self {
        Self { content: Content::Data(data), label: None }
    }

    /// The text of a plain text part: one that may be joined with its neighbours.
    #[must_use]
    pub fn plain_text(&self) -> Option<&str> {
        match (&self.content, &self.label) {
            (Content::Text(text), None) => Some(text),
            _ => None,
        }
    }

    /// About how many bytes the part keeps alive.
    #[must_use]
    pub fn weight(&self) -> usize {
        let content = match &self.content {
            Content::Text(text) | Content::Url(text) => text.len(),
            Content::Bytes(bytes) => bytes.len(),
            Content::Data(data) => data.as_str().len(),
        };
        let label = self.label.as_ref().map_or(0, |label| {
            64 + label.metadata.as_ref().map_or(0, |m| m.as_str().len())
                + label.media_type.as_ref().map_or(0, |m| m.len())
                + label.filename.as_ref().map_or(0, |f| f.len())
        });
        size_of::<Part>() + content + label
    }
}

/// One or more parts (specification 1.0 §5.7), shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Arc<[Part]>);

impl Parts {
    /// Takes a list of parts; `None` when it is empty.
    #[must_use]
    pub fn new(mut parts: Vec<Part>) -> Option<Self> {
        match parts.len() {
            0 => None,
            // The common case, in one allocation.
            1 => parts.pop().map(Self::one),
            _ => Some(Self(parts.into())),
        }
    }

    /// A single part.
    #[must_use]
    pub fn one(part: Part) -> Self {
        Self(Arc::new([part]))
    }

    /// A single plain text part.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::one(Part::text(text))
    }

    /// The parts in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Part] {
        &self.0
    }

    /// About how many bytes the parts keep alive.
    #[must_use]
    pub fn weight(&self) -> usize {
        16 + self.0.iter().map(Part::weight).sum::<usize>()
    }
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The client.
    User,
    /// The agent.
    Agent,
}

/// One message. Which task and context it belongs to is where it is kept, so it cannot disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id, made by its sender.
    pub id: MessageId,
    /// Who wrote it.
    pub role: Role,
    /// What it says.
    pub parts: Parts,
    /// Free-form members; always an object.
    pub metadata: Option<RawJson>,
    /// URIs of the extensions that it uses.
    pub extensions: Box<[Arc<str>]>,
    /// Ids of other tasks that it refers to, as the sender wrote them.
    pub references: Box<[Arc<str>]>,
}

impl Message {
    /// A message with nothing but parts.
    #[must_use]
    pub fn new(id: MessageId, role: Role, parts: Parts) -> Self {
        let (extensions, references) = (Box::default(), Box::default());
        Self { id, role, parts, metadata: None, extensions, references }
    }

    /// About how many bytes the message keeps alive.
    #[must_use]
    pub fn weight(&self) -> usize {
        let names: usize =
            self.extensions.iter().chain(&self.references).map(|name| name.len() + 32).sum();
        let metadata = self.metadata.as_ref().map_or(0, |m| m.as_str().len());
        size_of::<Message>() + self.id.as_str().len() + self.parts.weight() + names + metadata
    }
}

/// What an artifact says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// A name for people.
    pub name: Option<Arc<str>>,
    /// A description for people.
    pub description: Option<Arc<str>>,
    /// Free-form members; always an object.
    pub metadata: Option<RawJson>,
    /// URIs of the extensions that it uses.
    pub extensions: Box<[Arc<str>]>,
}

impl Details {
    /// These details with what `newer` sets.
    #[must_use]
    pub fn merged(&self, newer: &Details) -> Details {
        let metadata = match (&self.metadata, &newer.metadata) {
            (Some(old), Some(new)) => Some(old.merged(new)),
            (old, new) => new.clone().or_else(|| old.clone()),
        };
        let extensions =
            if newer.extensions.is_empty() { &self.extensions } else { &newer.extensions };
        Details {
            name: newer.name.clone().or_else(|| self.name.clone()),
            description: newer.description.clone().or_else(|| self.description.clone()),
            metadata,
            extensions: extensions.clone(),
        }
    }
}

/// One result of a task, as the chunks that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its id, unique in the task.
    pub id: ArtifactId,
    /// What it says about itself; boxed, since most say nothing.
    pub details: Option<Box<Details>>,
    /// The chunks in the order they were written. Appending costs the chunk, not the artifact.
    pub chunks: Vec<Parts>,
}

impl Artifact {
    /// The parts of all chunks. Neighbouring plain texts belong together: a reader joins them.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.chunks.iter().flat_map(|chunk| chunk.as_slice())
    }
}
