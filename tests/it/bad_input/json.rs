//! JSON that can be wrong in ways that a tree of values cannot: a member given twice, tokens that are none.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// A value, or what stands where one belongs. Names and tokens are written as they are.
#[derive(Clone, PartialEq)]
pub(super) enum Json {
    Token(Cow<'static, str>),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                let member = |(name, value)| (Value::String(name).to_string(), Self::from(value));
                Self::Object(members.into_iter().map(member).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Self::Token(value.to_string().into())
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => f.write_str(token),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Object(members) => {
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{name}:{value}", if index == 0 { "{" } else { "," })?;
                }
                f.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

impl fmt::Debug for Json {
    /// The text, of which a failure shows the beginning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_string();
        write!(f, "{}", text.chars().take(1_500).collect::<String>())
    }
}

impl Json {
    /// The number of values in it, itself included.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Self::Token(_) => 0,
            Self::Array(items) => items.iter().map(Self::size).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// The value of this number, counted from the outside in.
    pub(super) fn at(&mut self, number: usize) -> &mut Json {
        if number == 0 {
            return self;
        }
        let mut number = number - 1;
        let children: Vec<&mut Json> = match self {
            Self::Token(_) => Vec::new(),
            Self::Array(items) => items.iter_mut().collect(),
            Self::Object(members) => members.iter_mut().map(|(_, value)| value).collect(),
        };
        for child in children {
            let size = child.size();
            if number < size {
                return child.at(number);
            }
            number -= size;
        }
        unreachable!("there are not that many values")
    }

    /// The texts of the members of this name, in whatever spelling.
    pub(super) fn members(&self, wanted: &str) -> Vec<String> {
        let Self::Object(members) = self else { return Vec::new() };
        let is = |name: &str| serde_json::from_str::<String>(name).is_ok_and(|name| name == wanted);
        members.iter().filter(|(name, _)| is(name)).map(|(_, value)| value.to_string()).collect()
    }
}

/// Something that goes wrong with one value.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Replace(Json),
    /// A member or an element goes.
    Drop(Index),
    /// A member or an element comes twice, the second time perhaps with another value.
    Repeat(Index, Option<Json>),
    /// A member is called otherwise.
    Rename(Index, String),
    /// A member, or an element, that does not belong here.
    Add(String, Json),
    IntoArray,
    IntoObject(String),
}

impl Change {
    pub(super) fn make(self, value: &mut Json) {
        match (self, value) {
            (Self::Replace(new), value) => *value = new,
            (Self::Drop(which), Json::Array(items)) if !items.is_empty() => {
                items.remove(which.index(items.len()));
            }
            (Self::Drop(which), Json::Object(members)) if !members.is_empty() => {
                members.remove(which.index(members.len()));
            }
            (Self::Repeat(which, new), Json::Array(items)) if !items.is_empty() => {
                let again = which.get(items).clone();
                items.push(new.unwrap_or(again));
            }
            (Self::Repeat(which, new), Json::Object(members)) if !members.is_empty() => {
                let (name, again) = which.get(members).clone();
                members.push((name, new.unwrap_or(again)));
            }
            (Self::Rename(which, name), Json::Object(members)) if !members.is_empty() => {
                let which = which.index(members.len());
                members[which].0 = name;
            }
            (Self::Add(_, new), Json::Array(items)) => items.push(new),
            (Self::Add(name, new), Json::Object(members)) => members.push((name, new)),
            (Self::IntoArray, value) => *value = Json::Array(vec![value.clone()]),
            (Self::IntoObject(name), value) => *value = Json::Object(vec![(name, value.clone())]),
            // Where there is nothing to drop, to repeat or to rename.
            (Self::Drop(_) | Self::Repeat(..) | Self::Rename(..) | Self::Add(..), _) => {}
        }
    }
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        6 => value().prop_map(Change::Replace),
        3 => place().prop_map(Change::Drop),
        2 => (place(), prop::option::of(value())).prop_map(|(at, new)| Change::Repeat(at, new)),
        2 => (place(), name()).prop_map(|(at, name)| Change::Rename(at, name)),
        3 => (name(), value()).prop_map(|(name, new)| Change::Add(name, new)),
        1 => Just(Change::IntoArray),
        1 => name().prop_map(Change::IntoObject),
    ]
}

/// Names that mean something somewhere, and some that mean nothing anywhere.
fn name() -> impl Strategy<Value = String> {
    let known = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "message",
        "configuration",
        "metadata",
        "kind",
        "type",
        "role",
        "messageId",
        "parts",
        "taskId",
        "contextId",
        "referenceTaskIds",
        "extensions",
        "text",
        "file",
        "data",
        "bytes",
        "uri",
        "raw",
        "url",
        "blocking",
        "historyLength",
        "pushNotificationConfig",
        "acceptedOutputModes",
        "pageSize",
        "pageToken",
        "status",
        "content",
        "final",
        "__proto__",
        "",
        "Id",
        "message_id",
        "tenant",
    ];
    let spelled = prop::sample::select(known.map(|name| format!("\"{name}\"")).to_vec());
    prop_oneof![
        10 => spelled,
        1 => Just("\"\\u0069d\"".to_owned()),
        1 => Just("\"\\ud83d\"".to_owned()),
        1 => Just("\"\\u0000\"".to_owned()),
        1 => Just("id".to_owned()),
        1 => any::<String>().prop_map(|name| Value::String(name).to_string()),
    ]
}

/// Values of every type, at the edges of what they may be, and tokens that are no values.
fn value() -> impl Strategy<Value = Json> {
    let fixed = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "1.5",
        "1.0",
        "1e3",
        "1E400",
        "1e-400",
        "2147483647",
        "2147483648",
        "-2147483649",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "NaN",
        "-Infinity",
        "01",
        "\"\"",
        "\" \"",
        "\"x\"",
        "\"user\"",
        "\"2.0\"",
        "\"text\"",
        "\"message/stream\"",
        "\"tasks/list\"",
        "\"\\u0000\"",
        "\"\\ud83d\"",
        "\"\\ude00\\ud83d\"",
        "\"\\ud83d\\ude00\"",
        "\"\u{feff}\u{2028}\"",
        "\"\n\"",
        "\"\\x\"",
        "\"%\\u0000%\"",
        "[]",
        "[[]]",
        "[null]",
        "{}",
        "{\"a\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"id\":\"x\"}",
        "[\"x\",1,{}]",
        "",
        "]",
        "}",
        ",",
        "\"",
        "undefined",
    ];
    let long = prop_oneof![
        Just(format!("\"{}\"", "x".repeat(257))),
        Just(format!("\"{}\"", "é".repeat(100_000))),
        Just("9".repeat(100_000)),
        Just(format!("[{}1]", "1,".repeat(50_000))),
        Just(deep("[", "", "]")),
        Just(deep("{\"\":", "1", "}")),
        Just("[".repeat(DEEP)),
    ];
    prop_oneof![
        30 => prop::sample::select(fixed.to_vec()).prop_map(|token| Json::Token(token.into())),
        2 => any::<i64>().prop_map(|number| Json::Token(number.to_string().into())),
        2 => any::<String>().prop_map(|text| Json::Token(Value::String(text).to_string().into())),
        2 => long.prop_map(|token| Json::Token(token.into())),
    ]
}

/// Deeper than any stack that a reader would use for it.
pub(super) const DEEP: usize = 100_000;

pub(super) fn deep(open: &str, inside: &str, close: &str) -> String {
    [open.repeat(DEEP), inside.to_owned(), close.repeat(DEEP)].concat()
}
