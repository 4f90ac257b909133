//! JSON that is carried and not understood: metadata and structured parts. Kept as text, so digits,
//! key order and null members come back exactly as they were sent.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// One JSON value as text without insignificant white space: one line, which a stream frame needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Takes a value that a parser has already accepted.
    #[must_use]
    pub fn new(value: &RawValue) -> Self {
        let text = value.get();
        if text.bytes().any(|b| b.is_ascii_whitespace()) {
            Self(without_white_space(text).into())
        } else {
            Self(text.into())
        }
    }

    /// Parses `text`.
    ///
    /// # Errors
    /// The parser's error when `text` is not one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(Self::new)
    }

    /// The value as JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// The members of both objects; where both name one, `newer` wins. If either is no object, `newer`.
    #[must_use]
    pub fn merged(&self, newer: &RawJson) -> RawJson {
        let (Ok(Members(mut all)), Ok(Members(new))) =
            (serde_json::from_str(&self.0), serde_json::from_str::<Members<'_>>(&newer.0))
        else {
            return newer.clone();
        };
        for (name, value) in new {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, old)) => *old = value,
                None => all.push((name, value)),
            }
        }
        Members(all).into()
    }

    /// A member of an object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<RawJson> {
        let Members(members) = serde_json::from_str(&self.0).ok()?;
        members.into_iter().find(|(known, _)| known == name).map(|(_, value)| RawJson::new(value))
    }

    /// The object without a member.
    #[must_use]
    pub fn without(&self, name: &str) -> RawJson {
        let Ok(Members(mut members)) = serde_json::from_str(&self.0) else { return self.clone() };
        members.retain(|(known, _)| known != name);
        Members(members).into()
    }
}

impl From<Members<'_>> for RawJson {
    fn from(Members(members): Members<'_>) -> Self {
        let write =
            |(name, value): &(String, &RawValue)| format!("{}:{}", quoted(name), value.get());
        let members: Vec<String> = members.iter().map(write).collect();
        RawJson(format!("{{{}}}", members.join(",")).into())
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// Removes the white space between tokens; strings are copied as they are.
fn without_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}

/// An object's members in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
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
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_nulls_are_kept_and_white_space_between_tokens_goes() {
        let text =
            "{ \"n\" : 9007199254740993 ,\n \"e\": 1E400, \"s\": \" a\\\" b \", \"z\": null }";
        let value = RawJson::parse(text).expect("valid");
        assert_eq!(value.as_str(), r#"{"n":9007199254740993,"e":1E400,"s":" a\" b ","z":null}"#);
    }

    #[test]
    fn merging_keeps_the_order_and_lets_the_newer_win() {
        let old = RawJson::parse(r#"{"a":1,"b":null}"#).expect("valid");
        let new = RawJson::parse(r#"{"b":2,"c":[]}"#).expect("valid");
        assert_eq!(old.merged(&new).as_str(), r#"{"a":1,"b":2,"c":[]}"#);
    }
}
