//! Reads one part of a 0.3 message: what it is follows from its kind and from its members, which must
//! agree (specification 0.3 §6.5).

use crate::dialect::input::object;
use crate::dialect::part::{Found, base64, labelled, wrong};
use crate::dialect::shape::{PartStyle, Shape};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Invalid, compat};
use a2ad_domain::{Content, Part, PartLabel, RawJson};
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
    #[serde(borrow, alias = "file_with_bytes")]
    file_with_bytes: Option<Borrowed<'a>>,
    #[serde(borrow)]
    data: Option<Borrowed<'a>>,
    uri: Option<Shared>,
    #[serde(alias = "file_with_uri")]
    file_with_uri: Option<Shared>,
    mime_type: Option<Shared>,
    /// The name in the protocol buffers. Elsewhere it is a slip that is passed over.
    #[serde(rename = "mime_type")]
    proto_mime_type: Option<Shared>,
    media_type: Option<Shared>,
    name: Option<Shared>,
    filename: Option<Shared>,
}

pub(super) fn part(given: PartIn<'_>, index: usize, shape: &Shape) -> Result<Part, Invalid> {
    let at = |member: &str, problem: &str| wrong(index, member, problem);
    if given.foreign.is_some() && given.kind.is_none() {
        return Err(at("kind", "is required; `type` is not a member of a part"));
    }
    let mut label = PartLabel {
        metadata: object(given.metadata, &format!("message.parts[{index}].metadata"))?,
        media_type: given.media_type.map(|Shared(text)| text),
        filename: given.filename.map(|Shared(text)| text),
    };
    let mut found = Found::default();
    if let Some(Shared(text)) = given.text {
        found.add("text", Content::Text(text));
    }
    if let Some(Object(file)) = given.file {
        found.add(
            "file",
            self::file(file, &mut label, shape).map_err(|problem| at("file", problem))?,
        );
    }
    if let Some(bytes) = given.raw {
        found.add("file", Content::Bytes(base64(&bytes.0).map_err(|problem| at("raw", problem))?));
    }
    if let Some(Shared(url)) = given.url {
        found.add("file", Content::Url(url));
    }
    if let Some(data) = given.data {
        let data = self::data(data, &mut label, shape).map_err(|problem| at("data", problem))?;
        found.add("data", Content::Data(data));
    }
    let kind = given.kind.as_ref().map(|kind| &*kind.0);
    if kind.is_some_and(|kind| !["text", "file", "data"].contains(&kind)) {
        return Err(at("kind", "must be \"text\", \"file\" or \"data\""));
    }
    let (member, content) = found.only(index, kind.unwrap_or(""))?;
    if kind.is_some_and(|kind| kind != member) {
        return Err(at("kind", "contradicts the content"));
    }
    Ok(labelled(content, label))
}

/// Structured data: an object, or another value that was put into one to pass through this line.
fn data(given: &RawValue, label: &mut PartLabel, shape: &Shape) -> Result<RawJson, &'static str> {
    let mut data = RawJson::new(given);
    if shape.part == PartStyle::Proto {
        data = data.member("data").ok_or("must be an object with the member data")?;
    }
    if !data.is_object() {
        return Err("must be an object");
    }
    let unwrapped = label.metadata.as_ref().and_then(|metadata| compat::unwrap(&data, metadata));
    if let Some((value, metadata)) = unwrapped {
        (data, label.metadata) = (value, metadata);
    }
    Ok(data)
}

fn file(given: FileIn<'_>, label: &mut PartLabel, shape: &Shape) -> Result<Content, &'static str> {
    let proto = given.proto_mime_type.filter(|_| shape.part == PartStyle::Proto);
    label.media_type = given
        .mime_type
        .or(proto)
        .or(given.media_type)
        .map(|Shared(text)| text)
        .or(label.media_type.take());
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
