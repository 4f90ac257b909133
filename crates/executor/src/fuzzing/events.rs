//! Lines and events of the exchange, without a task.

use crate::exchange::{Decision, Decoder, Event, Lines, PartsOut};
use a2ad_domain::Parts;

/// Reads bytes as lines of events. The first byte says how long the pieces are in which they come.
pub fn events(input: &[u8]) {
    let Some((size, bytes)) = input.split_first() else { return };
    let size = usize::from(*size).max(1);
    let lines = lines(bytes, size);
    assert_eq!(lines, self::lines(bytes, bytes.len().max(1)), "lines depend on the pieces");
    let text = text(bytes, size);
    assert_eq!(text, String::from_utf8_lossy(bytes), "text depends on the pieces");
    for line in &lines {
        match Event::parse(line) {
            Ok(event) => parts(&event).into_iter().for_each(come_back),
            Err(problem) => assert!(problem.len() < 512 + 4 * line.len(), "a log holds {problem}"),
        }
    }
}

fn lines(bytes: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut lines = Lines::default();
    let mut all: Vec<Vec<u8>> = bytes.chunks(size).flat_map(|piece| lines.push(piece)).collect();
    all.extend(lines.finish());
    all
}

fn text(bytes: &[u8], size: usize) -> String {
    let mut decoder = Decoder::default();
    let mut text: String = bytes.chunks(size).map(|piece| decoder.push(piece)).collect();
    text.push_str(&decoder.finish());
    text
}

fn parts(event: &Event) -> Option<&Parts> {
    match event {
        Event::Status(parts) => parts.as_ref(),
        Event::Chunk { parts, .. } | Event::Artifact { parts, .. } | Event::AuthAwaited(parts) => {
            Some(parts)
        }
        Event::Metadata(_) => None,
        Event::Decision(decision) => match decision {
            Decision::Reply(parts)
            | Decision::InputRequired(parts)
            | Decision::AuthRequired(parts)
            | Decision::Reject(parts) => Some(parts),
            Decision::Fail(_) => None,
        },
    }
}

/// What came from an executor and is told to one comes back the same.
fn come_back(parts: &Parts) {
    let told = serde_json::to_string(&PartsOut(parts)).expect("parts are JSON");
    assert!(!told.contains('\n'), "an event is one line");
    let event = format!("{{\"type\":\"reply\",\"parts\":{told}}}");
    let read = Event::parse(event.as_bytes()).expect("what is told is understood");
    assert_eq!(read, Event::Decision(Decision::Reply(parts.clone())), "{told}");
}
