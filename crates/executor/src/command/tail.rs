//! The last words of a program: the end of its standard error, for the log.

use std::os::fd::AsFd;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is kept.
const BYTES: usize = 16 << 10;
const LINES: usize = 20;

/// Keeps the end of what comes.
#[derive(Default)]
pub(super) struct Tail {
    kept: Vec<u8>,
}

impl Tail {
    /// Reads until the pipe ends.
    pub(super) async fn follow(&mut self, pipe: &mut (impl AsyncRead + Unpin)) {
        let mut buffer = vec![0; BYTES];
        while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
            self.take(&buffer[..length]);
        }
    }

    /// Reads what is in the pipe and waits for nothing.
    pub(super) fn rest(&mut self, pipe: &impl AsFd) {
        let mut buffer = vec![0; BYTES];
        // As often as a pipe can be full: somebody who has left the group may go on to write.
        for _ in 0..16 {
            let Ok(length @ 1..) = rustix::io::read(pipe, &mut buffer) else { return };
            self.take(&buffer[..length]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        let surplus = self.kept.len().saturating_sub(BYTES);
        self.kept.drain(..surplus);
    }

    /// The last lines.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_no_more() {
        let mut tail = Tail::default();
        for number in 0..10_000 {
            tail.take(format!("line {number}\n").as_bytes());
        }
        let text = tail.text();
        assert_eq!((text.lines().count(), text.lines().last()), (LINES, Some("line 9999")));
        tail.take(&[b'x'; BYTES * 3]);
        assert_eq!(tail.text().len(), BYTES);
    }
}
