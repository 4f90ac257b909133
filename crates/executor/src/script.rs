//! The script agent: does what its text says, so that every path of a task's life can be walked by hand
//! and by test.

use crate::cancel::unless_canceled;
use crate::echo::{artifact_id, text_first};
use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn,
};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Parts, RawJson};
use async_trait::async_trait;
use std::time::Duration;

/// What a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command<'a> {
    /// `ask …`: ask for input; the next message goes on.
    Ask(&'a str),
    /// `auth …`: require credentials and go on by itself.
    Auth(&'a str),
    /// `slow <seconds> …`: work that long, with a progress message each second.
    Slow(Duration, &'a str),
    /// `chunks <n> …` and `chunks:N|payload`: an artifact in n pieces.
    Chunks(usize, &'a str),
    /// `say …`: answer with a message and no task.
    Say(&'a str),
    /// `reject …`: will not do it.
    Reject(&'a str),
    /// `fail …`: end with an error after one artifact.
    Fail,
    /// `panic …`
    Panic,
    /// `hang …`: until stopped.
    Hang,
    /// `hold:MS|payload`: silent that long, then one artifact.
    Hold(Duration, &'a str),
    /// `tick:MS|payload`: replaces an artifact again and again until stopped.
    Tick(Duration, &'a str),
    /// Anything else: as the echo agent does.
    Echo,
}

/// How long `slow` takes without a number, and how often it says how it goes.
const SLOW: Duration = Duration::from_secs(60);
const PROGRESS: Duration = Duration::from_secs(1);
/// How long `auth` waits for the credentials that it does not really need.
const AUTH: Duration = Duration::from_millis(500);

impl<'a> Command<'a> {
    fn parse(text: &'a str) -> Self {
        if let Some(command) = Self::parse_measured(text) {
            return command;
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim_start();
        match word {
            "ask" => Self::Ask(rest),
            "auth" => Self::Auth(rest),
            "slow" => match number(rest) {
                Some((seconds, rest)) => Self::Slow(Duration::from_secs(seconds), rest),
                None => Self::Slow(SLOW, rest),
            },
            "chunks" => match number(rest) {
                Some((count, rest)) => Self::Chunks(usize::try_from(count).unwrap_or(1), rest),
                None => Self::Echo,
            },
            "say" => Self::Say(rest),
            "reject" => Self::Reject(rest),
            "fail" => Self::Fail,
            "panic" => Self::Panic,
            "hang" => Self::Hang,
            _ => Self::Echo,
        }
    }

    /// The forms for measurements: `name:number|payload`.
    fn parse_measured(text: &'a str) -> Option<Self> {
        let (head, payload) = text.split_once('|')?;
        let (name, number) = head.split_once(':')?;
        let number: u64 = number.parse().ok()?;
        match name {
            "chunks" => Some(Self::Chunks(usize::try_from(number).ok()?, payload)),
            "hold" => Some(Self::Hold(Duration::from_millis(number), payload)),
            "tick" => Some(Self::Tick(Duration::from_millis(number), payload)),
            _ => None,
        }
    }
}

fn number(text: &str) -> Option<(u64, &str)> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((word.parse().ok()?, rest.trim_start()))
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// Does what its text says; see `docs/configuration.md` for the commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script;

#[async_trait]
impl AgentExecutor for Script {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        if let Command::Say(text) = Command::parse(&request.text()) {
            return Ok(Acceptance::Message(Parts::text(or(text, "said"))));
        }
        Ok(Acceptance::Task)
    }

    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let cancel = turn.cancel.clone();
        unless_canceled(&cancel, Self::perform(turn, out)).await
    }
}

impl Script {
    async fn perform(turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let text = turn.request.text();
        match Command::parse(&text) {
            Command::Ask(question) => {
                out.working(None).await?;
                Ok(Outcome::InputRequired(Parts::text(or(question, "What next?"))))
            }
            Command::Auth(what) => {
                out.working(None).await?;
                out.auth_required(Parts::text(or(what, "Credentials, please."))).await?;
                tokio::time::sleep(AUTH).await;
                out.working(None).await?;
                write(out, or(what, "authorized"))
            }
            Command::Slow(time, rest) => slow(out, time, or(rest, "slow")).await,
            Command::Chunks(count, payload) => chunks(out, count, payload).await,
            Command::Reject(why) => {
                Ok(Outcome::Rejected(Parts::text(or(why, "I will not do this."))))
            }
            // Neither says what the message says: errors go to the log, and messages do not.
            Command::Fail => {
                out.working(None).await?;
                out.artifact(artifact_id()?, Parts::text("before the failure")).await?;
                Err(AgentError::failed("told to fail"))
            }
            Command::Panic => {
                out.working(None).await?;
                panic!("told to panic")
            }
            Command::Hang => {
                out.working(None).await?;
                std::future::pending().await
            }
            Command::Hold(time, payload) => {
                out.working(None).await?;
                tokio::time::sleep(time).await;
                write(out, payload)
            }
            Command::Tick(pause, payload) => tick(out, pause, payload).await,
            // Only a first message is answered without a task.
            Command::Say(_) | Command::Echo => {
                let parts = text_first(&turn.request.message.parts);
                out.result(artifact_id()?, parts.clone())?;
                Ok(Outcome::Completed(Some(parts)))
            }
        }
    }
}

fn write(out: &mut TaskWriter, text: &str) -> Result<Outcome, AgentError> {
    let parts = Parts::text(text);
    out.result(artifact_id()?, parts.clone())?;
    Ok(Outcome::Completed(Some(parts)))
}

async fn slow(out: &mut TaskWriter, time: Duration, text: &str) -> Result<Outcome, AgentError> {
    out.working(None).await?;
    let end = tokio::time::Instant::now() + time;
    loop {
        let now = tokio::time::Instant::now();
        if now >= end {
            return write(out, text);
        }
        tokio::time::sleep(PROGRESS.min(end - now)).await;
        let done = (time - end.saturating_duration_since(tokio::time::Instant::now())).as_secs();
        let progress =
            RawJson::parse(&format!("{{\"seconds\":{done}}}")).map_err(AgentError::failed)?;
        out.working(Some(Parts::one(a2ad_domain::Part::data(progress)))).await?;
    }
}

/// Writes the payload in `count` pieces without a pause. Pieces are cut at characters; where there are
/// fewer characters than pieces, some pieces are empty.
async fn chunks(out: &mut TaskWriter, count: usize, payload: &str) -> Result<Outcome, AgentError> {
    out.working(None).await?;
    let id = artifact_id()?;
    let count = count.max(1);
    let mut start = 0;
    for index in 1..=count {
        let mut end = payload.len() * index / count;
        while !payload.is_char_boundary(end) {
            end -= 1;
        }
        let end = if index == count { payload.len() } else { end.max(start) };
        out.chunk(&id, Parts::text(&payload[start..end]), index == count).await?;
        start = end;
    }
    Ok(Outcome::Completed(None))
}

async fn tick(out: &mut TaskWriter, pause: Duration, text: &str) -> Result<Outcome, AgentError> {
    out.working(None).await?;
    let (id, parts) = (artifact_id()?, Parts::text(text));
    loop {
        tokio::time::sleep(pause).await;
        out.artifact(id.clone(), parts.clone()).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_the_command() {
        for (text, command) in [
            ("ask which fruit?", Command::Ask("which fruit?")),
            ("ask", Command::Ask("")),
            ("slow 3 fig", Command::Slow(Duration::from_secs(3), "fig")),
            ("slow fig", Command::Slow(SLOW, "fig")),
            ("chunks 4 abcd", Command::Chunks(4, "abcd")),
            ("chunks:4|abcd", Command::Chunks(4, "abcd")),
            ("hold:20|x|y", Command::Hold(Duration::from_millis(20), "x|y")),
            ("tick:5|x", Command::Tick(Duration::from_millis(5), "x")),
            ("asking", Command::Echo),
            ("chunks many", Command::Echo),
            ("hold:soon|x", Command::Echo),
            ("", Command::Echo),
        ] {
            assert_eq!(Command::parse(text), command, "{text}");
        }
    }
}
