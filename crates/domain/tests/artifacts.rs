//! How pieces make an artifact: appended, replaced, and what it says about itself.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::testing::sample::{applied, artifact_id, key, opened, piece};
use a2ad_domain::{ArtifactUpdate, Change, Details, Parts, RawJson, Refusal, Task};
use std::sync::Arc;

fn object(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn update(text: &str, append: bool, details: Option<Details>) -> Change {
    Change::Artifact(Arc::new(ArtifactUpdate {
        id: artifact_id("a"),
        parts: Parts::text(text),
        append,
        last: false,
        details: details.map(Box::new),
    }))
}

fn after(changes: &[Change]) -> Task {
    applied(opened(key(1), 0), changes, 1).0
}

fn text(task: &Task) -> String {
    task.artifacts()[0].parts().filter_map(|part| part.plain_text()).collect()
}

#[test]
fn appended_pieces_add_up_and_a_whole_one_replaces_them() {
    let mut task = after(&[piece("a", "one", false), piece("a", " two", true)]);
    assert_eq!(text(&task), "one two");
    let weight = task.weight();
    task.apply(piece("a", "x", false), task.created()).unwrap();
    assert_eq!(text(&task), "x");
    assert!(task.weight() < weight, "what was replaced still counts");
    assert_eq!(task.artifacts().len(), 1);
}

#[test]
fn a_piece_that_extends_nothing_is_refused() {
    let mut task = after(&[piece("a", "one", false)]);
    let before = task.clone();
    let refused = task.apply(piece("b", "two", true), task.created());
    assert_eq!(refused, Err(Refusal::UnknownArtifact(artifact_id("b"))));
    assert_eq!(task, before);
}

#[test]
fn an_appended_piece_adds_to_what_the_artifact_says_about_itself() {
    let first = Details {
        name: Some("report".into()),
        description: Some("draft".into()),
        metadata: Some(object(r#"{"a":1,"b":null}"#)),
        extensions: ["x:1".into()].into(),
    };
    let second = Details {
        name: None,
        description: Some("final".into()),
        metadata: Some(object(r#"{"b":2}"#)),
        extensions: Box::default(),
    };
    let task = after(&[
        update("one", false, Some(first.clone())),
        update("two", true, None),
        update("three", true, Some(second)),
    ]);
    let details = task.artifacts()[0].details.as_deref().unwrap();
    assert_eq!(details.name.as_deref(), Some("report"));
    assert_eq!(details.description.as_deref(), Some("final"));
    assert_eq!(details.metadata, Some(object(r#"{"a":1,"b":2}"#)));
    assert_eq!(details.extensions, first.extensions);
}

#[test]
fn a_whole_artifact_says_about_itself_only_what_it_says() {
    let details = Details { name: Some("report".into()), ..Details::default() };
    let task = after(&[update("one", false, Some(details)), update("two", false, None)]);
    assert_eq!(task.artifacts()[0].details, None);
}
