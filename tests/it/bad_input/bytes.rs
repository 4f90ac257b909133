//! Bytes of any kind as bodies.

use super::{CALLED, call, feed, plain};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes that are nothing, that look like JSON, and requests in which some bytes are others.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let noise = vec(any::<u8>(), 0..300);
    let nearly_json = "[\\[\\]{}:,\"'a-c0-9\\\\/ \n.eE+\\-u]{0,60}".prop_map(String::into_bytes);
    let tokens = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\"jsonrpc\"",
        "\"2.0\"",
        "\"id\"",
        "1",
        "\"method\"",
        "\"message/send\"",
        "\"params\"",
        "null",
        "true",
        "-",
        "1e9",
        " ",
        "\\",
        "\\u",
        "\\ud800",
        "\u{0}",
        "\u{feff}",
        "é",
    ]);
    let mixed_tokens = vec(tokens, 0..40).prop_map(|tokens| tokens.concat().into_bytes());
    let edited = (any::<prop::sample::Index>(), vec(edit(), 1..4)).prop_map(|(which, edits)| {
        let requests = super::requests::requests();
        let mut body = which.get(&requests).to_string().into_bytes();
        for edit in edits {
            edit.make(&mut body);
        }
        body
    });
    prop_oneof![1 => noise, 2 => nearly_json, 2 => mixed_tokens, 5 => edited]
}

#[derive(Clone, Debug)]
enum Edit {
    Overwrite(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Overwrite(at, byte)),
        (place(), vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (place(), 1_usize..30).prop_map(|(at, length)| Edit::Remove(at, length)),
        place().prop_map(Edit::Cut),
        (place(), 1_usize..40).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ]
}

impl Edit {
    fn make(self, body: &mut Vec<u8>) {
        if body.is_empty() {
            return;
        }
        let length = body.len();
        match self {
            Self::Overwrite(at, byte) => body[at.index(length)] = byte,
            Self::Insert(at, bytes) => {
                let at = at.index(length);
                body.splice(at..at, bytes);
            }
            Self::Remove(at, many) => {
                let at = at.index(length);
                body.drain(at..(at + many).min(length));
            }
            Self::Cut(at) => body.truncate(at.index(length)),
            Self::Repeat(at, many) => {
                let at = at.index(length);
                let again = body[at..(at + many).min(length)].to_vec();
                body.splice(at..at, again);
            }
        }
    }
}

#[test]
fn any_bytes_at_a_route_that_takes_calls_get_one_defined_answer() {
    feed(400, bodies(), async |server, body| {
        for route in CALLED {
            call(server, route, body.clone()).await;
        }
        Ok(())
    });
}

#[test]
fn any_bytes_at_any_other_route_are_refused_in_json() {
    let paths = vec![
        "/.well-known/agent-card.json",
        "/api/v1/a2a/agents",
        "/api/v1/a2a/nobody/jsonrpc",
        "/api/v1/a2a/echo/message:send",
        "/api/v1/a2a/echo/v1/message:send",
        "/api/v1/a2a/echo/tasks/x:cancel",
        "/healthz",
        "/metrics",
        "/nothing",
    ];
    let strategy = (bodies(), prop::sample::select(paths));
    feed(300, strategy, async |server, (body, path)| {
        let reply = server.post(path, &[crate::support::rpc::JSON], body).await;
        plain(&reply);
        prop_assert!(path.contains("message") || reply.status != 200, "{path}");
        Ok(())
    });
}
