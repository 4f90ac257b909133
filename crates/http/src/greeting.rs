//! A first call that works when it is pasted into a shell, for whoever starts a server.

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","messageId":"m-1","parts":[{"kind":"text","text":"hello"}]}}}"#;

/// The command that sends a message to the default agent of the server at `base`.
#[must_use]
pub fn first_call(base: &str) -> String {
    format!("curl -s {base}/ -H 'Content-Type: application/json' -d '{BODY}'")
}
