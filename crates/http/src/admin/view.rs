//! Writes what operators are shown.

use super::directory::{AgentView, Origin, Problem};
use crate::json::{self, Object};
use crate::reply::{self, Reply};
use a2ad_domain::ports::TaskSummary;
use a2ad_domain::service::Surveyed;
use a2ad_domain::{Error, RawJson, Tenant, Timestamp};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, StatusCode};

/// An answer with an object that nobody keeps.
pub(super) fn shown(status: StatusCode, members: impl FnOnce(&mut Object<'_>)) -> Reply {
    let mut out = Vec::with_capacity(512);
    json::object(&mut out, members);
    let mut reply = reply::json(status, out);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

pub(super) fn agent(o: &mut Object<'_>, view: &AgentView) {
    o.displayed("id", &view.id);
    let origin = match view.origin {
        Origin::Configuration => "configuration",
        Origin::Operator => "admin",
    };
    o.string("origin", origin);
    o.plain("published", view.published);
    o.plain("default", view.default);
    o.maybe("name", view.name.as_deref());
    o.maybe("problem", view.problem.as_deref());
    if !view.missing.is_empty() {
        o.strings("missing", &view.missing);
    }
    if let Some(description) = view.description.as_ref().map(RawJson::as_str) {
        o.raw("agent", description);
    }
}

pub(super) fn agents(views: &[AgentView]) -> Reply {
    shown(StatusCode::OK, |o| {
        o.array("agents", views, |out, view| json::object(out, |o| agent(o, view)));
    })
}

/// Where a task stands; nothing of what was said in it.
pub(super) fn task(o: &mut Object<'_>, task: &TaskSummary, now: Timestamp) {
    o.displayed("id", task.key.id);
    o.displayed("agent", task.key.scope.agent());
    o.maybe("tenant", task.key.scope.tenant().map(Tenant::as_str));
    o.string("owner", task.key.scope.owner().as_str());
    o.string("contextId", task.context.as_str());
    o.string("state", task.state.name());
    o.displayed("statusAt", task.status_at);
    o.displayed("created", task.created);
    if let Some(deadline) = task.deadline {
        o.displayed("deadline", deadline);
    }
    o.plain("overdue", task.is_overdue(now));
    o.plain("running", task.running);
    o.plain("version", task.version.0);
}

pub(super) fn tasks(page: &Surveyed) -> Reply {
    shown(StatusCode::OK, |o| {
        o.array("tasks", &page.tasks, |out, each| json::object(out, |o| task(o, each, page.at)));
        let token = page.next.map(|next| next.to_string());
        o.string("nextPageToken", token.as_deref().unwrap_or_default());
    })
}

/// Why nothing was done.
pub(super) fn problem(problem: &Problem) -> Reply {
    match problem {
        Problem::Unknown => reply::failure(StatusCode::NOT_FOUND, "NOT_FOUND", "No such agent"),
        Problem::Conflict(why) => reply::failure(StatusCode::CONFLICT, "FAILED_PRECONDITION", why),
        Problem::Invalid(why) => reply::failure(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", why),
        Problem::Failed(error) => failed(error),
    }
}

/// What was asked for has broken down.
pub(super) fn broken() -> Reply {
    reply::failure(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "Internal error")
}

/// What a failure of a use case means here.
pub(super) fn failed(error: &Error) -> Reply {
    match error {
        Error::TaskNotFound { .. } => {
            reply::failure(StatusCode::NOT_FOUND, "NOT_FOUND", "No such task")
        }
        Error::TaskNotCancelable { state, .. } => {
            let why = format!("The task is {state} and cannot be canceled");
            reply::failure(StatusCode::CONFLICT, "FAILED_PRECONDITION", &why)
        }
        Error::Internal { reference, .. } => {
            let why = format!("Internal error (reference {reference})");
            reply::failure(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", &why)
        }
        Error::Unavailable(_)
        | Error::UnsupportedOperation { .. }
        | Error::InvalidParams { .. }
        | Error::ContentTypeNotSupported { .. }
        | Error::PushNotificationNotSupported
        | Error::ExtendedCardNotConfigured => {
            let why = error.code().message();
            reply::failure(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", why)
        }
    }
}
