//! Parts and messages in the form of the exchange: that of the 1.0 line, with bytes in base64.

use a2ad_domain::{Content, Message, Part, PartLabel, Parts, RawJson, Role};
use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// JSON that is carried as it is.
struct Raw<'a>(&'a RawJson);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue =
            serde_json::from_str(self.0.as_str()).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

/// A part on its way out.
struct PartOut<'a>(&'a Part);

impl Serialize for PartOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.0.content {
            Content::Text(text) => map.serialize_entry("text", &**text)?,
            Content::Bytes(bytes) => {
                map.serialize_entry("raw", &Base64Display::new(bytes, &STANDARD).to_string())?;
            }
            Content::Url(url) => map.serialize_entry("url", &**url)?,
            Content::Data(data) => map.serialize_entry("data", &Raw(data))?,
        }
        if let Some(label) = self.0.label.as_deref() {
            if let Some(media_type) = &label.media_type {
                map.serialize_entry("mediaType", &**media_type)?;
            }
            if let Some(filename) = &label.filename {
                map.serialize_entry("filename", &**filename)?;
            }
            if let Some(metadata) = &label.metadata {
                map.serialize_entry("metadata", &Raw(metadata))?;
            }
        }
        map.end()
    }
}

/// The parts of a message on their way out.
pub(crate) struct PartsOut<'a>(pub(crate) &'a Parts);

impl Serialize for PartsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.as_slice().iter().map(PartOut))
    }
}

/// A message on its way out.
pub(super) struct MessageOut<'a>(pub(super) &'a Message);

impl Serialize for MessageOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let mut map = serializer.serialize_map(None)?;
        let role = if message.role == Role::User { "user" } else { "agent" };
        map.serialize_entry("role", role)?;
        map.serialize_entry("messageId", message.id.as_str())?;
        map.serialize_entry("parts", &PartsOut(&message.parts))?;
        if let Some(metadata) = &message.metadata {
            map.serialize_entry("metadata", &Raw(metadata))?;
        }
        map.end()
    }
}

/// Metadata of the call, carried as it is.
pub(super) fn raw(json: &RawJson) -> impl Serialize + '_ {
    Raw(json)
}

/// A member that is there, although it may be `null`.
pub(super) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A part on its way in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PartIn<'a> {
    text: Option<Arc<str>>,
    raw: Option<String>,
    url: Option<Arc<str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    data: Option<&'a RawValue>,
    media_type: Option<Arc<str>>,
    filename: Option<Arc<str>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

impl PartIn<'_> {
    pub(super) fn part(self) -> Result<Part, String> {
        let metadata = self.metadata.map(|value| object("metadata", value)).transpose()?;
        let label = PartLabel { metadata, media_type: self.media_type, filename: self.filename };
        part(
            [
                self.text.map(Content::Text),
                self.raw.map(|text| bytes(&text)).transpose()?,
                self.url.map(Content::Url),
                self.data.map(|data| Content::Data(RawJson::new(data))),
            ],
            label,
        )
    }
}

/// The part of the only content that there is.
pub(super) fn part(contents: [Option<Content>; 4], label: PartLabel) -> Result<Part, String> {
    let mut given = contents.into_iter().flatten();
    let content = given.next().ok_or("a part holds text, raw, url or data")?;
    if given.next().is_some() {
        return Err("a part holds only one of text, raw, url and data".to_owned());
    }
    let label = (label != PartLabel::default()).then(|| Box::new(label));
    Ok(Part { content, label })
}

pub(super) fn bytes(base64: &str) -> Result<Content, String> {
    let bytes = STANDARD.decode(base64).map_err(|error| format!("raw is no base64: {error}"))?;
    Ok(Content::Bytes(bytes.into()))
}

pub(super) fn object(name: &str, value: &RawValue) -> Result<RawJson, String> {
    let json = RawJson::new(value);
    if json.is_object() { Ok(json) } else { Err(format!("{name} must be an object")) }
}
