//! What operators do with agents. Each change is stored first and in force afterwards, so that what was
//! answered holds over the next start.

use super::description::Description;
use super::entry::{Entry, Source};
use super::{Directory, Entries};
use a2ad_domain::ports::{KeptAgent, StoreError};
use a2ad_domain::{AgentId, Unfinished};
use a2ad_http::admin::{AgentView, Directory as Port, Problem};
use async_trait::async_trait;
use serde_json::{Map, Value};

impl Entries {
    fn known(&self, id: &AgentId) -> Result<usize, Problem> {
        self.find(id).ok_or(Problem::Unknown)
    }

    /// Refuses to do something to an agent that is not an operator's.
    fn check_added(&self, index: usize) -> Result<(), Problem> {
        match self.all[index].source {
            Source::Added(_) => Ok(()),
            Source::Given => Err(Problem::Conflict(format!(
                "{} is described in the configuration; change it there, or unpublish it",
                self.all[index].id
            ))),
        }
    }

    /// Refuses a second agent that says that it is the default.
    fn check_default(&self, entry: &Entry) -> Result<(), Problem> {
        let other = self.all.iter().find(|known| known.is_default && known.id != entry.id);
        match other.filter(|_| entry.is_default) {
            None => Ok(()),
            Some(other) => Err(Problem::Conflict(format!(
                "default: {} is the default already; only one agent can be",
                other.id
            ))),
        }
    }

    fn view(&self, index: usize) -> AgentView {
        self.all[index].view(self.default())
    }
}

/// The id that a description names.
fn id_of(members: &Map<String, Value>) -> Result<AgentId, Problem> {
    let invalid = |problem: String| Problem::Invalid(format!("id: {problem}"));
    match members.get("id") {
        Some(Value::String(id)) => {
            AgentId::new(id.as_str()).map_err(|rule| invalid(format!("{id:?} {rule}")))
        }
        Some(other) => Err(invalid(format!("{other} must be a text"))),
        None => Err(invalid("is missing; give the agent a name of its own".to_owned())),
    }
}

/// Takes whether an agent is published out of its description, where that does not belong to what it is.
fn published_in(members: &mut Map<String, Value>) -> Result<Option<bool>, Problem> {
    match members.remove("published") {
        None => Ok(None),
        Some(Value::Bool(published)) => Ok(Some(published)),
        Some(other) => Err(Problem::Invalid(format!("published: {other} must be true or false"))),
    }
}

impl Directory {
    fn stored(&self, error: StoreError) -> Problem {
        Problem::Failed(self.service.failed(error))
    }

    async fn keep(&self, entry: &Entry, published: bool) -> Result<(), Problem> {
        let description = match &entry.source {
            Source::Given => None,
            Source::Added(description) => Some(description.json().clone()),
        };
        let kept = KeptAgent { id: entry.id.clone(), description, published };
        self.kept.keep(&kept).await.map_err(|error| self.stored(error))
    }
}

#[async_trait]
impl Port for Directory {
    async fn list(&self) -> Vec<AgentView> {
        let entries = self.entries.lock().await;
        (0..entries.all.len()).map(|index| entries.view(index)).collect()
    }

    async fn get(&self, id: &AgentId) -> Result<AgentView, Problem> {
        let entries = self.entries.lock().await;
        entries.known(id).map(|index| entries.view(index))
    }

    async fn add(&self, mut members: Map<String, Value>) -> Result<AgentView, Problem> {
        let mut entries = self.entries.lock().await;
        let id = id_of(&members)?;
        let published = published_in(&mut members)?.unwrap_or(true);
        if entries.find(&id).is_some() {
            return Err(Problem::Conflict(format!("id: there is an agent {id} already")));
        }
        let description = Description::of(members).map_err(Problem::Invalid)?;
        let made = entries.make(&description, None).map_err(Problem::Invalid)?;
        made.front.agent.set_published(published);
        let entry = Entry::added(id, description, Ok(made), published);
        entries.check_default(&entry)?;
        self.keep(&entry, published).await?;
        entries.all.push(entry);
        self.publish_set(&entries);
        Ok(entries.view(entries.all.len() - 1))
    }

    async fn change(
        &self,
        id: &AgentId,
        mut members: Map<String, Value>,
    ) -> Result<AgentView, Problem> {
        let mut entries = self.entries.lock().await;
        let index = entries.known(id)?;
        entries.check_added(index)?;
        members.entry("id").or_insert_with(|| id.as_str().into());
        if id_of(&members)? != *id {
            let problem = format!("id: must be {id:?}, or left out: an agent keeps its id");
            return Err(Problem::Invalid(problem));
        }
        let earlier = entries.all[index].front().map(|front| front.agent.clone());
        let before = earlier.as_ref().map(|agent| agent.is_published());
        let before = before.unwrap_or(entries.all[index].wanted);
        let published = published_in(&mut members)?.unwrap_or(before);
        let description = Description::of(members).map_err(Problem::Invalid)?;
        let made = entries.make(&description, earlier.as_deref()).map_err(Problem::Invalid)?;
        let entry = Entry::added(id.clone(), description, Ok(made), published);
        entries.check_default(&entry)?;
        self.keep(&entry, published).await?;
        if let Some(front) = entry.front() {
            front.agent.set_published(published);
        }
        entries.all[index] = entry;
        self.publish_set(&entries);
        Ok(entries.view(index))
    }

    async fn publish(&self, id: &AgentId) -> Result<AgentView, Problem> {
        let entries = self.entries.lock().await;
        let index = entries.known(id)?;
        let entry = &entries.all[index];
        let front = entry.served.as_ref();
        let front = front.map_err(|problem| Problem::Conflict(problem.clone()))?;
        self.keep(entry, true).await?;
        front.agent.set_published(true);
        Ok(entries.view(index))
    }

    async fn unpublish(
        &self,
        id: &AgentId,
        tasks: Unfinished,
    ) -> Result<(AgentView, usize), Problem> {
        let mut entries = self.entries.lock().await;
        let index = entries.known(id)?;
        self.keep(&entries.all[index], false).await?;
        let entry = &mut entries.all[index];
        entry.wanted = false;
        let canceled = match entry.front() {
            Some(front) => self.service.withdraw(&front.agent, tasks).await,
            None => Ok(0),
        };
        Ok((entries.view(index), canceled.map_err(Problem::Failed)?))
    }

    async fn remove(&self, id: &AgentId, tasks: Unfinished) -> Result<usize, Problem> {
        let mut entries = self.entries.lock().await;
        let index = entries.known(id)?;
        entries.check_added(index)?;
        self.kept.forget(id).await.map_err(|error| self.stored(error))?;
        let entry = entries.all.remove(index);
        let canceled = match entry.front() {
            Some(front) => self.service.withdraw(&front.agent, tasks).await,
            None => Ok(0),
        };
        // It is gone whatever became of its tasks.
        self.publish_set(&entries);
        canceled.map_err(Problem::Failed)
    }
}
