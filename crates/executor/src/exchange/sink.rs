//! Writes what comes from outside into the task, within a limit, and remembers how the turn ends.

use super::Event;
use super::event::Decision;
use a2ad_domain::ports::{AgentError, Outcome};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, ArtifactUpdate, Parts};

/// The way of one run's events into its task.
pub(crate) struct Sink<'a> {
    out: &'a mut TaskWriter,
    /// Artifacts that were begun in pieces and whose last piece has not come.
    open: Vec<ArtifactId>,
    /// The artifact of pieces that name none.
    own: Option<ArtifactId>,
    decision: Option<Decision>,
}

/// A failure that is the fault of what the agent is made of.
pub(crate) fn invalid(problem: impl Into<String>) -> AgentError {
    AgentError::explained("The agent gave an invalid response", problem.into())
}

/// The id that an event names.
fn named(id: String) -> Result<ArtifactId, AgentError> {
    ArtifactId::new(id).map_err(|rule| invalid(rule.to_string()))
}

impl<'a> Sink<'a> {
    /// Begins: the task is working.
    pub(crate) async fn open(out: &'a mut TaskWriter) -> Result<Self, AgentError> {
        out.working(None).await?;
        Ok(Self { out, open: Vec::new(), own: None, decision: None })
    }

    /// Takes a piece of text into the run's own artifact.
    pub(crate) async fn text(&mut self, text: String) -> Result<(), AgentError> {
        if text.is_empty() {
            return Ok(());
        }
        self.chunk(None, Parts::text(text), false).await
    }

    /// Takes an event. After the one that decides nothing else is taken.
    pub(crate) async fn take(&mut self, event: Event) -> Result<(), AgentError> {
        if self.decision.is_some() {
            return Err(invalid("an event came after the one that ends the turn"));
        }
        match event {
            Event::Status(said) => self.out.working(said).await?,
            Event::Chunk { id, parts, last } => self.chunk(id, parts, last).await?,
            Event::Artifact { id, parts, details } => {
                let id = match id {
                    Some(id) => named(id)?,
                    None => self.unused()?,
                };
                self.open.retain(|open| *open != id);
                let update = ArtifactUpdate { id, parts, append: false, last: true, details };
                self.out.update(update).await?;
            }
            Event::Metadata(members) => self.out.metadata(members),
            Event::AuthAwaited(what) => self.out.auth_required(what).await?,
            Event::Decision(decision) => self.decision = Some(decision),
        }
        Ok(())
    }

    /// Whether the event that ends the turn has come.
    pub(crate) fn is_decided(&self) -> bool {
        self.decision.is_some()
    }

    /// Whether what came says itself that the work failed.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.decision, Some(Decision::Fail(_)))
    }

    /// Notes members of the task's metadata.
    pub(crate) fn metadata(&mut self, members: a2ad_domain::RawJson) {
        self.out.metadata(members);
    }

    /// Ends: closes what is open and says how the turn ends. Without a decision it is completed.
    pub(crate) async fn finish(self) -> Result<Outcome, AgentError> {
        let Self { out, open, decision, .. } = self;
        for id in open {
            // An empty piece that says that it is the last.
            out.chunk(&id, Parts::text(""), true).await?;
        }
        match decision {
            None => Ok(Outcome::Completed(None)),
            Some(Decision::Reply(parts)) => Ok(Outcome::Completed(Some(parts))),
            Some(Decision::InputRequired(parts)) => Ok(Outcome::InputRequired(parts)),
            Some(Decision::AuthRequired(parts)) => Ok(Outcome::AuthRequired(parts)),
            Some(Decision::Reject(parts)) => Ok(Outcome::Rejected(parts)),
            Some(Decision::Fail(text)) => {
                Err(AgentError::explained(text, "the agent said that it failed"))
            }
        }
    }

    async fn chunk(
        &mut self,
        id: Option<String>,
        parts: Parts,
        last: bool,
    ) -> Result<(), AgentError> {
        let id = match (id, &self.own) {
            (Some(id), _) => named(id)?,
            (None, Some(own)) => own.clone(),
            (None, None) => {
                let own = self.unused()?;
                self.own.insert(own).clone()
            }
        };
        self.out.chunk(&id, parts, last).await?;
        self.open.retain(|open| *open != id);
        if !last {
            self.open.push(id);
        } else if self.own.as_ref() == Some(&id) {
            // What comes without a name after that is another artifact.
            self.own = None;
        }
        Ok(())
    }

    /// The first of `out-1`, `out-2` … that the task has no artifact of: an earlier turn's stays whole, and
    /// what an earlier attempt at this turn has left is made anew.
    fn unused(&self) -> Result<ArtifactId, AgentError> {
        let task = self.out.task();
        let is_made = |id: &ArtifactId| task.artifact(id).is_some() && !self.out.is_left_over(id);
        let mut number = task.artifacts().iter().filter(|artifact| is_made(&artifact.id)).count();
        loop {
            number += 1;
            let id = ArtifactId::new(format!("out-{number}")).map_err(AgentError::failed)?;
            if !is_made(&id) {
                return Ok(id);
            }
        }
    }
}
