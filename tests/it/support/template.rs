//! Compares an answer with a pattern: what must be there is written out, what the server makes up has a name.
//!
//! `"$x"` stands for any text that is not empty, and for the same text wherever the name comes again;
//! `"$ts"` for any timestamp, `"$ts1"` for the same one each time; `"+more"` as the last element of an array
//! or as a member of an object lets more elements or members follow; `{"+any": […]}` for any of the patterns.
//! What a pattern does not show must be absent.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

const MORE: &str = "+more";
const ANY: &str = "+any";

/// What the names stand for. It is kept from one comparison to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// What a name stands for by now.
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("nothing is called ${name} yet"))
    }

    /// Fails when `actual` does not fit.
    #[track_caller]
    pub(crate) fn check(&mut self, pattern: &Value, actual: &Value) {
        if let Err(problem) = self.compare(pattern, actual, "") {
            panic!("{problem}\n wanted {pattern}\n    got {actual}\n  where {:?}", self.0);
        }
    }

    /// The pattern with what its names stand for. A name that stands for nothing yet is an error.
    #[track_caller]
    pub(crate) fn fill(&self, pattern: &Value) -> Value {
        match pattern {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => self.get(name).into(),
                None => text.as_str().into(),
            },
            Value::Array(elements) => elements.iter().map(|element| self.fill(element)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => pattern.clone(),
        }
    }

    fn compare(&mut self, pattern: &Value, actual: &Value, at: &str) -> Result<(), String> {
        match (pattern, actual) {
            (Value::String(wanted), _) if wanted.starts_with('$') => {
                self.named(&wanted[1..], actual, at)
            }
            (Value::Object(wanted), _) if wanted.contains_key(ANY) => {
                self.any(&wanted[ANY], actual, at)
            }
            (Value::Object(wanted), Value::Object(got)) => self.members(wanted, got, at),
            (Value::Array(wanted), Value::Array(got)) => self.elements(wanted, got, at),
            _ if pattern == actual => Ok(()),
            _ => Err(format!("{at}: {actual} is not {pattern}")),
        }
    }

    fn named(&mut self, name: &str, actual: &Value, at: &str) -> Result<(), String> {
        let text = actual.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| format!("{at}: ${name} has to be a text, not {actual}"))?;
        if let Some(number) = name.strip_prefix("ts") {
            if !is_timestamp(text) {
                return Err(format!("{at}: {text} is no timestamp in UTC with milliseconds"));
            }
            if number.is_empty() {
                return Ok(());
            }
        }
        let known = self.0.entry(name.to_owned()).or_insert_with(|| text.to_owned());
        if known == text { Ok(()) } else { Err(format!("{at}: ${name} is {known}, not {text}")) }
    }

    fn any(&mut self, patterns: &Value, actual: &Value, at: &str) -> Result<(), String> {
        for pattern in patterns.as_array().expect("an array of patterns") {
            let mut names = self.clone();
            if names.compare(pattern, actual, at).is_ok() {
                *self = names;
                return Ok(());
            }
        }
        Err(format!("{at}: {actual} is none of {patterns}"))
    }

    fn members(
        &mut self,
        wanted: &Map<String, Value>,
        got: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        for (name, pattern) in wanted.iter().filter(|(name, _)| *name != MORE) {
            let value = got.get(name).ok_or_else(|| format!("{at}.{name} is missing"))?;
            self.compare(pattern, value, &format!("{at}.{name}"))?;
        }
        let extra = got.keys().find(|name| !wanted.contains_key(*name));
        match extra {
            Some(name) if !wanted.contains_key(MORE) => Err(format!("{at}.{name} is too much")),
            Some(_) | None => Ok(()),
        }
    }

    fn elements(&mut self, wanted: &[Value], got: &[Value], at: &str) -> Result<(), String> {
        let (shown, open) = match wanted.split_last() {
            Some((last, shown)) if last == MORE => (shown, true),
            Some(_) | None => (wanted, false),
        };
        if got.len() < shown.len() || (got.len() > shown.len() && !open) {
            return Err(format!("{at} has {} elements, not {}", got.len(), shown.len()));
        }
        shown.iter().zip(got).enumerate().try_for_each(|(index, (pattern, value))| {
            self.compare(pattern, value, &format!("{at}[{index}]"))
        })
    }
}

fn is_timestamp(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(pattern: Value, actual: Value) -> bool {
        Names::default().compare(&pattern, &actual, "").is_ok()
    }

    #[test]
    fn a_name_stands_for_one_text() {
        let pattern = json!({ "a": "$x", "b": ["$x"], "c": "$y" });
        assert!(fits(pattern.clone(), json!({ "c": "2", "b": ["1"], "a": "1" })));
        assert!(!fits(pattern, json!({ "a": "1", "b": ["2"], "c": "2" })));
        for wrong in [json!(""), json!(1), json!(null)] {
            assert!(!fits(json!("$x"), wrong));
        }
        let mut names = Names::default();
        names.check(&json!(["$x"]), &json!(["1"]));
        assert_eq!(names.fill(&json!({ "id": "$x", "n": [1] })), json!({ "id": "1", "n": [1] }));
        assert!(names.compare(&json!("$x"), &json!("2"), "").is_err());
    }

    #[test]
    fn timestamps_have_one_form() {
        let (one, two) = ("2031-02-03T04:05:06.789Z", "2031-02-03T04:05:06.790Z");
        assert!(fits(json!(["$ts", "$ts"]), json!([one, two])));
        assert!(fits(json!(["$ts1", "$ts2", "$ts1"]), json!([one, two, one])));
        assert!(!fits(json!(["$ts1", "$ts1"]), json!([one, two])));
        for wrong in ["2031-02-03T04:05:06Z", "2031-02-03T04:05:06.789+00:00", "soon"] {
            assert!(!fits(json!("$ts"), json!(wrong)));
        }
    }

    #[test]
    fn what_is_not_shown_has_to_be_absent() {
        assert!(!fits(json!({}), json!({ "a": null })));
        assert!(!fits(json!({ "a": null }), json!({})));
        assert!(fits(json!({ "b": 1, "+more": "" }), json!({ "a": null, "b": 1 })));
        assert!(!fits(json!({ "b": 1, "+more": "" }), json!({ "a": null })));
        assert!(!fits(json!([1]), json!([1, 2])));
        assert!(fits(json!([1, "+more"]), json!([1, 2])));
        assert!(fits(json!([1, "+more"]), json!([1])));
        assert!(!fits(json!([1, "+more"]), json!([])));
        assert!(!fits(json!(["+more"]), json!({})));
    }

    #[test]
    fn one_of_several_patterns_is_enough() {
        let pattern = json!([{ "+any": ["a", { "b": "$x" }] }, "$x"]);
        assert!(fits(pattern.clone(), json!(["a", "1"])));
        assert!(fits(pattern.clone(), json!([{ "b": "1" }, "1"])));
        assert!(!fits(pattern.clone(), json!([{ "b": "1" }, "2"])));
        assert!(!fits(pattern, json!(["b", "1"])));
    }
}
