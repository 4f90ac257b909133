//! The body of an answer, piece by piece and within a limit.

use crate::exchange::{invalid, size};
use a2ad_domain::ports::AgentError;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use reqwest::Response;
use sse_stream::SseByteStream;
use std::time::Duration;

/// How much of an answer that says what is wrong goes to the log.
const EXCERPT: usize = 2048;
/// How long is waited for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// An answer that is read.
pub(crate) struct Answer {
    response: Response,
    name: &'static str,
    left: usize,
    most: usize,
}

impl Answer {
    /// The answer of the service `name`, of which at most `most` bytes are read.
    pub(crate) fn new(response: Response, name: &'static str, most: usize) -> Self {
        Self { response, name, left: most, most }
    }

    /// The media type, in small letters and without parameters.
    pub(crate) fn media_type(&self) -> String {
        let header = self.response.headers().get(reqwest::header::CONTENT_TYPE);
        let text = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
        text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The next piece as it came; `None` at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, AgentError> {
        let name = self.name;
        let piece = self.response.chunk().await.map_err(|error| {
            let what =
                if error.is_timeout() { "did not answer in time" } else { "broke off its answer" };
            AgentError::explained(format!("The {name} {what}"), super::causes(error))
        })?;
        let length = piece.as_ref().map_or(0, Bytes::len);
        let Some(left) = self.left.checked_sub(length) else {
            let reason = format!("The {name} answered more than {}", size::spoken(self.most));
            return Err(AgentError::explained(reason, "see max_output"));
        };
        self.left = left;
        Ok(piece)
    }

    /// Everything that is left.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, AgentError> {
        let mut all = Vec::new();
        while let Some(piece) = self.piece().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// About the beginning of the answer, for the log.
    pub(crate) async fn excerpt(mut self) -> String {
        let mut all = Vec::new();
        let read = async {
            while all.len() < EXCERPT
                && let Ok(Some(piece)) = self.piece().await
            {
                all.extend_from_slice(&piece);
            }
        };
        // What did not come by then is not worth waiting for.
        let _ = tokio::time::timeout(PATIENCE, read).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    /// The answer as server-sent events.
    pub(crate) fn events(self) -> Events {
        Events(SseByteStream::new(self.pieces().boxed()))
    }

    fn pieces(self) -> impl Stream<Item = Result<Bytes, AgentError>> {
        stream::unfold(Some(self), |answer| async {
            let mut answer = answer?;
            match answer.piece().await {
                Ok(Some(piece)) => Some((Ok(piece), Some(answer))),
                // A last event that nothing follows is whole if the answer is; the reader wants a sign.
                Ok(None) => Some((Ok(Bytes::from_static(b"\n\n")), None)),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

/// Server-sent events.
pub(crate) struct Events(SseByteStream<BoxStream<'static, Result<Bytes, AgentError>>>);

impl Events {
    /// The data of the next event that has any; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, AgentError> {
        while let Some(event) = self.0.next().await {
            let data = event.map_err(told)?.data.unwrap_or_default();
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

/// What a failure of the stream was about: our own, or bytes that are no events.
fn told(error: sse_stream::Error) -> AgentError {
    if let sse_stream::Error::Body(source) = error {
        return match source.downcast::<AgentError>() {
            Ok(ours) => *ours,
            Err(other) => AgentError::failed(other),
        };
    }
    invalid(error.to_string())
}
