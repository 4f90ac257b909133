//! Structured data that is no object, on the 0.3 line, which has objects only: the value is put into an
//! object and marked, as the published SDKs do, and taken out again when it comes back.

use a2ad_domain::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The member of the metadata that marks a wrapped value.
const MARK: &str = "data_part_compat";

/// Metadata with the mark and nothing else.
pub(super) fn mark() -> RawJson {
    raw(&format!("{{\"{MARK}\":true}}"))
}

/// `{"value": …}`
pub(super) fn wrap(value: &RawJson) -> RawJson {
    raw(&format!("{{\"value\":{}}}", value.as_str()))
}

/// The value and what is left of the metadata, where both are what wrapping makes.
pub(super) fn unwrap(data: &RawJson, metadata: &RawJson) -> Option<(RawJson, Option<RawJson>)> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let marked = metadata.member(MARK).is_some_and(|mark| mark.as_str() == "true");
    let wrapped: Wrapped<'_> = serde_json::from_str(data.as_str()).ok().filter(|_| marked)?;
    let rest = metadata.without(MARK);
    Some((RawJson::new(wrapped.value), (rest.as_str() != "{}").then_some(rest)))
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap_or_else(|_| unreachable!("made from JSON"))
}
