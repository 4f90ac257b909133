//! Messages that are refused: the code says why, and nothing is stored, started or kept.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::error::{Busy, Unsupported};
use a2ad_domain::ports::Rejection;
use a2ad_domain::service::SendMessage;
use a2ad_domain::testing::sample::call;
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, World};
use a2ad_domain::{Content, Error, ErrorCode, Part, PartLabel, Parts};
use std::sync::Arc;

/// Sends and streams `call`; both must fail alike and leave nothing.
async fn refused(world: &World, call: SendMessage) -> Error {
    let streamed = world.service.stream(&world.scope, call.clone()).await.err().unwrap();
    let sent = world.service.send(&world.scope, call).await.unwrap_err();
    assert_eq!(sent.code(), streamed.code());
    assert!(world.store.tasks().is_empty());
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
    assert_eq!(world.bus.subscribers(), 0);
    sent
}

fn labelled(content: Content, media_type: Option<&str>) -> Part {
    let label = PartLabel { media_type: media_type.map(Into::into), ..PartLabel::default() };
    Part { content, label: Some(Box::new(label)) }
}

fn with_parts(parts: Vec<Part>) -> SendMessage {
    let mut call = call("x");
    call.message.parts = Parts::new(parts).unwrap();
    call
}

#[tokio::test]
async fn an_agent_may_refuse_a_first_message() {
    let agent = ScriptedAgent::new([]);
    let world = World::new(agent.clone());
    let (field, problem) = ("message.parts[0]".to_owned(), "is too long".to_owned());
    agent.accepts(Err(Rejection::Invalid { field: field.clone(), problem: problem.clone() }));
    match refused(&world, call("x")).await {
        Error::InvalidParams { field: f, problem: p } => assert_eq!((f, p), (field, problem)),
        other => panic!("{other:?}"),
    }
    agent.accepts(Err(Rejection::Unsupported));
    let error = refused(&world, call("x")).await;
    let why = Unsupported::Refused;
    assert!(matches!(error, Error::UnsupportedOperation { id: None, why: w } if w == why));
    agent.accepts(Err(Rejection::ContentType));
    assert_eq!(refused(&world, call("x")).await.code(), ErrorCode::ContentTypeNotSupported);
    assert!(agent.turns().is_empty());
}

#[tokio::test]
async fn a_server_that_shuts_down_takes_no_message_and_still_reads_and_cancels() {
    let agent = ScriptedAgent::new([]);
    let world = World::new(agent.clone());
    world.service.drain();
    let error = refused(&world, call("x")).await;
    assert!(matches!(error, Error::Unavailable(Busy::Draining)));
    assert!(agent.asked().is_empty());
    let key = world.task_in(a2ad_domain::TaskState::InputRequired);
    let id = key.id.to_string();
    let answer = SendMessage { task: Some(id.as_str().into()), ..call("x") };
    let error = world.service.send(&world.scope, answer).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(Busy::Draining)));
    assert!(world.service.get(&world.scope, &id).await.is_ok());
    assert!(world.service.cancel(&world.scope, &id).await.is_ok());
}

#[tokio::test]
async fn without_a_free_place_a_message_is_refused_as_busy() {
    let world = World::new(ScriptedAgent::new([]));
    world.spawner.set_places(0);
    let error = refused(&world, call("x")).await;
    assert!(matches!(error, Error::Unavailable(Busy::Runs)));
    assert_eq!(world.store.calls(Op::Insert), 0);
}

#[tokio::test]
async fn a_store_full_of_live_tasks_refuses_as_busy_and_the_place_is_free_again() {
    let world = World::new(ScriptedAgent::new([]));
    world.store.script(Op::Insert, [Fault::Full, Fault::Full]);
    let error = refused(&world, call("x")).await;
    assert!(matches!(error, Error::Unavailable(Busy::Store)));
}

#[tokio::test]
async fn a_part_that_the_agent_does_not_take_is_refused_by_its_path() {
    let setup = Setup { input_modes: vec!["text/plain".to_owned()], ..Setup::default() };
    let agent = ScriptedAgent::new([]);
    let world = World::with(agent.clone(), setup);
    let png = || Content::Bytes(b"png".as_slice().into());
    let call = with_parts(vec![Part::text("see"), labelled(png(), Some("image/png"))]);
    match refused(&world, call).await {
        Error::ContentTypeNotSupported { field } => assert_eq!(field, "message.parts[1]"),
        other => panic!("{other:?}"),
    }
    assert!(agent.asked().is_empty());
    let unlabelled = with_parts(vec![Part { content: png(), label: None }]);
    let unlabelled = SendMessage { wait: Some(false), ..unlabelled };
    assert!(world.service.send(&world.scope, unlabelled).await.is_ok(), "it may be anything");
}

#[tokio::test]
async fn a_client_that_takes_nothing_the_agent_makes_is_refused() {
    let setup = Setup { output_modes: vec!["text/plain".to_owned()], ..Setup::default() };
    let world = World::with(ScriptedAgent::new([]), setup);
    let takes = |modes: &[&str]| SendMessage {
        accepted_output_modes: modes.iter().map(|mode| (*mode).to_owned()).collect(),
        wait: Some(false),
        ..call("x")
    };
    match refused(&world, takes(&["image/png", "audio/*"])).await {
        Error::ContentTypeNotSupported { field } => {
            assert_eq!(field, "configuration.acceptedOutputModes");
        }
        other => panic!("{other:?}"),
    }
    for modes in [&["image/png", "text/*"][..], &["*/*"], &["text/plain; charset=utf-8"], &[]] {
        assert!(world.service.send(&world.scope, takes(modes)).await.is_ok(), "{modes:?}");
    }
}

#[tokio::test]
async fn a_made_up_task_id_is_not_found_and_makes_no_task() {
    let world = World::new(ScriptedAgent::new([]));
    for id in ["made-up-id", "00000000-0000-4000-8000-000000000000", "", "\u{0}"] {
        let call = SendMessage { task: Some(Arc::from(id)), ..call("x") };
        match refused(&world, call).await {
            Error::TaskNotFound { id: named } => assert_eq!(&*named, id),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn only_tasks_that_the_sender_may_see_are_passed_on_as_references() {
    let agent = ScriptedAgent::new([]);
    let world = World::new(agent.clone());
    let mine = world.task_in(a2ad_domain::TaskState::Completed);
    let theirs = a2ad_domain::testing::sample::key_in(
        &a2ad_domain::testing::sample::foreign_scopes()[0],
        77,
    );
    world.store.put(a2ad_domain::testing::sample::opened(theirs.clone(), 0), Vec::new());
    let mut call = SendMessage { wait: Some(false), ..call("x") };
    let names = [theirs.id.to_string(), mine.id.to_string(), "nonsense".to_owned()];
    call.message.references = names.iter().map(|name| Arc::from(name.as_str())).collect();
    world.service.send(&world.scope, call).await.unwrap();
    assert_eq!(agent.asked()[0].references, [mine.id]);
    assert_eq!(world.task(&mine).version().0, 4, "a referenced task was touched");
}
