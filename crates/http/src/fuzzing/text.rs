//! JSON that is carried and not understood: it comes out as it came in, on one line.

use super::pairs::Pairs;
use crate::json;
use a2ad_domain::RawJson;
use serde_json::Value;
use serde_json::value::RawValue;

/// Reads a text as JSON that is carried, and writes it as a text.
pub fn text(input: &[u8]) {
    let Some(text) = json::text(input) else { return };
    let mut written = Vec::new();
    json::string(&mut written, text);
    let read: String = serde_json::from_slice(&written).expect("a string is JSON");
    assert_eq!(read, text);
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    let carried = RawJson::new(raw);
    assert!(!carried.as_str().contains(['\n', '\r']), "a stream carries it on one line");
    assert!(carried.as_str().len() <= text.len());
    let again: &RawValue = serde_json::from_str(carried.as_str()).expect("what is carried is JSON");
    assert_eq!(RawJson::new(again), carried);
    assert!(is_same(raw, again), "{} came out as {}", raw.get(), carried.as_str());
    if carried.is_object() {
        merge(&carried);
    }
}

/// Whether two texts say the same, with every digit, member and order; only the white space may differ.
fn is_same(one: &RawValue, other: &RawValue) -> bool {
    let (one, other) = (one.get(), other.get());
    match (one.as_bytes().first(), other.as_bytes().first()) {
        (Some(b'{'), Some(b'{')) => {
            let (Some(one), Some(other)) = (Pairs::of(one), Pairs::of(other)) else { return false };
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|((a, x), (b, y))| a == b && is_same(x, y))
        }
        (Some(b'['), Some(b'[')) => {
            let values = |text| serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
            let (one, other) = (values(one), values(other));
            one.len() == other.len() && one.iter().zip(other).all(|(x, y)| is_same(x, y))
        }
        _ => one == other,
    }
}

/// Merging with itself changes nothing, and taking a member out leaves the others.
fn merge(object: &RawJson) {
    let Ok(members) = serde_json::from_str::<serde_json::Map<String, Value>>(object.as_str())
    else {
        // Nested deeper than values are read, or with a number that has no value.
        return;
    };
    let merged = object.merged(object);
    let read = |json: &RawJson| serde_json::from_str::<Value>(json.as_str()).ok();
    // Of several members of a name the last counts for most readers, and for merging.
    assert_eq!(read(&merged), read(object));
    let Some(name) = members.keys().next() else { return };
    let rest = object.without(name);
    assert!(rest.member(name).is_none());
    let left = members.iter().filter(|(known, _)| *known != name);
    let left: serde_json::Map<String, Value> =
        left.map(|(name, value)| (name.clone(), value.clone())).collect();
    assert_eq!(read(&rest), Some(Value::from(left)));
}
