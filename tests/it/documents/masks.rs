//! Compares an answer with the one that a document shows: ids and times differ, everything else must not.

use serde_json::Value;
use std::fmt::Write;

/// The text with each id replaced by its number in the order of appearance, and each time by a word. Two
/// texts that use their ids in the same places then are the same.
pub(super) fn masked(text: &str) -> String {
    let mut ids: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(id) = rest.get(..ID.len()).filter(|id| has_shape(id, ID)) {
            let number = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            });
            let _ = write!(out, "<id {number}>");
            rest = &rest[ID.len()..];
        } else if rest.get(..TIME.len()).is_some_and(|time| has_shape(time, TIME)) {
            out.push_str("<time>");
            rest = &rest[TIME.len()..];
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    out
}

const ID: &str = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
const TIME: &str = "dddd-dd-ddTdd:dd:dd.dddZ";

/// Whether each character is of the kind that the shape asks for.
fn has_shape(text: &str, shape: &str) -> bool {
    text.bytes().zip(shape.bytes()).all(|(byte, kind)| match kind {
        b'h' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        b'd' => byte.is_ascii_digit(),
        exactly => byte == exactly,
    })
}

/// A value as text, a member per line in the order of the names, so that two texts can be compared.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, 0, &mut out);
    out
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            out.push_str("{\n");
            for name in names {
                let _ = write!(out, "{indent}{}: ", Value::from(name.as_str()));
                write_value(&members[name], depth + 1, out);
                out.push('\n');
            }
            let _ = write!(out, "{}}}", "  ".repeat(depth));
        }
        Value::Array(items) => {
            out.push_str("[\n");
            for item in items {
                out.push_str(&indent);
                write_value(item, depth + 1, out);
                out.push('\n');
            }
            let _ = write!(out, "{}]", "  ".repeat(depth));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

#[test]
fn ids_are_compared_by_where_they_stand() {
    let (a, b) = ("917f7b3c-c641-49c9-a776-1d5dd104301a", "9e1772b1-f724-4ec5-986c-8569f52ffae4");
    assert_eq!(masked(&format!("x{a} {b} {a}é")), "x<id 0> <id 1> <id 0>é");
    assert_ne!(masked(&format!("{a} {b}")), masked(&format!("{a} {a}")));
    assert_eq!(masked("\"2026-12-01T03:10:11.053Z\""), "\"<time>\"");
    assert_eq!(masked("2026-12-01T03:10:11Z"), "2026-12-01T03:10:11Z");
}

#[test]
fn the_order_of_members_is_not_compared() {
    let one: Value = serde_json::from_str(r#"{"a":1,"b":[{"d":null,"c":"x"}]}"#).expect("JSON");
    let other: Value = serde_json::from_str(r#"{"b":[{"c":"x","d":null}],"a":1}"#).expect("JSON");
    assert_eq!(canonical(&one), canonical(&other));
    let more: Value = serde_json::from_str(r#"{"b":[{"c":"x"}],"a":1}"#).expect("JSON");
    assert_ne!(canonical(&one), canonical(&more));
}
