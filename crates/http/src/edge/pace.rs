//! A connection whose other end has to take what it is sent. The server writes as fast as the client reads
//! and holds little for it, but a client that has stopped reading would hold its connection for ever.

use super::{Limit, Tally};
use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The connection.
pub(crate) struct Paced<S> {
    inner: S,
    patience: Duration,
    /// Runs while the client takes nothing although there is something for it.
    stalled: Option<Pin<Box<Sleep>>>,
    tally: Arc<Tally>,
}

impl<S> Paced<S> {
    pub(crate) fn new(inner: S, patience: Duration, tally: Arc<Tally>) -> Self {
        Self { inner, patience, stalled: None, tally }
    }

    /// What became of a write; an error once nothing was taken for too long.
    fn paced<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        self.tally.count(Limit::WriteTime);
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.paced(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.paced(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.paced(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.paced(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, advance};

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_given_up_and_a_slow_one_is_not() {
        let (server, mut client) = duplex(1);
        let tally = Arc::new(Tally::default());
        let mut server = Paced::new(server, PATIENCE, tally.clone());
        // One byte just within each patience: slow, and for much longer than one patience in all.
        let slow = async {
            for _ in 0..8 {
                advance(PATIENCE - Duration::from_millis(1)).await;
                client.read_u8().await.expect("a byte");
            }
        };
        let (written, ()) = tokio::join!(server.write_all(b"12345678"), slow);
        written.expect("all of it is taken");
        assert_eq!(tally.of(Limit::WriteTime), 0);
        let start = Instant::now();
        let error = server.write_all(b"90").await.expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!((start.elapsed(), tally.of(Limit::WriteTime)), (PATIENCE, 1));
    }
}
