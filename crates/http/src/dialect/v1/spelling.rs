//! Parameters that say something twice, in both spellings of a member's name (ProtoJSON takes
//! `contextId` and `context_id`): fine as long as both say the same. This is read only after the plain
//! way has met a member twice, so that everybody else pays nothing for it.

use crate::dialect::text::Borrowed;
use crate::dialect::{Invalid, Unreadable};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members that have two spellings.
const SPELLINGS: [(&str, &str); 13] = [
    ("message_id", "messageId"),
    ("context_id", "contextId"),
    ("task_id", "taskId"),
    ("reference_task_ids", "referenceTaskIds"),
    ("media_type", "mediaType"),
    ("accepted_output_modes", "acceptedOutputModes"),
    ("task_push_notification_config", "taskPushNotificationConfig"),
    ("history_length", "historyLength"),
    ("return_immediately", "returnImmediately"),
    ("page_size", "pageSize"),
    ("page_token", "pageToken"),
    ("status_timestamp_after", "statusTimestampAfter"),
    ("include_artifacts", "includeArtifacts"),
];

/// The objects that calls consist of, each with what it holds.
#[derive(Clone, Copy)]
enum Place {
    Params,
    Message,
    Part,
    Configuration,
}

impl Place {
    fn child(self, name: &str) -> Option<Place> {
        match (self, name) {
            (Self::Params, "message") => Some(Self::Message),
            (Self::Params, "configuration") => Some(Self::Configuration),
            (Self::Message, "parts") => Some(Self::Part),
            _ => None,
        }
    }
}

/// The parameters with every name in one spelling. A name that is there twice in the same spelling still
/// is afterwards.
pub(super) fn unified(params: &RawValue) -> Result<Box<RawValue>, Unreadable> {
    let text = object(Place::Params, params, "")?;
    RawValue::from_string(text).map_err(|_| Unreadable::NotJson)
}

/// One value with its names in one spelling; what is no object stays as it is.
fn object(place: Place, value: &RawValue, path: &str) -> Result<String, Unreadable> {
    if let (Place::Part, Ok(parts)) = (place, serde_json::from_str::<Vec<&RawValue>>(value.get())) {
        let part =
            |(index, part): (usize, &&RawValue)| object(place, part, &format!("{path}[{index}]"));
        let parts: Vec<String> = parts.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        return Ok(format!("[{}]", parts.join(",")));
    }
    let Ok(Members(members)) = serde_json::from_str(value.get()) else {
        return Ok(value.get().to_owned());
    };
    let mut kept: Vec<(String, Borrowed<'_>, &RawValue)> = Vec::with_capacity(members.len());
    for (spelled, value) in members {
        let known = SPELLINGS.iter().find(|(snake, _)| *snake == spelled.0);
        let name = known.map_or(&*spelled.0, |(_, camel)| *camel).to_owned();
        let other = kept.iter_mut().find(|(other, how, _)| *other == name && how.0 != spelled.0);
        match other {
            None => kept.push((name, spelled, value)),
            Some((.., first)) if first.get() == value.get() || value.get() == "null" => {}
            Some((.., first)) if first.get() == "null" => *first = value,
            Some(_) => {
                let problem = "is said in two spellings that do not agree";
                return Err(Invalid::new(at(path, &name), problem).into());
            }
        }
    }
    let mut out = String::from("{");
    for (index, (name, _, value)) in kept.iter().enumerate() {
        let inside = match place.child(name) {
            Some(child) => object(child, value, &at(path, name))?,
            None => value.get().to_owned(),
        };
        let name = serde_json::Value::from(&**name);
        out.push_str(&format!("{}{name}:{inside}", if index == 0 { "" } else { "," }));
    }
    out.push('}');
    Ok(out)
}

fn at(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The members of an object in their order, with those that are there twice.
struct Members<'a>(Vec<(Borrowed<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unify(text: &str) -> Result<String, Unreadable> {
        let params: &RawValue = serde_json::from_str(text).expect("JSON");
        unified(params).map(|params| params.get().to_owned())
    }

    #[test]
    fn two_spellings_that_agree_are_one() {
        let both = r#"{"pageSize":2,"page_size":2,"message":{"parts":[{"media_type":"a","mediaType":"a"}]}}"#;
        let one = r#"{"pageSize":2,"message":{"parts":[{"mediaType":"a"}]}}"#;
        assert_eq!(unify(both).as_deref(), Ok(one));
        assert_eq!(unify(r#"{"task_id":null,"taskId":"x"}"#).as_deref(), Ok(r#"{"taskId":"x"}"#));
        assert_eq!(unify(r#"{"taskId":"x","task_id":null}"#).as_deref(), Ok(r#"{"taskId":"x"}"#));
    }

    #[test]
    fn two_spellings_that_disagree_are_refused_by_name() {
        let text = r#"{"message":{"parts":[{},{"media_type":"a","mediaType":"b"}]}}"#;
        let Err(Unreadable::Invalid(invalid)) = unify(text) else { panic!("taken") };
        assert_eq!(invalid.field, "message.parts[1].mediaType");
    }

    #[test]
    fn what_is_there_twice_in_one_spelling_stays() {
        let twice = r#"{"pageSize":2,"pageSize":2}"#;
        assert_eq!(unify(twice).as_deref(), Ok(twice));
    }
}
