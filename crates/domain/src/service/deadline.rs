//! How long a run may take: what the agent says, or less where the message asks for less.

use crate::agent::AgentSettings;
use crate::content::Message;
use crate::error::Error;
use std::time::Duration;

/// The extension under which a message names a deadline of its own, in its metadata:
/// `{"urn:a2ad:deadline:1": {"seconds": 1.5}}`. `docs/dialects.md` describes it.
pub const DEADLINE_EXTENSION: &str = "urn:a2ad:deadline:1";

/// The time of a run that has to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// How long after its message was taken.
    pub(super) whole: Duration,
    /// How much of that was left when the run was made: all of it, unless it begins again after a crash.
    pub(super) left: Duration,
}

impl Limit {
    /// That of a run whose message was just taken.
    pub(super) fn from_now(whole: Duration) -> Self {
        Self { whole, left: whole }
    }
}

/// How long after now the run of `message` has to end. The agent's own limit is never exceeded.
pub(super) fn limit(
    settings: &AgentSettings,
    message: &Message,
) -> Result<Option<Duration>, Error> {
    let Some(asked) = asked(message)? else { return Ok(settings.deadline) };
    Ok(Some(settings.deadline.map_or(asked, |own| own.min(asked))))
}

fn asked(message: &Message) -> Result<Option<Duration>, Error> {
    let Some(metadata) = &message.metadata else { return Ok(None) };
    let Some(given) = metadata.member(DEADLINE_EXTENSION) else { return Ok(None) };
    let seconds = given.member("seconds").and_then(|number| number.as_str().parse::<f64>().ok());
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let field = format!("message.metadata[\"{DEADLINE_EXTENSION}\"].seconds");
    match span.filter(|span| *span >= Duration::from_millis(1)) {
        Some(span) => Ok(Some(span)),
        None => Err(Error::invalid(field, "must be a number of seconds, 0.001 or more")),
    }
}

/// A span in words, for a client.
pub(super) fn spoken(span: Duration) -> String {
    let millis = span.as_millis();
    for (unit, name) in
        [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")]
    {
        if millis >= unit && millis.is_multiple_of(unit) {
            let count = millis / unit;
            return format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        }
    }
    format!("{millis} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_largest_whole_unit() {
        for (millis, text) in [
            (86_400_000, "1 day"),
            (90_000_000, "25 hours"),
            (600_000, "10 minutes"),
            (90_000, "90 seconds"),
            (1_000, "1 second"),
            (1_500, "1500 ms"),
            (0, "0 ms"),
        ] {
            assert_eq!(spoken(Duration::from_millis(millis)), text);
        }
    }
}
