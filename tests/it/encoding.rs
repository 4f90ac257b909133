//! What is in messages comes back as it was sent, and what cannot be read is refused by name.

mod files;
mod messages;
mod metadata;
mod numbers;
mod optional;
mod states;
mod text;
mod times;

use crate::support::TestServer;
use crate::support::rpc::{Answered, call};

/// A send of a message with these members, as text, to a route.
async fn send(server: &TestServer, route: &str, message: &str) -> Answered {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"message":{{{message}}}}}}}"#
    );
    call(server, route, body).await
}

/// A send of one part, as text.
async fn send_part(server: &TestServer, route: &str, part: &str) -> Answered {
    send(server, route, &format!(r#""role":"user","messageId":"m","parts":[{part}]"#)).await
}

/// The path that an error of the strict routes names.
fn field(answer: &Answered) -> String {
    assert_eq!(answer.code(), -32602, "{answer:?}");
    let field = &answer.error()["data"]["fieldViolations"][0]["field"];
    field.as_str().unwrap_or_else(|| panic!("no field: {answer:?}")).to_owned()
}
