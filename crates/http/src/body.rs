//! Reads request bodies within limits.

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use std::time::Duration;

/// How long a client may pause within a body.
const PAUSE: Duration = Duration::from_secs(30);

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

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read(mut body: Body, limit: usize) -> Result<Bytes, Unread> {
    let announced = body.size_hint().lower();
    let mut too_large = announced > limit as u64;
    let Some(first) = frame(&mut body).await? else { return Ok(Bytes::new()) };
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
    while let Some(data) = frame(&mut body).await? {
        read = read.saturating_add(data.len());
        too_large |= read > limit;
        if !too_large {
            whole.extend_from_slice(&data);
        } else if read > limit.saturating_mul(PATIENCE) {
            break;
        } else {
            whole = BytesMut::new();
        }
    }
    if too_large || read > limit { Err(Unread::TooLarge) } else { Ok(whole.freeze()) }
}

async fn frame(body: &mut Body) -> Result<Option<Bytes>, Unread> {
    loop {
        let frame = tokio::time::timeout(PAUSE, body.frame()).await.map_err(|_| Unread::Broken)?;
        match frame {
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
