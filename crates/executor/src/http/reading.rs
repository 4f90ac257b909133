//! An answer by its media type.

use crate::exchange::{Decoder, Event, Lines, Sink, invalid, is_blank};
use crate::outgoing::Answer;
use a2ad_domain::ports::AgentError;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Reads an answer into the task.
pub(crate) async fn read(answer: Answer, sink: &mut Sink<'_>) -> Result<(), AgentError> {
    match answer.media_type().as_str() {
        "text/event-stream" => {
            let mut events = answer.events();
            // A service need not end its answer after it has decided.
            while !sink.is_decided()
                && let Some(data) = events.next().await?
            {
                sink.take(parse(data.as_bytes())?).await?;
            }
            Ok(())
        }
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
            lines(answer, sink).await
        }
        "application/json" => whole(&answer.whole().await?, sink).await,
        media_type if media_type.starts_with("text/") => text(answer, sink).await,
        other => match answer.whole().await?.is_empty() {
            true => Ok(()),
            false => Err(invalid(format!("{other:?} is not understood"))),
        },
    }
}

fn parse(json: &[u8]) -> Result<Event, AgentError> {
    Event::parse(json).map_err(invalid)
}

async fn lines(mut answer: Answer, sink: &mut Sink<'_>) -> Result<(), AgentError> {
    let mut lines = Lines::default();
    let mut more = true;
    while more && !sink.is_decided() {
        let whole = match answer.piece().await? {
            Some(piece) => lines.push(&piece),
            None => {
                more = false;
                std::mem::take(&mut lines).finish().into_iter().collect()
            }
        };
        for line in whole.iter().filter(|line| !is_blank(line)) {
            sink.take(parse(line)?).await?;
        }
    }
    Ok(())
}

async fn text(mut answer: Answer, sink: &mut Sink<'_>) -> Result<(), AgentError> {
    let mut decoder = Decoder::default();
    while let Some(piece) = answer.piece().await? {
        sink.text(decoder.push(&piece)).await?;
    }
    sink.text(decoder.finish()).await
}

/// One event, a list of them, or an artifact that does not say that it is one.
async fn whole(json: &[u8], sink: &mut Sink<'_>) -> Result<(), AgentError> {
    if is_blank(json) {
        return Ok(());
    }
    if let Ok(events) = serde_json::from_slice::<Vec<&RawValue>>(json) {
        for event in events {
            sink.take(parse(event.get().as_bytes())?).await?;
        }
        return Ok(());
    }
    let mut members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(json).map_err(|error| invalid(error.to_string()))?;
    if members.contains_key("type") {
        return sink.take(parse(json)?).await;
    }
    let artifact = RawValue::from_string("\"artifact\"".to_owned()).map_err(AgentError::failed)?;
    members.insert("type".to_owned(), artifact);
    let event = serde_json::to_vec(&members).map_err(AgentError::failed)?;
    sink.take(parse(&event)?).await
}
