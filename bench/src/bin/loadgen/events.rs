//! The events of a stream: cuts the body into frames, counts them, and requires the last one.

use crate::Result;
use crate::answers::{answers, holds, in_full, result, texts, wrong};
use crate::connection::Connection;
use bytes::{Buf, BytesMut};
use memchr::memmem;

/// A stream that is being read.
pub(crate) struct Events<'a> {
    connection: &'a mut Connection,
    /// What has arrived of frames that are not complete yet.
    pending: BytesMut,
    /// The call that opened the stream.
    number: u64,
    pub(crate) bytes: usize,
}

impl<'a> Events<'a> {
    /// Opens a stream with a call.
    pub(crate) async fn open(
        connection: &'a mut Connection,
        path: &str,
        number: u64,
        call: &str,
    ) -> Result<Events<'a>> {
        connection.open_stream(path, call).await?;
        Ok(Events { connection, pending: BytesMut::new(), number, bytes: 0 })
    }

    /// The data of the next event, or none at the end of the stream. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Result<Option<BytesMut>> {
        loop {
            if let Some(end) = memmem::find(&self.pending, b"\n\n") {
                let mut frame = self.pending.split_to(end);
                self.pending.advance(2);
                if let Some(start) = data(&frame) {
                    frame.advance(start);
                    answers(&frame, self.number)?;
                    return Ok(Some(frame));
                }
                continue;
            }
            match self.connection.chunk().await? {
                Some(chunk) => {
                    self.bytes += chunk.len();
                    if self.pending.is_empty() {
                        self.pending = chunk;
                    } else {
                        self.pending.extend_from_slice(&chunk);
                    }
                }
                None if self.pending.is_empty() => return Ok(None),
                None => return wrong("the stream ends within an event", &self.pending),
            }
        }
    }

    /// The next event, where there must be one.
    pub(crate) async fn expect(&mut self) -> Result<BytesMut> {
        self.next().await?.ok_or_else(|| "the stream ended too early".to_owned())
    }

    /// Reads to the end, which must come right after a final event in that state.
    pub(crate) async fn finish(&mut self, state: &str, content: &mut Content) -> Result {
        loop {
            let event = self.expect().await?;
            if memmem::find(&event, br#""final":true"#).is_some() {
                holds(&event, &format!(r#""state":"{state}""#))?;
                break;
            }
            content.take(&event)?;
        }
        match self.next().await? {
            Some(event) => wrong("an event after the final one", &event),
            None => Ok(()),
        }
    }
}

/// Where the data of a frame begins, if it has any.
fn data(frame: &[u8]) -> Option<usize> {
    const FIELD: &[u8] = b"data: ";
    if frame.starts_with(FIELD) {
        return Some(FIELD.len());
    }
    memmem::find(frame, b"\ndata: ").map(|at| at + 1 + FIELD.len())
}

/// What the artifact events of a stream brought.
#[derive(Debug, Default)]
pub(crate) struct Content {
    events: usize,
    /// The text so far, in the streams that are parsed.
    text: Option<String>,
}

impl Content {
    pub(crate) fn of(number: u64) -> Content {
        Content { events: 0, text: in_full(number).then(String::new) }
    }

    fn take(&mut self, event: &[u8]) -> Result {
        if memmem::find(event, br#""kind":"artifact-update""#).is_none() {
            return Ok(());
        }
        self.events += 1;
        if let Some(text) = &mut self.text {
            let update = result(event)?;
            if update["append"] != true {
                text.clear();
            }
            text.push_str(&texts(&update["artifact"]));
        }
        Ok(())
    }

    /// Exactly so many events, and together this text.
    pub(crate) fn is(&self, events: usize, text: &str) -> Result {
        if self.events != events {
            return Err(format!("{} artifact events instead of {events}", self.events));
        }
        match &self.text {
            Some(found) if found != text => {
                wrong("the chunks are not the text that was sent", found.as_bytes())
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str, append: bool) -> String {
        format!(
            r#"{{"id":1,"result":{{"kind":"artifact-update","append":{append},"artifact":{{"parts":[{{"text":"{text}"}}]}}}}}}"#
        )
    }

    #[test]
    fn the_data_of_a_frame_is_found() {
        assert_eq!(data(b"data: x"), Some(6));
        assert_eq!(data(b"id: 4\ndata: x"), Some(12));
        assert_eq!(data(b": keep-alive"), None);
    }

    #[test]
    fn chunks_add_up_to_the_text() {
        let mut content = Content::of(1);
        for (text, append) in [("old", false), ("ab", false), ("cd", true)] {
            content.take(chunk(text, append).as_bytes()).unwrap();
        }
        content.take(br#"{"id":1,"result":{"kind":"status-update"}}"#).unwrap();
        assert_eq!(content.is(3, "abcd"), Ok(()));
        assert!(content.is(2, "abcd").is_err());
        assert!(content.is(3, "abce").is_err());
    }
}
