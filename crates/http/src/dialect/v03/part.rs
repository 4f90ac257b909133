//! Reads one part of a 0.3 message: what it is follows from its kind and from its members, which must
//! agree (specification 0.3 §6.5).

use super::decode::object;
use crate::dialect::Invalid;
use crate::dialect::text::{Borrowed, Object, Shared};
use a2ad_domain::{Content, Part, PartLabel, RawJson};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A part as it is sent. Beside the 0.3 members it takes the flat ones of 1.0, which clients mix in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartIn<'a> {
    #[serde(borrow)]
    kind: Option<Borrowed<'a>>,
    /// The discriminator of the time before 0.2. Its presence tells that this is no 0.3 part.
    #[serde(rename = "type")]
    foreign: Option<IgnoredAny>,
    text: Option<Shared>,
    #[serde(borrow)]
    file: Option<Object<FileIn<'a>>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    raw: Option<Borrowed<'a>>,
    url: Option<Shared>,
    media_type: Option<Shared>,
    filename: Option<Shared>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

/// A file as it is sent, under any of the names that the specification itself has used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileIn<'a> {
    #[serde(borrow)]
    bytes: Option<Borrowed<'a>>,
    #[serde(borrow)]
    file_with_bytes: Option<Borrowed<'a>>,
    #[serde(borrow)]
    data: Option<Borrowed<'a>>,
    uri: Option<Shared>,
    file_with_uri: Option<Shared>,
    mime_type: Option<Shared>,
    media_type: Option<Shared>,
    name: Option<Shared>,
    filename: Option<Shared>,
}

/// Standard or URL-safe, padded or not.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

pub(super) fn part(given: PartIn<'_>, index: usize) -> Result<Part, Invalid> {
    let at = |member: &str, problem: &str| {
        let dot = if member.is_empty() { "" } else { "." };
        Invalid::new(format!("message.parts[{index}]{dot}{member}"), problem)
    };
    if given.foreign.is_some() && given.kind.is_none() {
        return Err(at("kind", "is required; `type` is not a member of a part"));
    }
    let mut label = PartLabel {
        metadata: object(given.metadata, &format!("message.parts[{index}].metadata"))?,
        media_type: given.media_type.map(|Shared(text)| text),
        filename: given.filename.map(|Shared(text)| text),
    };
    let mut found = Vec::with_capacity(1);
    if let Some(Shared(text)) = given.text {
        found.push(("text", Content::Text(text)));
    }
    if let Some(Object(file)) = given.file {
        found.push(("file", self::file(file, &mut label).map_err(|problem| at("file", problem))?));
    }
    if let Some(bytes) = given.raw {
        let bytes = base64(&bytes.0).map_err(|problem| at("raw", problem))?;
        found.push(("file", Content::Bytes(bytes)));
    }
    if let Some(Shared(url)) = given.url {
        found.push(("file", Content::Url(url)));
    }
    if let Some(data) = given.data {
        let data = RawJson::new(data);
        if !data.is_object() {
            return Err(at("data", "must be an object"));
        }
        found.push(("data", Content::Data(data)));
    }
    let kind = given.kind.as_ref().map(|kind| &*kind.0);
    if kind.is_some_and(|kind| !["text", "file", "data"].contains(&kind)) {
        return Err(at("kind", "must be \"text\", \"file\" or \"data\""));
    }
    let Some((member, content)) = found.pop() else {
        return Err(at(kind.unwrap_or(""), "is required"));
    };
    if !found.is_empty() {
        return Err(at("", "must hold one content, not several"));
    }
    if kind.is_some_and(|kind| kind != member) {
        return Err(at("kind", "contradicts the content"));
    }
    let label = (label != PartLabel::default()).then(|| Box::new(label));
    Ok(Part { content, label })
}

fn file(given: FileIn<'_>, label: &mut PartLabel) -> Result<Content, &'static str> {
    label.media_type =
        given.mime_type.or(given.media_type).map(|Shared(text)| text).or(label.media_type.take());
    label.filename =
        given.name.or(given.filename).map(|Shared(text)| text).or(label.filename.take());
    let bytes = [given.bytes, given.file_with_bytes, given.data];
    let uris = [given.uri, given.file_with_uri];
    let mut bytes = bytes.into_iter().flatten();
    let mut uris = uris.into_iter().flatten();
    let content = match (bytes.next(), uris.next()) {
        (Some(bytes), None) => Content::Bytes(base64(&bytes.0)?),
        (None, Some(Shared(uri))) => Content::Url(uri),
        (None, None) => return Err("needs bytes or uri"),
        (Some(_), Some(_)) => return Err("must not have both bytes and uri"),
    };
    if bytes.next().is_some() || uris.next().is_some() {
        return Err("names its content twice");
    }
    Ok(content)
}

fn base64(text: &str) -> Result<Bytes, &'static str> {
    let url_safe = text.bytes().any(|byte| byte == b'-' || byte == b'_');
    let alphabet = if url_safe { &URL_SAFE } else { &STANDARD };
    let bytes = GeneralPurpose::new(alphabet, LENIENT).decode(text);
    bytes.map(Bytes::from).map_err(|_| "is not base64")
}
