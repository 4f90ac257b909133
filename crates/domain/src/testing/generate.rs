//! Generators of tasks and of everything they hold.

use super::sample;
use crate::change::{ArtifactUpdate, Change, StatusChange, StatusDetails};
use crate::content::{Content, Details, Message, Part, PartLabel, Parts, Role};
use crate::ids::{ArtifactId, MessageId};
use crate::raw_json::RawJson;
use crate::state::TaskState;
use crate::task::Task;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Any state.
pub fn state() -> impl Strategy<Value = TaskState> {
    proptest::sample::select(TaskState::ALL.to_vec())
}

/// Text with what texts are wrong about: nothing, line ends, wide characters, quotes.
pub fn text() -> impl Strategy<Value = Arc<str>> {
    let strange = prop_oneof![Just(""), Just("\r\n"), Just("\u{2028}\0\"\\"), Just("你好 😀")];
    prop_oneof![
        "[a-z ]{0,12}".prop_map(Arc::from),
        strange.prop_map(Arc::from),
        vec(any::<char>(), 0..6).prop_map(|chars| chars.into_iter().collect::<String>().into()),
    ]
}

/// A JSON object.
pub fn object() -> impl Strategy<Value = RawJson> {
    let value = prop_oneof![Just("null"), Just("9007199254740993"), Just("[]"), Just("\"x\"")];
    vec(("[a-c]", value), 0..3).prop_map(|members| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        RawJson::parse(&format!("{{{}}}", members.join(","))).expect("an object")
    })
}

/// A label that says something.
pub fn label() -> impl Strategy<Value = PartLabel> {
    (option::of(object()), option::of(text()), option::of(text()))
        .prop_map(|(metadata, media_type, filename)| PartLabel { metadata, media_type, filename })
}

/// A part of any kind.
pub fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        3 => text().prop_map(Content::Text),
        1 => vec(any::<u8>(), 0..16).prop_map(|bytes| Content::Bytes(bytes.into())),
        1 => "[a-z]{1,6}".prop_map(|path| Content::Url(format!("https://x.example/{path}").into())),
        1 => object().prop_map(Content::Data),
    ];
    let label = option::weighted(0.2, label().prop_map(Box::new));
    (content, label).prop_map(|(content, label)| Part { content, label })
}

/// One to three parts.
pub fn parts() -> impl Strategy<Value = Parts> {
    vec(part(), 1..4).prop_map(|parts| Parts::new(parts).expect("at least one"))
}

/// A message.
pub fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Agent)];
    let names = || vec(text(), 0..2).prop_map(Vec::into_boxed_slice);
    let metadata = option::weighted(0.2, object());
    ("m-[0-9]{1,4}", role, parts(), metadata, names(), names()).prop_map(
        |(id, role, parts, metadata, extensions, references)| Message {
            metadata,
            extensions,
            references,
            ..Message::new(MessageId::new(id).expect("an id"), role, parts)
        },
    )
}

/// What an artifact says about itself.
pub fn details() -> impl Strategy<Value = Details> {
    let extensions = vec(text(), 0..2).prop_map(Vec::into_boxed_slice);
    (option::of(text()), option::of(text()), option::of(object()), extensions).prop_map(
        |(name, description, metadata, extensions)| Details {
            name,
            description,
            metadata,
            extensions,
        },
    )
}

/// A piece of one of three artifacts.
pub fn piece() -> impl Strategy<Value = ArtifactUpdate> {
    let details = option::weighted(0.3, details().prop_map(Box::new));
    ("[abc]", parts(), any::<bool>(), any::<bool>(), details).prop_map(
        |(id, parts, append, last, details)| ArtifactUpdate {
            id: ArtifactId::new(id).expect("an id"),
            parts,
            append,
            last,
            details,
        },
    )
}

/// A status. That of a terminal state ends the run; others may.
pub fn status() -> impl Strategy<Value = StatusChange> {
    let said = option::of(message().prop_map(Arc::new));
    (state(), said, any::<bool>(), status_details()).prop_map(
        |(state, message, parked, details)| StatusChange {
            parked: state.is_terminal() || parked && !state.is_active(),
            state,
            message,
            details,
        },
    )
}

/// Mostly nothing; sometimes a deadline, metadata or an attempt.
fn status_details() -> impl Strategy<Value = Option<Box<StatusDetails>>> {
    let deadline = option::of((0..1000_i64).prop_map(sample::at));
    let metadata = option::of((0..3, 0..9).prop_map(|(name, value)| {
        RawJson::parse(&format!("{{\"m{name}\":{value}}}")).expect("an object")
    }));
    let attempt = option::of((1..5_u32).prop_map(|number| NonZeroU32::MIN.saturating_add(number)));
    let some = (deadline, metadata, attempt).prop_map(|(deadline, metadata, attempt)| {
        Box::new(StatusDetails { deadline, metadata, attempt })
    });
    option::weighted(0.2, some)
}

/// Any change, whether or not a task would take it. Ends are rare, so that lives are long.
pub fn change() -> impl Strategy<Value = Change> {
    let live = status().prop_filter("not an end", |status| !status.state.is_terminal());
    prop_oneof![
        2 => message().prop_map(|message| Change::Message(Arc::new(message))),
        3 => live.prop_map(Change::Status),
        1 => status().prop_map(Change::Status),
        4 => piece().prop_map(|piece| Change::Artifact(Arc::new(piece))),
    ]
}

/// Up to `most` changes in any order. Every message among them has its own id.
pub fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    vec(change(), 0..=most).prop_map(|changes| {
        let number = |(index, change): (usize, Change)| renamed(change, index);
        changes.into_iter().enumerate().map(number).collect()
    })
}

fn renamed(change: Change, index: usize) -> Change {
    let rename = |message: Arc<Message>| {
        let id = MessageId::new(format!("m-{index}")).expect("an id");
        Arc::new(Message { id, ..(*message).clone() })
    };
    match change {
        Change::Message(message) => Change::Message(rename(message)),
        Change::Status(status) => {
            Change::Status(StatusChange { message: status.message.map(rename), ..status })
        }
        Change::Artifact(piece) => Change::Artifact(piece),
    }
}

/// A task that has taken what it would of some changes.
pub fn task() -> impl Strategy<Value = Task> {
    (any::<u64>(), changes(12)).prop_map(|(id, changes)| {
        let mut task = sample::opened(sample::key(u128::from(id)), 0);
        for (index, change) in changes.into_iter().enumerate() {
            let at = sample::at(i64::try_from(index).unwrap_or(i64::MAX));
            // What does not fit is left out.
            let _ = task.apply(change, at);
        }
        task
    })
}

/// A few values of a strategy, the same ones each time, for tests that cannot be inside `proptest!`.
pub fn some<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    let value = |_| strategy.new_tree(&mut runner).expect("a value").current();
    (0..count).map(value).collect()
}
