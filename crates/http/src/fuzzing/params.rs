//! The parameters of every method in every line: what is read can be written and is the same when it is read
//! again, whatever binding carries it, and what is refused has a code and an answer.

use super::again::{self, Written};
use super::{Line, METHODS};
use crate::call::fault_of;
use crate::dialect::{Answer, Call, Method, encode};
use crate::json;
use a2ad_domain::service::SendMessage;
use a2ad_domain::{ContextId, ErrorCode, Message};
use serde_json::Value;
use serde_json::value::RawValue;

/// The first byte chooses line and method, the rest is the text of the parameters.
pub fn params(input: &[u8]) {
    let Some((choice, body)) = input.split_first() else { return };
    let line = Line::of(*choice);
    let method = METHODS[usize::from(choice / 4) % METHODS.len()];
    let Some(text) = json::text(body) else { return };
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    match line.decode(method, raw) {
        Ok(call) => read(line, method, call),
        Err(unreadable) => refused(line, &fault_of(unreadable, method, true), text.len()),
    }
}

/// Every refusal is an error object with a code that is written down, and no longer than its cause.
pub(super) fn refused(line: Line, fault: &crate::call::Fault, length: usize) {
    let code = fault.code(line.shape);
    assert!(!matches!(code, ErrorCode::Internal | ErrorCode::InvalidAgentResponse), "{fault:?}");
    let mut out = Vec::new();
    line.dialect.fault(fault, line.shape, &mut out);
    // Names of fields are told back with escapes, some of them in a message as well.
    assert!(out.len() < 1024 + 16 * length, "{} bytes about {length}", out.len());
    let told: Value = serde_json::from_slice(&out).expect("an error is JSON");
    let number = told["code"].as_i64();
    let known = ErrorCode::ALL.iter().any(|code| Some(i64::from(code.number())) == number);
    assert!(known, "{told}");
    assert!(told["message"].as_str().is_some_and(|message| !message.is_empty()), "{told}");
    assert!(!told.to_string().contains("at line "), "words of a library: {told}");
}

pub(super) fn read(line: Line, method: Method, call: Call) {
    match call {
        Call::Send(send, view) | Call::Stream(send, view) => {
            message(line, &send.message);
            let written = again::send(line, &send, view);
            let (Call::Send(second, shown) | Call::Stream(second, shown)) =
                line.read(method, &written)
            else {
                panic!("another call");
            };
            assert_eq!(shown, view);
            let rest = |send: &SendMessage| {
                let SendMessage { task, context, wait, metadata, accepted_output_modes, .. } = send;
                format!("{task:?} {context:?} {wait:?} {metadata:?} {accepted_output_modes:?}")
            };
            assert_eq!(rest(&second), rest(&send), "{written}");
        }
        Call::Get(..) | Call::List(..) | Call::Cancel(_) | Call::Attach(_) => {
            let said = format!("{call:?}");
            let Written { json, query } = again::written(line, &call);
            assert_eq!(format!("{:?}", line.read(method, &json)), said, "{json}");
            // The bindings of a line make the same calls.
            let object = crate::rest::route::object("", &query, None);
            assert_eq!(format!("{:?}", line.read(method, object.get())), said, "{query}");
        }
        Call::SetPush(..)
        | Call::GetPush(..)
        | Call::ListPush { .. }
        | Call::DeletePush(..)
        | Call::ExtendedCard => {}
    }
}

/// A message is the same after it has gone out and come back: on the 1.0 line at once, on the others from the
/// second time on.
fn message(line: Line, message: &Message) {
    let new = through(Line::NEW, message);
    assert_eq!(&new, message, "the 1.0 line loses something");
    let first = through(line, message);
    let second = through(line, &first);
    assert_eq!(second, first);
}

fn through(line: Line, message: &Message) -> Message {
    let context = ContextId::new("c").expect("a context id");
    let mut out = Vec::new();
    encode::answer(&Answer::Message(message, &context), line.shape, &mut out);
    assert!(!out.contains(&b'\n'), "a stream carries it on one line");
    let text = std::str::from_utf8(&out).expect("text");
    let params = if line.shape.wrapped { text.into() } else { format!("{{\"message\":{text}}}") };
    let Call::Send(send, _) = line.read(Method::Send, &params) else { panic!("another call") };
    send.message
}
