//! Answers that are streams of events. Each frame is a whole answer and carries the version of what it
//! shows, so that a client that lost the connection can go on exactly where it was. A stream is read at
//! the pace of its own client and nobody waits for it.

use super::exchange::Frame;
use super::{Exchange, Fault};
use crate::dialect::shape::Shape;
use crate::dialect::{Answer, Event, View, encode};
use crate::edge::Seat;
use crate::reply::{self, Reply};
use crate::routes::Settings;
use a2ad_domain::service::{Streamed, Watch};
use a2ad_domain::{ContextId, Error, Recorded, Task, Version};
use axum::body::Body;
use axum::http::HeaderMap;
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// The answer of a call that streams.
pub(super) fn reply(
    exchange: &Exchange<'_>,
    streamed: Result<Streamed, Error>,
    view: View,
    seat: Option<Seat>,
    headers: &HeaderMap,
) -> Reply {
    match streamed {
        Err(error) => exchange.stream_fault(&Fault::Failed(error), headers),
        Ok(Streamed::Message { message, context }) => {
            let mut frame = b"data: ".to_vec();
            frame.extend_from_slice(&exchange.result(&Answer::Message(&message, &context)));
            frame.extend_from_slice(b"\n\n");
            reply::events(frame.into())
        }
        Ok(Streamed::Task { snapshot, watch, context }) => {
            let feed = Feed {
                watch,
                context,
                frame: exchange.frame(),
                shape: exchange.shape,
                opening: snapshot.map(|task| (task, view)),
                settings: exchange.shared.settings.clone(),
                _seat: seat,
            };
            let frames = stream::unfold(feed, |mut feed| async move {
                let frame = feed.next().await?;
                Some((Ok::<_, Infallible>(frame), feed))
            });
            reply::events(Body::from_stream(frames))
        }
    }
}

/// One open stream.
struct Feed {
    watch: Watch,
    context: ContextId,
    frame: Frame,
    shape: &'static Shape,
    opening: Option<(Arc<Task>, View)>,
    settings: Arc<Settings>,
    /// Its place among the streams of its reader.
    _seat: Option<Seat>,
}

impl Feed {
    /// What goes out next: everything that is ready, or a comment when nothing has been for a while.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some((task, view)) = self.opening.take() {
            let mut out = Vec::with_capacity(512 + task.weight());
            self.begin(&mut out, task.version());
            encode::answer(&Answer::Sent(&task, view), self.shape, &mut out);
            self.end(&mut out);
            return Some(out.into());
        }
        loop {
            let pause = tokio::time::sleep(self.settings.keep_alive);
            let changes = tokio::select! {
                biased;
                changes = self.watch.next() => changes?,
                () = pause => return Some(Bytes::from_static(KEEP_ALIVE)),
            };
            let frames = match changes {
                Ok(changes) => self.frames(&changes),
                Err(error) => self.broken(error),
            };
            if !frames.is_empty() {
                return Some(frames.into());
            }
        }
    }

    /// The frames of some changes, for one write.
    fn frames(&self, changes: &[Recorded]) -> Vec<u8> {
        let content: usize = changes.iter().map(|recorded| recorded.change.weight()).sum();
        let mut out = Vec::with_capacity(content + changes.len() * (self.frame.result.len() + 320));
        let end_of_stream = if self.watch.has_ended() { changes.len() } else { usize::MAX };
        for (index, change) in changes.iter().enumerate() {
            let start = out.len();
            self.begin(&mut out, change.version);
            let last = index + 1 == end_of_stream;
            let (key, context) = (self.watch.key(), &self.context);
            if encode::change(&Event { key, context, change, last }, self.shape, &mut out) {
                self.end(&mut out);
            } else {
                out.truncate(start);
            }
        }
        out
    }

    /// The frame of an error after which nothing follows.
    fn broken(&self, error: Error) -> Vec<u8> {
        let mut out = b"data: ".to_vec();
        out.extend_from_slice(&self.frame.error);
        self.frame.errors.write(&Fault::Failed(error), &mut out);
        self.end(&mut out);
        out
    }

    fn begin(&self, out: &mut Vec<u8>, version: Version) {
        let _ = write!(out, "id: {}\ndata: ", version.0);
        out.extend_from_slice(&self.frame.result);
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.frame.end);
        out.extend_from_slice(b"\n\n");
    }
}
