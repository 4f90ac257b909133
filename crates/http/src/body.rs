//! Reads request bodies within limits.

use axum::body::{Body, HttpBody};
use axum::http::header::EXPECT;
use axum::http::request::Parts;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::Instant;

/// How long a client may pause within a body, and how long a whole body may take.
const PAUSE: Duration = Duration::from_secs(30);
const WHOLE: Duration = Duration::from_secs(300);

/// How much of a body over the limit is read and thrown away, as a multiple of the limit, so that the
/// client gets its answer and the connection can go on. A longer one costs its sender the connection.
const PATIENCE: usize = 4;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is longer than it may be.
    TooLarge,
    /// The client stopped sending.
    Broken,
}

/// Reads the body of a request, at most `limit` bytes.
pub(crate) async fn read(head: &Parts, mut body: Body, limit: usize) -> Result<Bytes, Unread> {
    let announced = body.size_hint().lower();
    let patience = limit.saturating_mul(PATIENCE);
    let mut too_large = announced > limit as u64;
    // A client that asks first sends nothing when it is refused, and what is longer than our patience is
    // not waited for.
    if too_large && (head.headers.contains_key(EXPECT) || announced > patience as u64) {
        return Err(Unread::TooLarge);
    }
    let deadline = Instant::now() + WHOLE;
    let broken = |too_large| if too_large { Unread::TooLarge } else { Unread::Broken };
    let first = frame(&mut body, deadline).await.map_err(|()| broken(too_large))?;
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
    while let Some(data) = frame(&mut body, deadline).await.map_err(|()| broken(too_large))? {
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

/// The next piece of a body; an error when it does not come.
async fn frame(body: &mut Body, deadline: Instant) -> Result<Option<Bytes>, ()> {
    loop {
        let until = deadline.min(Instant::now() + PAUSE);
        match tokio::time::timeout_at(until, body.frame()).await.map_err(drop)? {
            None => return Ok(None),
            Some(Err(_)) => return Err(()),
            Some(Ok(frame)) => {
                // Trailers say nothing that is needed.
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
