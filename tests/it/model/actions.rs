//! What callers do, as random values that shrink.

use super::reference::{Command, Scope, State, Text, When};
use proptest::prelude::*;

/// One call, or something that the test does between two calls. Tasks and streams are named by a number,
/// taken modulo how many there are.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A message that opens a task.
    Send {
        scope: Scope,
        text: Text,
        context: Option<usize>,
        how: How,
    },
    /// A message for a task that exists, perhaps in another scope.
    Continue {
        scope: Reach,
        task: usize,
        text: Text,
        context: ContextOf,
        how: How,
    },
    Cancel {
        scope: Reach,
        task: usize,
    },
    Get {
        scope: Reach,
        task: usize,
        history: Option<usize>,
    },
    List {
        scope: Scope,
        filter: Filter,
        size: usize,
    },
    /// Re-attach; with the id of the event that was seen last, counted back from the newest.
    Attach {
        scope: Reach,
        task: usize,
        behind: Option<u64>,
    },
    /// A client goes away.
    Leave {
        stream: usize,
    },
    /// A run that waits goes on.
    Open {
        gate: usize,
    },
    /// The server crashes and is started again, where that is not the end of all tasks.
    Crash,
    /// Time passes; otherwise everything happens in one millisecond.
    Tick,
}

/// How the answer is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Wait where the model says that there will be an answer, else return at once.
    Wait,
    Return,
    Stream,
}

/// Whose name a call is made in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// That of the task.
    Own,
    /// Any.
    Any(Scope),
    /// That of the task, with an id that nobody knows.
    Unknown,
}

/// The context that a message for a task names.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContextOf {
    None,
    Task,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Filter {
    None,
    Context(usize),
    State(State),
}

pub(super) const AGENTS: [&str; 2] = ["left", "right"];
pub(super) const OWNERS: [&str; 2] = ["ann", "bob"];
pub(super) const CONTEXTS: [&str; 2] = ["talk-1", "talk-2"];

fn scope() -> impl Strategy<Value = Scope> {
    (0..AGENTS.len(), 0..OWNERS.len()).prop_map(|(agent, owner)| Scope { agent, owner })
}

fn word() -> impl Strategy<Value = String> {
    "w[a-z]{0,7}"
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        2 => word().prop_map(Command::Echo),
        1 => word().prop_map(Command::Say),
        4 => word().prop_map(Command::Ask),
        1 => word().prop_map(Command::Reject),
        1 => Just(Command::Fail),
        2 => (1..5_usize, word()).prop_map(|(count, word)| Command::Chunks(count, word)),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    let when =
        prop_oneof![3 => Just(When::Now), 2 => Just(When::AtGate), 1 => Just(When::AtAuthGate)];
    (when, command()).prop_map(|(when, command)| Text { when, command })
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![1 => Just(How::Wait), 1 => Just(How::Return), 2 => Just(How::Stream)]
}

fn reach() -> impl Strategy<Value = Reach> {
    prop_oneof![6 => Just(Reach::Own), 2 => scope().prop_map(Reach::Any), 1 => Just(Reach::Unknown)]
}

fn filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        2 => Just(Filter::None),
        1 => (0..CONTEXTS.len()).prop_map(Filter::Context),
        1 => prop::sample::select(&State::ALL[..]).prop_map(Filter::State),
    ]
}

fn open() -> impl Strategy<Value = Action> {
    (scope(), text(), prop::option::of(0..CONTEXTS.len()), how())
        .prop_map(|(scope, text, context, how)| Action::Send { scope, text, context, how })
}

fn action() -> impl Strategy<Value = Action> {
    let task = || 0..64_usize;
    let named = prop_oneof![
        3 => Just(ContextOf::None),
        2 => Just(ContextOf::Task),
        1 => Just(ContextOf::Other),
    ];
    prop_oneof![
        3 => open(),
        4 => (reach(), task(), text(), named, how()).prop_map(|(scope, task, text, context, how)| {
            Action::Continue { scope, task, text, context, how }
        }),
        2 => (reach(), task()).prop_map(|(scope, task)| Action::Cancel { scope, task }),
        2 => (reach(), task(), prop::option::of(0..4_usize))
            .prop_map(|(scope, task, history)| Action::Get { scope, task, history }),
        2 => (scope(), filter(), 1..4_usize)
            .prop_map(|(scope, filter, size)| Action::List { scope, filter, size }),
        3 => (reach(), task(), prop::option::of(0..6_u64))
            .prop_map(|(scope, task, behind)| Action::Attach { scope, task, behind }),
        1 => task().prop_map(|stream| Action::Leave { stream }),
        3 => task().prop_map(|gate| Action::Open { gate }),
        2 => Just(Action::Tick),
        1 => Just(Action::Crash),
    ]
}

/// Any calls, at most `length`.
pub(super) fn sequences(length: usize) -> impl Strategy<Value = Vec<Action>> {
    prop::collection::vec(action(), 1..length)
}

/// A task is opened, and then everybody does something to it; the other actions are left out.
pub(super) fn of_one_task(length: usize) -> impl Strategy<Value = Vec<Action>> {
    let concerns = |action: &Action| {
        !matches!(action, Action::Send { .. } | Action::List { .. } | Action::Tick)
    };
    let rest = prop::collection::vec(action().prop_filter("another task", concerns), 1..length);
    (open(), rest).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}
