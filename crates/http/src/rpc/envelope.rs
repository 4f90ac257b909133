//! The JSON-RPC 2.0 envelope.

use crate::call::Fault;
use crate::dialect::text::Borrowed as Text;
use crate::json;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The id of a request as its sender wrote it; `null` where there is none that can be told back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id<'a>(&'a str);

impl<'a> Id<'a> {
    pub(crate) const NULL: Id<'static> = Id("null");

    pub(crate) const fn as_json(self) -> &'a str {
        self.0
    }

    /// A string, an integer or null. Numbers are told back digit for digit.
    fn read(value: Option<&'a RawValue>) -> Option<Self> {
        let Some(value) = value else { return Some(Id::NULL) };
        let text = value.get();
        let integer = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        (text.starts_with('"') || text == "null" || integer(text)).then_some(Self(text))
    }
}

/// A request that is well-formed as such.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) id: Id<'a>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a body. The error comes with the id that the answer has to carry.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, (Id<'a>, Fault)> {
        let broken = |fault| (Id::NULL, fault);
        let text = json::text(body).ok_or(broken(Fault::Parse))?;
        if !text.trim_start().starts_with('{') {
            let value: &RawValue = serde_json::from_str(text).map_err(|_| broken(Fault::Parse))?;
            let is_batch = value.get().starts_with('[') && value.get()[1..].trim_start() != "]";
            return Err(broken(if is_batch { Fault::Batch } else { Fault::NotARequest }));
        }
        // The only other error than of the syntax is a member given twice. What it means is unknown, and
        // JSON gives it no meaning either.
        let members: Members<'_> = serde_json::from_str(text).map_err(|_| broken(Fault::Parse))?;
        let id = Id::read(members.id).ok_or((Id::NULL, Fault::NotARequest))?;
        let string = |value: &'a RawValue| serde_json::from_str::<Text<'a>>(value.get()).ok();
        let version = members.jsonrpc.and_then(string);
        let method = members.method.and_then(string).map(|Text(method)| method);
        match (version, method) {
            (Some(Text(version)), Some(method)) if version == "2.0" && !method.is_empty() => {
                Ok(Self { id, method, params: members.params })
            }
            _ => Err((id, Fault::NotARequest)),
        }
    }
}

/// The members of a request object; others are passed over.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                let mut given = [false; 4];
                while let Some(Text(name)) = map.next_key()? {
                    let (index, member) = match &*name {
                        "jsonrpc" => (0, &mut members.jsonrpc),
                        "id" => (1, &mut members.id),
                        "method" => (2, &mut members.method),
                        "params" => (3, &mut members.params),
                        _ => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                            continue;
                        }
                    };
                    if std::mem::replace(&mut given[index], true) {
                        return Err(A::Error::custom("a member is given twice"));
                    }
                    *member = map.next_value()?;
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_back_as_they_were_written() {
        for id in ["\"a\\u0041\"", "7", "-7", "123456789012345678901234567890", "null"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let envelope = Envelope::read(body.as_bytes()).expect("a request");
            assert_eq!(envelope.id.as_json(), id);
        }
    }

    #[test]
    fn an_id_that_is_no_id_is_refused_and_not_told_back() {
        for id in ["1.5", "1e3", "{}", "[]", "true"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let (id, fault) = Envelope::read(body.as_bytes()).expect_err("no request");
            assert_eq!(id.as_json(), "null");
            assert!(matches!(fault, Fault::NotARequest));
        }
    }

    #[test]
    fn params_of_null_are_no_params() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#;
        assert!(Envelope::read(body).expect("a request").params.is_none());
    }
}
