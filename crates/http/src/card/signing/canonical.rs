//! The forms of a card that are signed (specification 1.0 §8.4.1): canonical JSON (RFC 8785) of what the card
//! says.

use serde_json::{Map, Value};

/// The forms of one card.
pub(super) struct Forms {
    /// What the specification says: what is required is there even when it is empty, and what has its default
    /// value is not.
    pub(super) whole: String,
    /// What the SDKs of the protocol verify: nothing that is empty is there, however deep it stands. `None`
    /// where that is the same.
    pub(super) bare: Option<String>,
}

/// The forms of a card in the 1.0 form.
pub(super) fn forms(card: &[u8]) -> serde_json::Result<Forms> {
    let mut card: Value = serde_json::from_slice(card)?;
    drop_defaults(&mut card);
    round_numbers(&mut card);
    let whole = serde_json_canonicalizer::to_string(&card)?;
    let bare = bare(card).unwrap_or_else(|| Value::Object(Map::new()));
    let bare = serde_json_canonicalizer::to_string(&bare)?;
    let bare = Some(bare).filter(|bare| *bare != whole);
    Ok(Forms { whole, bare })
}

/// Takes out what the protocol buffers do not tell from what is not there: members that are neither required
/// nor `optional` and have their default value. The writer of cards writes no others of them.
fn drop_defaults(card: &mut Value) {
    let extensions = card.pointer_mut("/capabilities/extensions").and_then(Value::as_array_mut);
    for extension in extensions.into_iter().flatten().filter_map(Value::as_object_mut) {
        drop_if(extension, "required", &Value::Bool(false));
        drop_if(extension, "description", &Value::String(String::new()));
    }
    let requirements = card.pointer_mut("/securityRequirements").and_then(Value::as_array_mut);
    for requirement in requirements.into_iter().flatten() {
        let schemes = requirement.pointer_mut("/schemes").and_then(Value::as_object_mut);
        let scopes = schemes.into_iter().flat_map(Map::values_mut);
        for scopes in scopes.filter_map(Value::as_object_mut) {
            drop_if(scopes, "list", &Value::Array(Vec::new()));
        }
    }
}

fn drop_if(members: &mut Map<String, Value>, name: &str, default: &Value) {
    if members.get(name) == Some(default) {
        members.remove(name);
    }
}

/// Numbers are doubles, as RFC 8785 §3.2.2.3 and the protocol buffers have it.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().and_then(serde_json::Number::from_f64);
            *number = double.unwrap_or_else(|| number.clone());
        }
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(members) => members.values_mut().for_each(round_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The value without anything empty in it; `None` if then nothing is left of it.
fn bare(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Value::String(text)).filter(|text| text != ""),
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().filter_map(bare).collect();
            Some(items).filter(|items| !items.is_empty()).map(Value::Array)
        }
        Value::Object(members) => {
            let members = members.into_iter();
            let members: Map<String, Value> =
                members.filter_map(|(name, value)| Some((name, bare(value)?))).collect();
            Some(members).filter(|members| !members.is_empty()).map(Value::Object)
        }
        value @ (Value::Bool(_) | Value::Number(_)) => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole(card: &str) -> String {
        forms(card.as_bytes()).expect("JSON").whole
    }

    /// RFC 8785 §3.2.2 and §3.2.3: values, numbers, strings and the order of members.
    #[test]
    fn the_form_is_that_of_rfc_8785() {
        for (text, wanted) in [
            (
                r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                    "literals": [null, true, false]}"#,
                "{\"literals\":[null,true,false],\
                 \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                 \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
            ),
            (
                r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
                    "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
                    "\u00f6": "Latin Small Letter O With Diaeresis"}"#,
                "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
                 \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\
                 \"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
            ),
            // Appendix B, and integers, which are doubles as well.
            (
                "[0, -0.0, 5e-324, 1.7976931348623157e308, 9007199254740993, 295147905179352830000,\
                 9.999999999999997e22, 1e23, 1e21, 999999999999999900000, 0.000001, 1e-7, 1.0]",
                "[0,0,5e-324,1.7976931348623157e+308,9007199254740992,295147905179352830000,\
                 9.999999999999997e+22,1e+23,1e+21,999999999999999900000,0.000001,1e-7,1]",
            ),
        ] {
            assert_eq!(whole(text), wanted);
        }
    }

    /// The example of the specification (1.0 §8.4.1).
    #[test]
    fn what_is_required_or_optional_stays_and_defaults_go() {
        let card = r#"{"name": "Example Agent", "description": "",
            "capabilities": {"streaming": false, "pushNotifications": false}, "skills": []}"#;
        let wanted = "{\"capabilities\":{\"pushNotifications\":false,\"streaming\":false},\
                      \"description\":\"\",\"name\":\"Example Agent\",\"skills\":[]}";
        assert_eq!(whole(card), wanted);
        let card = json!({
            "capabilities": { "extensions": [
                { "uri": "a", "required": false, "description": "", "params": { "x": "" } },
                { "uri": "b", "required": true, "description": "B" },
            ] },
            "securityRequirements": [
                { "schemes": { "key": { "list": [] } } },
                { "schemes": { "oidc": { "list": ["read"] } } },
            ],
        });
        let wanted = json!({
            "capabilities": { "extensions": [
                { "uri": "a", "params": { "x": "" } },
                { "uri": "b", "required": true, "description": "B" },
            ] },
            "securityRequirements": [
                { "schemes": { "key": {} } },
                { "schemes": { "oidc": { "list": ["read"] } } },
            ],
        });
        let read: Value = serde_json::from_str(&whole(&card.to_string())).expect("JSON");
        assert_eq!(read, wanted);
    }

    #[test]
    fn the_bare_form_holds_nothing_empty_and_is_there_only_where_it_differs() {
        let full =
            json!({ "name": "x", "skills": [{ "tags": ["a"] }], "streaming": false, "n": 0 });
        assert_eq!(forms(full.to_string().as_bytes()).expect("JSON").bare, None);
        let card = json!({
            "name": "x",
            "description": "",
            "skills": [{ "id": "a", "tags": [] }, { "tags": [""] }],
            "params": { "a": null, "b": { "c": [{}] }, "d": [false, 0, ""] },
        });
        let bare = forms(card.to_string().as_bytes()).expect("JSON").bare;
        let wanted = r#"{"name":"x","params":{"d":[false,0]},"skills":[{"id":"a"}]}"#;
        assert_eq!(bare.as_deref(), Some(wanted));
    }
}
