//! Does what operators ask for.

use super::audit::Entry;
use super::directory::{AgentView, Problem};
use super::operation::Operation;
use super::{Admin, body, view};
use crate::body::{Unread, read};
use crate::reply::{self, Reply};
use crate::rpc::is_json;
use a2ad_domain::ports::TaskSummary;
use a2ad_domain::{AgentId, Task};
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use std::sync::Arc;

impl Admin {
    pub(super) async fn perform(
        &self,
        operation: Operation,
        head: &Parts,
        body: &Bytes,
        entry: &mut Entry<'_>,
    ) -> Reply {
        let done = match operation {
            Operation::ListAgents => Ok(view::agents(&self.directory.list().await)),
            Operation::GetAgent(id) => self.directory.get(&id).await.map(|it| agent(&it)),
            Operation::AddAgent => self.add(body, entry).await,
            Operation::ChangeAgent(id) => match body::described(body) {
                Ok(members) => self.directory.change(&id, members).await.map(|it| agent(&it)),
                Err(problem) => Err(problem),
            },
            Operation::Publish(id) => self.directory.publish(&id).await.map(|it| agent(&it)),
            Operation::Unpublish(id) => self.unpublish(&id, body, entry).await,
            Operation::RemoveAgent(id) => self.remove(&id, body, entry).await,
            Operation::ListTasks => self.survey(head.uri.query().unwrap_or_default()).await,
            Operation::GetTask(id) => {
                let found = self.service.find(&id.to_string()).await;
                found.map(|it| self.task(&it)).map_err(Problem::Failed)
            }
            Operation::CancelTask(id) => {
                let canceled = self.service.cancel_found(&id.to_string()).await;
                canceled.map(|it| self.task(&it)).map_err(Problem::Failed)
            }
        };
        done.unwrap_or_else(|problem| view::problem(&problem))
    }

    /// The body of a request.
    pub(super) async fn read(&self, head: &Parts, body: Body) -> Result<Bytes, Reply> {
        let invalid = |status, why| reply::failure(status, "INVALID_ARGUMENT", why);
        let body = match read(head, body, &self.body, &self.tally).await {
            Ok(body) => body,
            Err(Unread::TooSlow | Unread::Broken) => return Err(reply::broken_off()),
            Err(Unread::TooLarge) => {
                return Err(invalid(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large"));
            }
        };
        if !body.is_empty() && !is_json(&head.headers) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(invalid(status, "The body must be of the type application/json"));
        }
        Ok(body)
    }

    async fn add(&self, body: &Bytes, entry: &mut Entry<'_>) -> Result<Reply, Problem> {
        let members = body::described(body)?;
        entry.subject = body::id(&members);
        let added = self.directory.add(members).await?;
        Ok(view::shown(StatusCode::CREATED, |o| view::agent(o, &added)))
    }

    async fn unpublish(
        &self,
        id: &AgentId,
        body: &Bytes,
        entry: &mut Entry<'_>,
    ) -> Result<Reply, Problem> {
        let tasks = body::unfinished(body)?;
        entry.tasks = Some(body::word(tasks));
        let (unpublished, canceled) = self.directory.unpublish(id, tasks).await?;
        entry.canceled = Some(canceled);
        Ok(view::shown(StatusCode::OK, |o| {
            view::agent(o, &unpublished);
            o.plain("canceled", canceled);
        }))
    }

    async fn remove(
        &self,
        id: &AgentId,
        body: &Bytes,
        entry: &mut Entry<'_>,
    ) -> Result<Reply, Problem> {
        let tasks = body::unfinished(body)?;
        entry.tasks = Some(body::word(tasks));
        let canceled = self.directory.remove(id, tasks).await?;
        entry.canceled = Some(canceled);
        Ok(view::shown(StatusCode::OK, |o| o.plain("canceled", canceled)))
    }

    async fn survey(&self, query: &str) -> Result<Reply, Problem> {
        let (survey, overdue) = body::survey(query)?;
        let page = self.service.survey(survey, overdue).await.map_err(Problem::Failed)?;
        Ok(view::tasks(&page))
    }

    fn task(&self, task: &Arc<Task>) -> Reply {
        let now = self.audit.now();
        view::shown(StatusCode::OK, |o| view::task(o, &TaskSummary::of(task), now))
    }
}

fn agent(view: &AgentView) -> Reply {
    view::shown(StatusCode::OK, |o| view::agent(o, view))
}
