//! Reads what a dialect writes as its clients do. Messages and parts go through the dialect's own reader,
//! which takes them from clients; only what no client sends is read here.

use crate::dialect::shape::Shape;
use crate::dialect::{Call, Dialect, Method};
use a2ad_domain::{Message, Parts, RawJson, TaskState, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(super) type Members<'a> = BTreeMap<String, &'a RawValue>;

pub(super) fn members(text: &str) -> Members<'_> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(super) fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> T {
    serde_json::from_str(value.get()).unwrap_or_else(|error| panic!("{error}: {}", value.get()))
}

/// Who reads.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) dialect: &'static dyn Dialect,
    pub(super) shape: &'static Shape,
}

impl Reader {
    /// The message of a send, and the context and the task that it names.
    pub(super) fn message(self, text: &str) -> (Message, Option<String>, Option<String>) {
        let params = RawValue::from_string(format!("{{\"message\":{text}}}")).expect("JSON");
        let call = self.dialect.decode(Method::Send, Some(&*params), self.shape);
        let call = call.unwrap_or_else(|problem| panic!("{problem:?}: {text}"));
        let Call::Send(call, _) = call else { panic!("a send is a send") };
        let context = call.context.as_ref().map(|context| context.as_str().to_owned());
        (call.message, context, call.task.as_deref().map(str::to_owned))
    }

    /// Parts, by way of a message that holds them.
    pub(super) fn parts(self, text: &str) -> Parts {
        let (role, name) = (self.shape.roles[0], self.shape.message_parts);
        let message = format!(r#"{{"role":"{role}","messageId":"m","{name}":{text}}}"#);
        self.message(&message).0.parts
    }

    /// State, time and message of a status.
    pub(super) fn status(self, text: &str) -> (TaskState, Timestamp, Option<Message>) {
        let members = members(text);
        let (state, time): (&str, &str) = (read(members["state"]), read(members["timestamp"]));
        let known = TaskState::ALL.into_iter().find(|known| self.shape.state(*known) == state);
        let message = members.get("message").map(|message| self.message(message.get()).0);
        (known.expect("a state"), Timestamp::parse(time).expect("a time"), message)
    }

    /// What is inside the member that says what it is, where there is one.
    pub(super) fn unwrapped<'a>(self, text: &'a str, name: &str) -> &'a str {
        if !self.shape.wrapped {
            return text;
        }
        let members = members(text);
        assert_eq!(members.len(), 1, "{text}");
        members[name].get()
    }
}

/// The free-form member of an object.
pub(super) fn metadata(members: &Members<'_>) -> Option<RawJson> {
    members.get("metadata").map(|value| RawJson::new(value))
}
