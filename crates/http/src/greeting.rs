//! A first call that works when it is pasted into a shell, for whoever starts a server.

use crate::auth::Access;

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","messageId":"m-1","parts":[{"kind":"text","text":"hello"}]}}}"#;

/// The command that sends a message to the default agent of the server at `base`. What its callers have to
/// show is to be put in.
#[must_use]
pub fn first_call(base: &str, access: &Access) -> String {
    let shown = access.schemes().first().map(|scheme| format!(" {}", scheme.option()));
    let shown = shown.unwrap_or_default();
    format!("curl -s {base}/ -H 'Content-Type: application/json'{shown} -d '{BODY}'")
}
