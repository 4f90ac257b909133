//! The executor.

use a2ad::{
    AgentError, AgentExecutor, ArtifactId, Outcome, Parts, Stopped, TaskWriter, Turn, async_trait,
};
use std::time::Duration;

/// Adds numbers.
pub(crate) struct Sum {
    /// How long it takes for each number.
    pause: Duration,
}

impl Default for Sum {
    fn default() -> Self {
        Self { pause: Duration::from_millis(50) }
    }
}

#[async_trait]
impl AgentExecutor for Sum {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        out.working(None).await?;
        let text = turn.request.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let numbers: Option<Vec<i64>> = words.iter().map(|word| word.parse().ok()).collect();
        // The client's next message goes on with the same task, in a run of its own.
        let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
            return Ok(Outcome::InputRequired(Parts::text("Which numbers shall I add?")));
        };
        let total = ArtifactId::new("total").map_err(AgentError::failed)?;
        let mut sum = 0_i64;
        for (index, number) in numbers.iter().enumerate() {
            // A canceled task ends the wait at once; there is nothing to clean up.
            tokio::select! {
                () = tokio::time::sleep(self.pause) => {}
                () = turn.cancel.raised() => return Err(Stopped.into()),
            }
            // What cannot be done is told in a sentence for the caller, and in one for the log.
            sum = sum.checked_add(*number).ok_or_else(|| {
                AgentError::explained("The total is too large", format!("{sum} and {number}"))
            })?;
            let last = index + 1 == numbers.len();
            let line = if last { format!("{sum}") } else { format!("{sum}\n") };
            out.chunk(&total, Parts::text(line), last).await?;
        }
        Ok(Outcome::Completed(Some(Parts::text(format!("The total is {sum}.")))))
    }
}

#[cfg(test)]
mod contract {
    // The suite that every executor passes: dropped and canceled wherever it waits, over a failing store.
    a2ad::executor_contract!(|| super::Sum { pause: std::time::Duration::ZERO }, "1 2 3");
}
