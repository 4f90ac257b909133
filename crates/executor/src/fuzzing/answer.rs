//! What an executor reads, read into a task without anybody who says it.

use crate::command::output::Output;
use crate::command::{CommandSettings, Form};
use crate::exchange::Sink;
use crate::outgoing::Answer;
use crate::{http, openai};
use a2ad_domain::ports::{AgentError, Outcome};
use a2ad_domain::service::TaskWriter;
use bytes::Bytes;
use std::future::pending;

/// Who says it.
pub enum Said {
    /// A program, in these pieces.
    Program {
        /// Whether it says events and not text.
        events: bool,
        /// What it writes.
        pieces: Vec<Bytes>,
    },
    /// A service.
    Service(reqwest::Response),
    /// A model.
    Model(reqwest::Response),
}

/// Takes what is said into a task, at most `most` bytes of it.
///
/// # Errors
/// What the executor of that kind would fail with.
pub async fn take(said: Said, most: usize, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
    let mut sink = Sink::open(out).await?;
    match said {
        Said::Program { events, pieces } => {
            let output = if events { Form::Events } else { Form::Text };
            let settings =
                CommandSettings { output, max_output: most, ..CommandSettings::new("none") };
            let mut output = Output::new(&settings, &mut sink);
            for piece in &pieces {
                output.follow(&mut &piece[..], pending()).await?;
            }
            if !output.is_decided() {
                output.finish().await?;
            }
        }
        Said::Service(response) => {
            http::reading::read(Answer::new(response, "service", most), &mut sink).await?;
        }
        Said::Model(response) => {
            openai::reading::read(Answer::new(response, "model", most), &mut sink).await?;
        }
    }
    sink.finish().await
}
