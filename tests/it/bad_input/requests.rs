//! Requests with everything in them that a client may send, in which something is wrong.

use super::json::{Json, change};
use super::{call, feed};
use crate::support::rpc::{Answered, ROUTES};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// A good request for each method.
pub(super) fn requests() -> Vec<Value> {
    let message = json!({
        "kind": "message", "role": "user", "messageId": "m-1", "contextId": "c-1",
        "metadata": { "a": [1, { "b": null }] }, "extensions": ["urn:a"], "referenceTaskIds": ["t-1"],
        "parts": [
            { "kind": "text", "text": "x", "metadata": { "n": 9_007_199_254_740_993_u64 } },
            { "kind": "file", "file": { "bytes": "aGk=", "mimeType": "text/plain", "name": "a" } },
            { "kind": "file", "file": { "uri": "https://example.org/a" } },
            { "kind": "data", "data": { "a": { "b": [] } } },
        ],
    });
    let configuration =
        json!({ "blocking": true, "historyLength": 3, "acceptedOutputModes": ["text/plain"] });
    let send =
        json!({ "message": message, "configuration": configuration, "metadata": { "k": "v" } });
    let config = json!({ "url": "https://example.org/hook", "token": "t" });
    let list = json!({
        "contextId": "c-1", "status": "completed", "pageSize": 2, "pageToken": "", "historyLength": 1,
        "statusTimestampAfter": "2020-01-01T00:00:00Z", "includeArtifacts": true,
    });
    let calls = [
        ("message/send", send.clone()),
        (
            "message/send",
            json!({ "message": { "role": "user", "messageId": "m", "parts": [{ "text": "x" }] } }),
        ),
        ("message/stream", send),
        ("tasks/get", json!({ "id": "t-1", "historyLength": 2, "metadata": {} })),
        ("tasks/list", list),
        ("tasks/cancel", json!({ "id": "t-1", "metadata": { "why": "no more" } })),
        ("tasks/resubscribe", json!({ "id": "t-1" })),
        (
            "tasks/pushNotificationConfig/set",
            json!({ "taskId": "t-1", "pushNotificationConfig": config }),
        ),
        ("agent/getAuthenticatedExtendedCard", json!({})),
    ];
    let request = |(method, params)| json!({ "jsonrpc": "2.0", "id": "r-1", "method": method, "params": params });
    calls.map(request).into()
}

/// Requests with one to four mistakes.
fn wrong() -> impl Strategy<Value = Json> {
    let request = prop::sample::select(requests());
    (request, vec((any::<Index>(), change()), 1..4)).prop_map(|(request, changes)| {
        let mut request = Json::from(request);
        for (place, change) in changes {
            let place = place.index(request.size());
            change.make(request.at(place));
        }
        request
    })
}

/// Whether an id is one that can be told back.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text == "null" || integer || serde_json::from_str::<String>(text).is_ok()
}

/// An answer is told under the id of its request as soon as there is a request, and otherwise under none.
fn check_id(request: &Json, answer: &Answered) -> Result<(), TestCaseError> {
    let Json::Object(_) = request else { return Ok(()) };
    let ids = request.members("id");
    let code = answer.outcome.as_ref().err().map(|error| error["code"].clone());
    let read = !code.is_some_and(|code| [json!(-32700), json!(-32600)].contains(&code));
    match &ids[..] {
        [] => prop_assert_eq!(&answer.id, "null"),
        [id] if read => prop_assert_eq!(&answer.id, id),
        [id] => prop_assert!(answer.id == "null" || answer.id == *id && is_id(id), "{}", answer.id),
        _ => prop_assert!(!read && answer.id == "null", "{:?}", answer),
    }
    Ok(())
}

#[test]
fn a_request_in_which_anything_is_wrong_gets_one_defined_answer_under_its_id() {
    feed(700, wrong(), async |server, request| {
        let body = request.to_string();
        for route in ROUTES {
            for answer in call(server, route, body.as_str()).await {
                check_id(&request, &answer)?;
            }
        }
        Ok(())
    });
}

/// Every member in turn is missing, null, of each other type, and given twice.
#[tokio::test]
async fn each_member_in_turn_may_be_wrong_in_every_way() {
    let server = crate::support::TestServer::start().await;
    let types =
        ["null", "true", "7", "-1.5", "\"\"", "\"x\"", "[]", "[[]]", "[{}]", "{}", "{\"id\":[]}"];
    for request in requests() {
        let whole = Json::from(request);
        for place in 0..whole.size() {
            for new in types {
                let mut request = whole.clone();
                *request.at(place) = Json::Token(new.into());
                for answer in call(&server, "/a2a", request.to_string()).await {
                    check_id(&request, &answer).unwrap_or_else(|e| panic!("{e}: {request}"));
                }
            }
            let members =
                if let Json::Object(members) = whole.clone().at(place) { members.len() } else { 0 };
            for member in 0..members {
                for twice in [false, true] {
                    let mut request = whole.clone();
                    let Json::Object(members) = request.at(place) else {
                        unreachable!("an object")
                    };
                    if twice {
                        let again = members[member].clone();
                        members.push(again);
                    } else {
                        members.remove(member);
                    }
                    for answer in call(&server, "/", request.to_string()).await {
                        check_id(&request, &answer).unwrap_or_else(|e| panic!("{e}: {request}"));
                    }
                }
            }
        }
    }
    super::in_order(server).await;
}
