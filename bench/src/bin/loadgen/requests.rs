//! The calls of the load as JSON-RPC text, in the 0.3 dialect.

/// Where calls to the echo agent go.
pub(crate) const ECHO: &str = "/api/v1/a2a/echo/jsonrpc";

/// Where calls to the script agent go.
pub(crate) const SCRIPT: &str = "/api/v1/a2a/script/jsonrpc";

/// A message to a new task, answered when the task has ended.
pub(crate) fn send(number: u64, text: &str) -> String {
    call(number, "message/send", &message(number, text, r#","configuration":{"blocking":true}"#))
}

/// A message to a new task, answered with a stream.
pub(crate) fn stream(number: u64, text: &str) -> String {
    call(number, "message/stream", &message(number, text, ""))
}

pub(crate) fn get(number: u64, task: &str) -> String {
    call(number, "tasks/get", &format!(r#"{{"id":"{task}"}}"#))
}

pub(crate) fn cancel(number: u64, task: &str) -> String {
    call(number, "tasks/cancel", &format!(r#"{{"id":"{task}"}}"#))
}

pub(crate) fn list(number: u64, size: usize, token: Option<&str>) -> String {
    let token = token.map(|token| format!(r#","pageToken":{}"#, serde_json::Value::from(token)));
    let params = format!(r#"{{"pageSize":{size}{}}}"#, token.unwrap_or_default());
    call(number, "tasks/list", &params)
}

/// The text needs no escape, see [`a2ad_bench::payload`].
fn message(number: u64, text: &str, configuration: &str) -> String {
    format!(
        r#"{{"message":{{"kind":"message","role":"user","messageId":"{number:08x}-7d1b-4f2e-9c60-5a8e3b94d107","parts":[{{"kind":"text","text":"{text}"}}]}}{configuration}}}"#
    )
}

fn call(number: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_call_is_json() {
        let calls = [
            send(1, "a"),
            stream(1, "chunks:4|a"),
            get(1, "t"),
            cancel(1, "t"),
            list(1, 50, None),
            list(1, 50, Some("a\"b")),
        ];
        for call in calls {
            let value: Value = serde_json::from_str(&call).unwrap();
            assert_eq!(value["id"], 1, "{call}");
        }
    }

    #[test]
    fn a_message_has_an_id_of_the_usual_length() {
        let value: Value = serde_json::from_str(&send(7, "a")).unwrap();
        assert_eq!(value["params"]["message"]["messageId"].as_str().unwrap().len(), 36);
        assert_eq!(value["params"]["configuration"]["blocking"], true);
    }
}
