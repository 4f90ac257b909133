//! Reads a stream of events frame by frame.

use super::agents::soon;
use serde_json::Value;

/// One frame with data. Two are equal when their bytes are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
    /// The data as it came.
    bytes: String,
}

/// The connection broke before the stream was over.
#[derive(Debug)]
pub(crate) struct Cut(#[expect(dead_code, reason = "shown when a test fails")] reqwest::Error);

/// An open stream.
pub(crate) struct Events {
    response: reqwest::Response,
    buffer: Vec<u8>,
    /// How much of the buffer holds no end of a frame, so that a long frame is searched once.
    searched: usize,
    /// Frames without data that have come so far.
    comments: usize,
}

impl Events {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        Self { response, buffer: Vec::new(), searched: 0, comments: 0 }
    }

    /// The next frame with data; `None` at the end. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.next_unless_cut().await.expect("a readable stream")
    }

    /// The same where the connection may break.
    pub(crate) async fn next_unless_cut(&mut self) -> Result<Option<Event>, Cut> {
        loop {
            match self.frame().await? {
                Some(None) => self.comments += 1,
                Some(event) => return Ok(event),
                None => return Ok(None),
            }
        }
    }

    /// Waits for the next frame, which must be a comment.
    pub(crate) async fn comment(&mut self) {
        let frame = self.frame().await.expect("a readable stream").expect("the stream goes on");
        assert!(frame.is_none(), "{frame:?} instead of a comment");
        self.comments += 1;
    }

    /// How many comments have come so far.
    pub(crate) fn comments(&self) -> usize {
        self.comments
    }

    /// The next frame, which is `Some(None)` when it has no data.
    async fn frame(&mut self) -> Result<Option<Option<Event>>, Cut> {
        loop {
            let rest = &self.buffer[self.searched..];
            if let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.buffer.drain(..self.searched + end + 2).collect();
                self.searched = 0;
                return Ok(Some(parse(&frame)));
            }
            self.searched = self.buffer.len().saturating_sub(1);
            // A stream that never goes on fails its test instead of holding it for ever.
            let chunk = soon("the next event of a stream", self.response.chunk()).await;
            match chunk.map_err(Cut)? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => {
                    let left = String::from_utf8_lossy(&self.buffer);
                    assert!(left.is_empty(), "the stream ends within a frame: {left}");
                    return Ok(None);
                }
            }
        }
    }

    /// All frames up to the end.
    pub(crate) async fn collect(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Reads a frame; checks that it holds nothing but what a frame may hold.
fn parse(frame: &[u8]) -> Option<Event> {
    let text = std::str::from_utf8(frame).expect("frames are UTF-8");
    let (mut id, mut data) = (None, None);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(':')) {
        if let Some(value) = line.strip_prefix("id: ") {
            id = Some(value.parse().expect("ids are versions"));
        } else if let Some(value) = line.strip_prefix("data: ") {
            assert!(
                data.replace(value.to_owned()).is_none(),
                "one line of data in a frame: {text}"
            );
        } else {
            panic!("an unknown line in a frame: {line}");
        }
    }
    let bytes = data?;
    Some(Event { id, data: serde_json::from_str(&bytes).expect("data is JSON"), bytes })
}
