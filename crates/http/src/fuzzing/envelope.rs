//! The envelope of JSON-RPC, compared with its members as another reader finds them.

use super::pairs::Pairs;
use crate::call::Fault;
use crate::json;
use crate::rpc::envelope::Envelope;
use serde_json::Value;
use serde_json::value::RawValue;

/// The members that mean something.
const NAMES: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// Reads a body as a request. What is read is what stands there, and what is refused is refused for a reason
/// that can be seen.
pub fn envelope(body: &[u8]) {
    let read = Envelope::read(body);
    let Some(text) = json::text(body) else {
        let refused = read.expect_err("what is no text is no request");
        assert!(matches!(refused.1, Fault::Parse), "{:?}", refused.1);
        return;
    };
    let pairs = Pairs::of(text);
    match read {
        Ok(request) => {
            let pairs = pairs.expect("a request is an object");
            assert!(NAMES.iter().all(|name| pairs.count(name) <= 1), "a member counts twice");
            assert_eq!(string(pairs.get("jsonrpc")).as_deref(), Some("2.0"));
            assert_eq!(string(pairs.get("method")).as_deref(), Some(&*request.method));
            assert!(!request.method.is_empty());
            let params = pairs.get("params").filter(|text| *text != "null");
            assert_eq!(request.params.map(RawValue::get), params);
            let id = pairs.get("id").unwrap_or("null");
            assert_eq!(request.id.as_json(), id);
            check_id(id);
        }
        Err((id, fault)) => {
            check_id(id.as_json());
            if id.as_json() != "null" {
                let said = pairs.as_ref().and_then(|pairs| pairs.get("id"));
                assert_eq!(said, Some(id.as_json()), "an id that nobody sent");
            }
            let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
            let twice = |pairs: &Pairs<'_>| NAMES.iter().any(|name| pairs.count(name) > 1);
            let broken = !is_json || pairs.as_ref().is_some_and(twice);
            assert_eq!(matches!(fault, Fault::Parse), broken, "{fault:?}");
            let first = text.trim_start().bytes().next();
            assert!(!matches!(fault, Fault::Batch) || first == Some(b'['));
        }
    }
}

fn string(json: Option<&str>) -> Option<String> {
    serde_json::from_str(json?).ok()
}

/// An id is a string, an integer or null.
fn check_id(id: &str) {
    match serde_json::from_str::<Value>(id) {
        Ok(Value::String(_) | Value::Null) => {}
        Ok(Value::Number(_)) => assert!(!id.contains(['.', 'e', 'E']), "{id}"),
        Ok(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => panic!("{id} is no id"),
        // Longer than a number that a reader with 64 bits takes.
        Err(_) => assert!(id.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()), "{id}"),
    }
}
