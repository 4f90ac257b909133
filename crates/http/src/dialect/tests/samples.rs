//! The samples that every dialect writes. A new variant of something that goes over the wire does not
//! compile here until it is named, and fails until there is a sample of it.

use crate::call::Fault;
use crate::dialect::{Answer, Artifacts, Event, View};
use a2ad_domain::error::{Busy, Unsupported};
use a2ad_domain::ports::Page;
use a2ad_domain::testing::sample;
use a2ad_domain::{
    ArtifactUpdate, Change, Content, ContextId, Details, Error, ErrorCode, Message, MessageId,
    Part, PartLabel, Parts, RawJson, Recorded, Role, StatusChange, Task, TaskId, TaskState,
    Webhook,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn json(text: &str) -> RawJson {
    RawJson::parse(text).expect("JSON")
}

fn label(
    metadata: Option<&str>,
    media_type: Option<&str>,
    filename: Option<&str>,
) -> Box<PartLabel> {
    Box::new(PartLabel {
        metadata: metadata.map(json),
        media_type: media_type.map(Arc::from),
        filename: filename.map(Arc::from),
    })
}

/// Parts, each by its name.
fn parts() -> Vec<(&'static str, Part)> {
    let part = |content, label| Part { content, label };
    let bytes = || Content::Bytes(vec![0xfb, 0xff, 0x00].into());
    let url = || Content::Url("https://x.example/a?b=\"c\"".into());
    let text = || Content::Text("a \"quoted\" \\ line\nand\u{2028}another 你好".into());
    let full = || Some(label(Some(r#"{"n":9007199254740993}"#), Some("text/x"), Some("a.x")));
    vec![
        ("text", part(text(), None)),
        ("empty text", part(Content::Text("".into()), None)),
        ("labelled text", part(text(), full())),
        ("bytes", part(bytes(), None)),
        ("labelled bytes", part(bytes(), full())),
        ("url", part(url(), None)),
        ("labelled url", part(url(), full())),
        ("object", part(Content::Data(json(r#"{"b":1.50,"a":[null]}"#)), None)),
        ("labelled object", part(Content::Data(json("{}")), full())),
        ("array", part(Content::Data(json("[1,null]")), None)),
        ("null", part(Content::Data(json("null")), full())),
        ("text as data", part(Content::Data(json("\"x\"")), None)),
    ]
}

const fn name_of_content(content: &Content) -> &'static str {
    match content {
        Content::Text(_) => "text",
        Content::Bytes(_) => "bytes",
        Content::Url(_) => "url",
        Content::Data(_) => "data",
    }
}

fn message(role: Role, parts: Vec<Part>) -> Message {
    let id = MessageId::new("m-1").expect("an id");
    Message::new(id, role, Parts::new(parts).expect("at least one"))
}

/// Messages, each by its name.
fn messages() -> Vec<(String, Message)> {
    let one = |(name, part)| (format!("message with {name}"), message(Role::Agent, vec![part]));
    let mut all: Vec<_> = parts().into_iter().map(one).collect();
    let contents: BTreeSet<_> = all
        .iter()
        .flat_map(|(_, message)| message.parts.as_slice())
        .map(|part| name_of_content(&part.content))
        .collect();
    assert_eq!(contents.len(), 4, "a sample of every content: {contents:?}");
    let several = vec![Part::text("a"), Part::text("b")];
    all.push((
        "message with everything".to_owned(),
        Message {
            metadata: Some(json(r#"{"a":null}"#)),
            extensions: ["urn:a".into(), "urn:b".into()].into(),
            references: ["t-1".into()].into(),
            ..message(Role::User, several)
        },
    ));
    all
}

fn details() -> Box<Details> {
    Box::new(Details {
        name: Some("a name".into()),
        description: Some("what it is".into()),
        metadata: Some(json(r#"{"k":"v"}"#)),
        extensions: ["urn:a".into()].into(),
    })
}

fn piece(append: bool, last: bool, details: Option<Box<Details>>, parts: Vec<Part>) -> Change {
    let (id, parts) = (sample::artifact_id("out-1"), Parts::new(parts).expect("at least one"));
    Change::Artifact(Arc::new(ArtifactUpdate { id, parts, append, last, details }))
}

/// Changes, each by its name.
fn changes() -> Vec<(String, Change)> {
    let status = |state: TaskState| (format!("status {state}"), sample::status(state));
    let mut all: Vec<_> = TaskState::ALL.into_iter().map(status).collect();
    let asks = StatusChange::ending(TaskState::InputRequired, Some(sample::reply("r-1", "which?")));
    all.push(("status with a message".to_owned(), asks));
    all.push(("a message".to_owned(), Change::Message(Arc::new(sample::message("m-2", "more")))));
    for (append, last) in [(false, false), (false, true), (true, false), (true, true)] {
        let name = format!("piece, append {append}, last {last}");
        all.push((name, piece(append, last, None, vec![Part::text("a")])));
    }
    let every = parts().into_iter().map(|(_, part)| part).collect();
    all.push(("piece with everything".to_owned(), piece(false, true, Some(details()), every)));
    for (name, change) in &all {
        match change {
            Change::Status(_) => assert!(name.starts_with("status")),
            Change::Message(_) => assert_eq!(name, "a message"),
            Change::Artifact(_) => assert!(name.starts_with("piece")),
        }
    }
    all
}

/// A task in a state, and the way there.
fn task(state: TaskState) -> Task {
    sample::applied(sample::opened(sample::key(7), 1_000), &sample::way_to(state), 2_345).0
}

/// A task with a history and artifacts of several pieces.
fn rich_task() -> Task {
    let steps = [
        piece(false, false, Some(details()), vec![Part::text("a"), Part::text("b")]),
        piece(true, false, None, vec![Part::text("c"), Part::data(json("{}")), Part::text("d")]),
        piece(true, true, None, vec![Part::text("e")]),
        StatusChange::report(TaskState::Working, Some(sample::reply("r-1", "half way"))),
        StatusChange::ending(TaskState::InputRequired, Some(sample::reply("r-2", "which?"))),
        Change::Message(Arc::new(sample::message("m-2", "this one"))),
    ];
    let mut all = vec![sample::status(TaskState::Working)];
    all.extend(steps);
    let way: Vec<Change> = all;
    sample::applied(sample::opened(sample::key(8), 1_000), &way, 2_345).0
}

/// Webhooks with everything, with what is needed, and in between.
fn webhooks() -> Vec<Webhook> {
    let full = sample::webhook("full \"quoted\"", "https://hooks.example/a?b=\"c\"");
    let mut silent = sample::webhook("silent", "https://hooks.example/b");
    if let Some(authentication) = &mut silent.authentication {
        authentication.credentials = None;
    }
    let mut bare = sample::webhook("bare", "https://hooks.example/c");
    (bare.token, bare.authentication) = (None, None);
    let kept = |(number, config)| Webhook {
        number,
        config,
        told: a2ad_domain::Version(3),
        again: Vec::new(),
    };
    (1..).zip([full, silent, bare]).map(kept).collect()
}

/// Every failure, each by its name.
fn faults() -> Vec<(String, Fault)> {
    let id = TaskId::from_u128(9);
    let mut all = vec![
        Fault::Parse,
        Fault::NotARequest,
        Fault::Batch,
        Fault::TooLarge,
        Fault::ContentType,
        Fault::UnknownMethod { successor: None },
        Fault::UnknownMethod { successor: Some("message/send") },
        Fault::SendWithoutParams,
        Fault::Version { requested: String::new() },
        Fault::Version { requested: "9.9".to_owned() },
        Fault::ExtensionRequired { uri: "urn:a".to_owned() },
    ];
    let failed = [
        Error::TaskNotFound { id: "no \"such\"".into() },
        Error::TaskNotCancelable { id, state: TaskState::Canceled },
        Error::UnsupportedOperation { id: Some(id), why: Unsupported::Terminal(TaskState::Failed) },
        Error::UnsupportedOperation { id: None, why: Unsupported::Refused },
        Error::invalid("message.parts[0].text", "has the wrong type"),
        Error::invalid("", "must be an object"),
        Error::ContentTypeNotSupported { field: "message.parts[1]".to_owned() },
        Error::PushNotificationNotSupported,
        Error::ExtendedCardNotConfigured,
        Error::Unavailable(Busy::Draining),
        Error::Internal { reference: *id.as_uuid(), source: "a secret".into() },
    ];
    all.extend(failed.map(Fault::Failed));
    all.into_iter().map(|fault| (name_of_fault(&fault), fault)).collect()
}

fn name_of_fault(fault: &Fault) -> String {
    let name = match fault {
        Fault::Parse => "no JSON",
        Fault::NotARequest => "no request",
        Fault::Batch => "a batch",
        Fault::TooLarge => "too large",
        Fault::ContentType => "no JSON by its type",
        Fault::UnknownMethod { successor } => {
            return format!("unknown method, now {}", successor.unwrap_or("nothing"));
        }
        Fault::SendWithoutParams => "send without parameters",
        Fault::Version { requested } => return format!("version {requested:?}"),
        Fault::ExtensionRequired { .. } => "required extension",
        Fault::Failed(error) => return name_of_error(error),
    };
    name.to_owned()
}

fn name_of_error(error: &Error) -> String {
    let name = match error {
        Error::TaskNotFound { .. } => "unknown task",
        Error::TaskNotCancelable { .. } => "not cancelable",
        Error::UnsupportedOperation { why, .. } => return format!("unsupported, {why:?}"),
        Error::InvalidParams { field, .. } => return format!("invalid parameter {field:?}"),
        Error::ContentTypeNotSupported { .. } => "media type",
        Error::PushNotificationNotSupported => "no push notifications",
        Error::ExtendedCardNotConfigured => "no extended card",
        Error::Unavailable(_) => "busy",
        Error::Internal { .. } => "internal",
    };
    name.to_owned()
}

/// Something that is written.
pub(super) enum Sample<'a> {
    Answer(Answer<'a>),
    Event(Event<'a>),
    Fault(&'a Fault),
}

/// Calls `each` with every sample: the file it goes into, its name in there, and the sample.
pub(super) fn each(mut each: impl FnMut(&'static str, &str, &Sample<'_>)) {
    let context = ContextId::new("c-1").expect("a context id");
    for (name, message) in messages() {
        each("messages", &name, &Sample::Answer(Answer::Message(&message, &context)));
    }
    let whole = View::WHOLE;
    for state in TaskState::ALL {
        let task = task(state);
        each("tasks", &format!("task {state}"), &Sample::Answer(Answer::Task(&task, whole)));
    }
    let rich = rich_task();
    each("tasks", "sent task", &Sample::Answer(Answer::Sent(&rich, whole)));
    for history in [Some(0), Some(2)] {
        for artifacts in [Artifacts::Hidden, Artifacts::IfAny, Artifacts::Always] {
            let name = format!("history {history:?}, artifacts {artifacts:?}");
            each("tasks", &name, &Sample::Answer(Answer::Task(&rich, View { history, artifacts })));
        }
    }
    let bare = task(TaskState::Submitted);
    let view = View { history: Some(3), artifacts: Artifacts::Always };
    each("tasks", "no artifacts, shown all the same", &Sample::Answer(Answer::Task(&bare, view)));
    for (name, tasks, token) in [("an empty page", vec![], ""), ("a page", vec![rich, bare], "tok")]
    {
        let tasks: Vec<_> = tasks.into_iter().map(Arc::new).collect();
        let page = Page { tasks, next: None, total: 12 };
        let view = View { history: Some(0), artifacts: Artifacts::Hidden };
        let page = Answer::Page { page: &page, size: 5, token, view };
        each("pages", name, &Sample::Answer(page));
    }
    let webhooks = webhooks();
    for webhook in &webhooks {
        let name = webhook.config.id.as_str();
        each("webhooks", name, &Sample::Answer(Answer::Webhook("t-1", webhook)));
    }
    for (name, page, token) in [("a page", &webhooks[..], Some("tok")), ("no webhooks", &[], None)]
    {
        each("webhooks", name, &Sample::Answer(Answer::Webhooks { task: "t-1", page, token }));
    }
    each("webhooks", "done", &Sample::Answer(Answer::Nothing));
    let key = sample::key(7);
    for (name, change) in changes() {
        for last in [false, true] {
            let change = Recorded {
                version: a2ad_domain::Version(5),
                at: sample::at(2_345),
                change: change.clone(),
            };
            let name = if last { format!("{name}, then the end") } else { name.clone() };
            let event = Event { key: &key, context: &context, change: &change, last };
            each("events", &name, &Sample::Event(event));
        }
    }
    let faults = faults();
    let codes: BTreeSet<i32> = faults
        .iter()
        .map(|(_, fault)| fault.code(&crate::dialect::shape::LINE_1).number())
        .collect();
    // No call is answered with these two: a broken agent fails its task, and the line has another code
    // where there is no card.
    let unused = [ErrorCode::InvalidAgentResponse, ErrorCode::ExtendedCardNotConfigured];
    for code in ErrorCode::ALL.into_iter().filter(|code| !unused.contains(code)) {
        assert!(codes.contains(&code.number()), "a sample of {code:?}");
    }
    for (name, fault) in &faults {
        each("errors", name, &Sample::Fault(fault));
    }
}
