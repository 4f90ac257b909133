//! What a dialect has no place for, as `docs/dialects.md` says: everything else comes back.

use crate::dialect::shape::{PartStyle, Shape};
use a2ad_domain::{Content, Message, Part, PartLabel, Parts};

/// The message as it comes back.
pub(super) fn message(message: &Message, shape: &Shape) -> Message {
    let references = if shape.references { message.references.clone() } else { Box::default() };
    Message { parts: parts(&message.parts, shape), references, ..message.clone() }
}

pub(super) fn parts(parts: &Parts, shape: &Shape) -> Parts {
    let parts = parts.as_slice().iter().map(|part| self::part(part, shape)).collect();
    Parts::new(parts).expect("as many as before")
}

pub(super) fn part(part: &Part, shape: &Shape) -> Part {
    let mut label = part.label.as_deref().cloned().unwrap_or_default();
    let flat = shape.part == PartStyle::Flat;
    match &part.content {
        Content::Bytes(_) | Content::Url(_) => {}
        Content::Text(_) | Content::Data(_) if flat => {}
        // Only files have a type and a name.
        Content::Text(_) => (label.media_type, label.filename) = (None, None),
        Content::Data(data) => {
            (label.media_type, label.filename) = (None, None);
            // The mark of wrapped data takes an empty object with it.
            if !data.is_object() {
                label.metadata = label.metadata.filter(|metadata| metadata.as_str() != "{}");
            }
        }
    }
    let label = (label != PartLabel::default()).then(|| Box::new(label));
    Part { content: part.content.clone(), label }
}
