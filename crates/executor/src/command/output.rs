//! What a program writes to its standard output, on its way into the task.

use super::{CommandSettings, Form};
use crate::exchange::{Decoder, Event, Lines, Sink, invalid, is_blank, size};
use a2ad_domain::ports::AgentError;
use std::future::Future;
use std::os::fd::AsFd;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once: as much as a pipe holds.
const PIECE: usize = 64 << 10;
/// How much a pipe can be made to hold.
const FULL: usize = 1 << 20;

/// Reads one program.
pub(crate) struct Output<'s, 'w> {
    sink: &'s mut Sink<'w>,
    /// How many bytes may still come, and how many could.
    left: usize,
    most: usize,
    reader: Reader,
}

enum Reader {
    Text(Decoder),
    Events { lines: Lines, number: usize },
}

impl<'s, 'w> Output<'s, 'w> {
    pub(crate) fn new(settings: &CommandSettings, sink: &'s mut Sink<'w>) -> Self {
        let reader = match settings.output {
            Form::Text => Reader::Text(Decoder::default()),
            Form::Events => Reader::Events { lines: Lines::default(), number: 0 },
        };
        Self { sink, left: settings.max_output, most: settings.max_output, reader }
    }

    /// Reads until the pipe ends, until the event that decides, or until `end`: nothing is dropped half-way
    /// then, since that is looked at only between two reads. While a change is being stored nothing is
    /// read, so a program that writes faster than that waits.
    pub(crate) async fn follow(
        &mut self,
        pipe: &mut (impl AsyncRead + Unpin),
        end: impl Future<Output = ()>,
    ) -> Result<(), AgentError> {
        let mut end = pin!(end);
        let mut buffer = vec![0; PIECE];
        loop {
            // The end first: somebody who has left the group may write for ever.
            let read = tokio::select! {
                biased;
                () = &mut end => return Ok(()),
                read = pipe.read(&mut buffer) => read,
            };
            match read {
                Ok(0) | Err(_) => return Ok(()),
                Ok(length) => self.take(&buffer[..length]).await?,
            }
            if self.is_decided() {
                return Ok(());
            }
        }
    }

    /// Reads what is in the pipe and waits for nothing: somebody who has left the group may hold it open.
    pub(crate) async fn rest(&mut self, pipe: &impl AsFd) -> Result<(), AgentError> {
        let mut buffer = vec![0; PIECE];
        // No more than a pipe can hold, for the same reason.
        for _ in 0..FULL / PIECE {
            let Ok(length @ 1..) = rustix::io::read(pipe, &mut buffer) else { break };
            self.take(&buffer[..length]).await?;
        }
        Ok(())
    }

    /// Whether the event that ends the turn has come.
    pub(crate) fn is_decided(&self) -> bool {
        self.sink.is_decided()
    }

    /// Whether the program says itself that the work failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.sink.has_failed()
    }

    /// Takes what is left of the last character or line.
    pub(crate) async fn finish(self) -> Result<(), AgentError> {
        match self.reader {
            Reader::Text(decoder) => self.sink.text(decoder.finish()).await,
            Reader::Events { lines, number } => match lines.finish() {
                Some(line) => event(self.sink, &line, number + 1).await,
                None => Ok(()),
            },
        }
    }

    async fn take(&mut self, bytes: &[u8]) -> Result<(), AgentError> {
        let (bytes, rest) = bytes.split_at(bytes.len().min(self.left));
        self.left -= bytes.len();
        self.read(bytes).await?;
        if rest.is_empty() {
            return Ok(());
        }
        let reason = format!("The program wrote more than {}", size::spoken(self.most));
        Err(AgentError::explained(reason, "see max_output"))
    }

    async fn read(&mut self, bytes: &[u8]) -> Result<(), AgentError> {
        match &mut self.reader {
            Reader::Text(decoder) => self.sink.text(decoder.push(bytes)).await?,
            Reader::Events { lines, number } => {
                for line in lines.push(bytes) {
                    *number += 1;
                    event(self.sink, &line, *number).await?;
                }
            }
        }
        Ok(())
    }
}

async fn event(sink: &mut Sink<'_>, line: &[u8], number: usize) -> Result<(), AgentError> {
    if is_blank(line) {
        return Ok(());
    }
    let event =
        Event::parse(line).map_err(|problem| invalid(format!("line {number}: {problem}")))?;
    sink.take(event).await
}
