//! Reads what the server writes. A caller's own JSON comes back in it, with numbers and depths that no tree of
//! values can hold, so an answer may be JSON and have no value.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The value of a text that must be JSON; `None` where no tree of values can hold it.
pub(crate) fn value(text: &[u8]) -> Option<Value> {
    let raw: &RawValue = serde_json::from_slice(text).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(text));
    });
    serde_json::from_str(raw.get()).ok()
}

/// A member of an object, as it stands.
pub(crate) fn member(text: &str, path: &[&str]) -> Option<String> {
    let Some((name, rest)) = path.split_first() else { return Some(text.to_owned()) };
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    member(members.get(*name)?.get(), rest)
}
