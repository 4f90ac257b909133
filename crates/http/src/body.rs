//! Reads request bodies within limits.

use crate::edge::{Limit, Tally};
use axum::body::{Body, HttpBody};
use axum::http::header::EXPECT;
use axum::http::request::Parts;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::Instant;

/// What a body may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// How long it may be, in bytes.
    pub bytes: usize,
    /// How long a client may pause within it.
    pub pause: Duration,
    /// How long all of it may take.
    pub whole: Duration,
}

/// How much of a body over the limit is read and thrown away, as a multiple of the limit, so that the
/// client gets its answer and the connection can go on. A longer one costs its sender the connection.
const PATIENCE: usize = 4;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is longer than it may be.
    TooLarge,
    /// The client paused for too long, or took too long for all of it.
    TooSlow,
    /// The client went away.
    Broken,
}

/// Reads the body of a request.
pub(crate) async fn read(
    head: &Parts,
    body: Body,
    limits: &BodyLimits,
    tally: &Tally,
) -> Result<Bytes, Unread> {
    let read = within(head, body, limits).await;
    match &read {
        Err(Unread::TooLarge) => tally.count(Limit::Body),
        Err(Unread::TooSlow) => tally.count(Limit::BodyTime),
        Ok(_) | Err(Unread::Broken) => {}
    }
    read
}

async fn within(head: &Parts, mut body: Body, limits: &BodyLimits) -> Result<Bytes, Unread> {
    let limit = limits.bytes;
    let announced = body.size_hint().lower();
    let patience = limit.saturating_mul(PATIENCE);
    let mut too_large = announced > limit as u64;
    // A client that asks first sends nothing when it is refused, and what is longer than our patience is
    // not waited for.
    if too_large && (head.headers.contains_key(EXPECT) || announced > patience as u64) {
        return Err(Unread::TooLarge);
    }
    let deadline = Instant::now() + limits.whole;
    let broken = |too_large, why| if too_large { Unread::TooLarge } else { why };
    let first = frame(&mut body, deadline, limits.pause).await;
    let first = first.map_err(|why| broken(too_large, why))?;
    let Some(first) = first else { return Ok(Bytes::new()) };
    let mut read = first.len();
    if !too_large && read <= limit && body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::new();
    if !too_large && read <= limit {
        // What is announced and within the limit is made room for once.
        whole.reserve(usize::try_from(announced).unwrap_or(0).max(read));
        whole.extend_from_slice(&first);
    }
    drop(first);
    while let Some(data) =
        frame(&mut body, deadline, limits.pause).await.map_err(|why| broken(too_large, why))?
    {
        read = read.saturating_add(data.len());
        too_large |= read > limit;
        if !too_large {
            whole.extend_from_slice(&data);
        } else if read > patience {
            break;
        } else {
            whole = BytesMut::new();
        }
    }
    if too_large || read > limit { Err(Unread::TooLarge) } else { Ok(whole.freeze()) }
}

/// The next piece of a body; why it does not come.
async fn frame(
    body: &mut Body,
    deadline: Instant,
    pause: Duration,
) -> Result<Option<Bytes>, Unread> {
    loop {
        let until = deadline.min(Instant::now() + pause);
        let frame = tokio::time::timeout_at(until, body.frame()).await;
        match frame.map_err(|_| Unread::TooSlow)? {
            None => return Ok(None),
            Some(Err(_)) => return Err(Unread::Broken),
            Some(Ok(frame)) => {
                // Trailers say nothing that is needed.
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use futures_util::stream;
    use std::convert::Infallible;

    /// What becomes of a body that comes in so many pieces, one in each `pace`, and how long that takes.
    async fn sent(pieces: usize, pace: Duration) -> (Result<usize, Unread>, Duration) {
        let limits = BodyLimits {
            bytes: 1000,
            pause: Duration::from_secs(30),
            whole: Duration::from_secs(300),
        };
        let body = stream::unfold(pieces, move |left| async move {
            let left = left.checked_sub(1)?;
            tokio::time::sleep(pace).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b"x")), left))
        });
        let (head, body) = Request::new(Body::from_stream(body)).into_parts();
        let (tally, start) = (Tally::default(), Instant::now());
        let read = read(&head, body, &limits, &tally).await.map(|body| body.len());
        let slow = u64::from(read == Err(Unread::TooSlow));
        assert_eq!((tally.of(Limit::BodyTime), tally.of(Limit::Body)), (slow, 0));
        (read, start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_pauses_or_trickles_in_for_too_long_is_given_up() {
        let seconds = Duration::from_secs;
        assert_eq!(sent(4, seconds(29)).await.0, Ok(4));
        assert_eq!(sent(4, seconds(31)).await, (Err(Unread::TooSlow), seconds(30)));
        // One byte a second is never a pause, and still does not go on for ever.
        assert_eq!(sent(299, seconds(1)).await.0, Ok(299));
        assert_eq!(sent(999, seconds(1)).await, (Err(Unread::TooSlow), seconds(300)));
    }
}
