//! What a program or a service answers: one JSON object for each event.

use super::part::{PartIn, bytes, object, part, present};
use a2ad_domain::{Content, Details, Part, PartLabel, Parts, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// How the work goes.
    Status(Option<Parts>),
    /// The next piece of an artifact; of the run's own without an id.
    Chunk { id: Option<String>, parts: Parts, last: bool },
    /// A whole artifact.
    Artifact { id: Option<String>, parts: Parts, details: Option<Box<Details>> },
    /// Members of the task's metadata.
    Metadata(RawJson),
    /// Credentials are needed and the work goes on by itself when it has them.
    AuthAwaited(Parts),
    /// How the turn ends.
    Decision(Decision),
}

/// How a turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The work is done, and this is what is said about it.
    Reply(Parts),
    /// The next message goes on.
    InputRequired(Parts),
    /// Credentials are needed; the next message goes on.
    AuthRequired(Parts),
    /// The agent will not do it.
    Reject(Parts),
    /// The work failed; the text is for the caller.
    Fail(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventIn<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<Arc<str>>,
    #[serde(borrow)]
    parts: Option<Vec<PartIn<'a>>>,
    #[serde(borrow, default, deserialize_with = "present")]
    data: Option<&'a RawValue>,
    raw: Option<String>,
    url: Option<Arc<str>>,
    media_type: Option<Arc<str>>,
    id: Option<String>,
    name: Option<Arc<str>>,
    description: Option<Arc<str>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    last: Option<bool>,
    goes_on: Option<bool>,
}

/// Which members an event has beside its type, and whether it must have content.
const MEMBERS: [(&str, &[&str]); 11] = [
    ("status", &["text", "parts"]),
    ("chunk", &["text", "parts", "id", "last"]),
    ("artifact", &["text", "parts", "id", "name", "description", "metadata"]),
    ("data", &["data", "id", "name", "description", "metadata", "mediaType"]),
    ("file", &["raw", "url", "mediaType", "id", "name", "description", "metadata"]),
    ("metadata", &["metadata"]),
    ("reply", &["text", "parts"]),
    ("input_required", &["text", "parts"]),
    ("auth_required", &["text", "parts", "goesOn"]),
    ("reject", &["text", "parts"]),
    ("fail", &["text"]),
];

impl Event {
    /// Reads an event. The text of the error says what is wrong with it, for a log.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        let given: EventIn<'_> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let kind = given.kind.as_deref().ok_or("type is required")?;
        let known = MEMBERS.iter().find(|(name, _)| *name == kind);
        let (_, allowed) = known.ok_or_else(|| format!("type {kind:?} is unknown"))?;
        if let Some(member) = given.members().find(|member| !allowed.contains(member)) {
            return Err(format!("an event of type {kind:?} has no member {member:?}"));
        }
        let metadata = given.metadata.map(|value| object("metadata", value)).transpose()?;
        match kind {
            "metadata" => metadata.map(Self::Metadata).ok_or_else(|| "metadata is required".into()),
            "data" | "file" => given.single(metadata),
            "fail" => match given.text {
                Some(text) => Ok(Self::Decision(Decision::Fail(text.to_string()))),
                None => Err("text is required".to_owned()),
            },
            _ => given.spoken(metadata),
        }
    }
}

impl EventIn<'_> {
    /// The names of the members that it has, beside its type.
    fn members(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("text", self.text.is_some()),
            ("parts", self.parts.is_some()),
            ("data", self.data.is_some()),
            ("raw", self.raw.is_some()),
            ("url", self.url.is_some()),
            ("mediaType", self.media_type.is_some()),
            ("id", self.id.is_some()),
            ("name", self.name.is_some()),
            ("description", self.description.is_some()),
            ("metadata", self.metadata.is_some()),
            ("last", self.last.is_some()),
            ("goesOn", self.goes_on.is_some()),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name))
    }

    /// An artifact of one part: structured data or a file.
    fn single(self, metadata: Option<RawJson>) -> Result<Event, String> {
        let is_file = self.data.is_none();
        let label = PartLabel {
            metadata: None,
            media_type: self.media_type,
            filename: self.name.clone().filter(|_| is_file),
        };
        let raw = self.raw.as_deref().map(bytes).transpose()?;
        let data = self.data.map(|data| Content::Data(RawJson::new(data)));
        let part = part([None, raw, self.url.map(Content::Url), data], label)?;
        let details = details(self.name, self.description, metadata);
        Ok(Event::Artifact { id: named(self.id)?, parts: Parts::one(part), details })
    }

    /// An event whose content is a text or parts.
    fn spoken(self, metadata: Option<RawJson>) -> Result<Event, String> {
        let parts = content(self.text, self.parts)?;
        let kind = self.kind.as_deref().unwrap_or_default();
        if kind == "status" {
            return Ok(Event::Status(parts));
        }
        let parts = parts.ok_or("text or parts is required")?;
        let id = named(self.id)?;
        Ok(match kind {
            "chunk" => Event::Chunk { id, parts, last: self.last.unwrap_or(false) },
            "artifact" => {
                let details = details(self.name, self.description, metadata);
                Event::Artifact { id, parts, details }
            }
            "input_required" => Event::Decision(Decision::InputRequired(parts)),
            "auth_required" if self.goes_on == Some(true) => Event::AuthAwaited(parts),
            "auth_required" => Event::Decision(Decision::AuthRequired(parts)),
            "reject" => Event::Decision(Decision::Reject(parts)),
            _ => Event::Decision(Decision::Reply(parts)),
        })
    }
}

fn content(
    text: Option<Arc<str>>,
    parts: Option<Vec<PartIn<'_>>>,
) -> Result<Option<Parts>, String> {
    match (text, parts) {
        (Some(_), Some(_)) => Err("text and parts exclude each other".to_owned()),
        (Some(text), None) => Ok(Some(Parts::text(text))),
        (None, Some(parts)) => {
            let parts: Result<Vec<Part>, String> = parts.into_iter().map(PartIn::part).collect();
            Parts::new(parts?).map(Some).ok_or_else(|| "parts must not be empty".to_owned())
        }
        (None, None) => Ok(None),
    }
}

fn named(id: Option<String>) -> Result<Option<String>, String> {
    match id {
        Some(id) if id.is_empty() => Err("id must not be empty".to_owned()),
        id => Ok(id),
    }
}

fn details(
    name: Option<Arc<str>>,
    description: Option<Arc<str>>,
    metadata: Option<RawJson>,
) -> Option<Box<Details>> {
    let details = Details { name, description, metadata, extensions: Box::default() };
    (details != Details::default()).then(|| Box::new(details))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Event {
        Event::parse(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn every_type_of_event_is_read() {
        let said = || Parts::text("x");
        for (json, event) in [
            (r#"{"type":"status"}"#, Event::Status(None)),
            (r#"{"type":"status","text":"x"}"#, Event::Status(Some(said()))),
            (
                r#"{"type":"chunk","text":"x"}"#,
                Event::Chunk { id: None, parts: said(), last: false },
            ),
            (
                r#"{"type":"chunk","parts":[{"text":"x"}],"id":"a","last":true}"#,
                Event::Chunk { id: Some("a".to_owned()), parts: said(), last: true },
            ),
            (
                r#"{"type":"artifact","text":"x","id":"a"}"#,
                Event::Artifact { id: Some("a".to_owned()), parts: said(), details: None },
            ),
            (r#"{"type":"auth_required","text":"x","goesOn":true}"#, Event::AuthAwaited(said())),
            (r#"{"type":"reply","text":"x"}"#, Event::Decision(Decision::Reply(said()))),
            (
                r#"{"type":"input_required","text":"x"}"#,
                Event::Decision(Decision::InputRequired(said())),
            ),
            (
                r#"{"type":"auth_required","text":"x"}"#,
                Event::Decision(Decision::AuthRequired(said())),
            ),
            (r#"{"type":"reject","text":"x"}"#, Event::Decision(Decision::Reject(said()))),
            (r#"{"type":"fail","text":"x"}"#, Event::Decision(Decision::Fail("x".to_owned()))),
        ] {
            assert_eq!(read(json), event, "{json}");
        }
    }

    #[test]
    fn data_and_files_are_artifacts_of_their_own() {
        let Event::Artifact { parts, details, .. } =
            read(r#"{"type":"data","data":{"n":9007199254740993},"name":"count"}"#)
        else {
            panic!("an artifact");
        };
        let data = RawJson::parse(r#"{"n":9007199254740993}"#).expect("JSON");
        assert_eq!(parts, Parts::one(Part::data(data)));
        assert_eq!(details.and_then(|details| details.name).as_deref(), Some("count"));
        let file = r#"{"type":"file","raw":"AP8=","mediaType":"image/png","name":"a.png"}"#;
        let Event::Artifact { parts, .. } = read(file) else { panic!("an artifact") };
        let part = &parts.as_slice()[0];
        assert_eq!(part.content, Content::Bytes(vec![0, 255].into()));
        let label = part.label.as_deref().expect("a label");
        assert_eq!(label.media_type.as_deref(), Some("image/png"));
        assert_eq!(label.filename.as_deref(), Some("a.png"));
    }

    #[test]
    fn structured_data_may_be_null() {
        for json in
            [r#"{"type":"data","data":null}"#, r#"{"type":"artifact","parts":[{"data":null}]}"#]
        {
            let Event::Artifact { parts, .. } = read(json) else { panic!("an artifact") };
            assert_eq!(parts, Parts::one(Part::data(RawJson::parse("null").expect("JSON"))));
        }
    }

    #[test]
    fn what_is_no_event_is_refused_with_a_reason() {
        for (json, reason) in [
            ("plain text", "expected value"),
            ("[]", "invalid length"),
            ("{}", "type is required"),
            (r#"{"type":"chunks","text":"x"}"#, "type \"chunks\" is unknown"),
            (r#"{"type":"reply","txt":"x"}"#, "unknown field `txt`"),
            (r#"{"type":"reply","text":"x","last":true}"#, "has no member \"last\""),
            (r#"{"type":"reply"}"#, "text or parts is required"),
            (r#"{"type":"reply","text":"x","parts":[]}"#, "exclude each other"),
            (r#"{"type":"reply","parts":[]}"#, "must not be empty"),
            (r#"{"type":"reply","parts":[{}]}"#, "a part holds"),
            (r#"{"type":"reply","parts":[{"text":"x","url":"y"}]}"#, "only one of"),
            (r#"{"type":"chunk","text":"x","id":""}"#, "id must not be empty"),
            (r#"{"type":"file","name":"x"}"#, "a part holds"),
            (r#"{"type":"file","raw":"*"}"#, "raw is no base64"),
            (r#"{"type":"metadata","metadata":[]}"#, "metadata must be an object"),
            (r#"{"type":"metadata"}"#, "metadata is required"),
            (r#"{"type":"fail"}"#, "text is required"),
        ] {
            let error = Event::parse(json.as_bytes()).expect_err(json);
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
