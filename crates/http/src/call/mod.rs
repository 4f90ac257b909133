//! Calls, whatever binding they came over: what is done, and how the answer goes out.

mod exchange;
mod extended;
mod fault;
mod stream;

use crate::auth::{Access, Refused};
use crate::dialect::shape::Shape;
use crate::dialect::{Answer, Call, Method, Unreadable, View};
use crate::paging;
use crate::reply::Reply;
use a2ad_domain::service::{Resume, Sent};
use a2ad_domain::{Agent, Error, Scope, Version};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use serde_json::value::RawValue;
use std::sync::Arc;

pub(crate) use exchange::{Binding, Exchange};
pub(crate) use fault::Fault;

/// A route that takes calls: which agent it leads to and what its 0.3 callers look like.
pub(crate) struct Door {
    pub(crate) agent: Arc<Agent>,
    pub(crate) shape: &'static Shape,
    pub(crate) access: Access,
    /// The scope of every caller, where they are not told apart.
    common: Option<Scope>,
}

impl Door {
    pub(crate) fn new(agent: &Arc<Agent>, shape: &'static Shape, access: Access) -> Self {
        let common = access.common_owner();
        let common = common.map(|owner| Scope::new(agent.id.clone(), None, owner));
        Self { agent: agent.clone(), shape, access, common }
    }

    /// The scope of whoever sends a request.
    pub(crate) async fn scope(&self, headers: &HeaderMap) -> Result<Scope, Refused> {
        let owner = self.access.admit(&self.agent.id, headers).await?;
        let own = || owner.map(|owner| Scope::new(self.agent.id.clone(), None, owner));
        self.common.clone().or_else(own).ok_or(Refused::Unauthenticated)
    }
}

/// Reads the parameters of a call, does what it asks for and writes the answer: the same steps in the same
/// order whatever the call came over.
pub(crate) async fn serve(
    exchange: &Exchange<'_>,
    door: &Door,
    scope: &Scope,
    method: Method,
    params: Option<&RawValue>,
    head: &Parts,
) -> Reply {
    let (agent, headers) = (&*door.agent, &head.headers);
    let read = exchange.dialect.decode(method, params, exchange.shape);
    let read = read.map_err(|unreadable| fault_of(unreadable, method));
    let call = match read.and_then(|call| check_extensions(agent, method, headers).map(|()| call)) {
        Ok(call) => call,
        Err(fault) if matches!(method, Method::Stream | Method::Attach) => {
            return exchange.stream_fault(&fault, headers);
        }
        Err(fault) => return exchange.fault(&fault),
    };
    let mut reply = perform(exchange, door, scope, call, head).await;
    name_extensions(&mut reply, exchange, agent, headers);
    reply
}

/// What a call has failed with before anything was done.
fn fault_of(unreadable: Unreadable, method: Method) -> Fault {
    match unreadable {
        Unreadable::Invalid(invalid) => {
            Fault::Failed(Error::invalid(invalid.field, invalid.problem))
        }
        Unreadable::Missing if matches!(method, Method::Send | Method::Stream) => {
            Fault::SendWithoutParams
        }
        Unreadable::Missing => Fault::Failed(Error::invalid("id", "is required")),
        Unreadable::NotJson => Fault::Parse,
        Unreadable::PushNotification => Fault::Failed(Error::PushNotificationNotSupported),
        Unreadable::NoSuchTask(id) => Fault::Failed(Error::TaskNotFound { id: id.into() }),
    }
}

/// Does what a call asks for and writes the answer.
async fn perform(
    exchange: &Exchange<'_>,
    door: &Door,
    scope: &Scope,
    call: Call,
    head: &Parts,
) -> Reply {
    let (service, headers) = (&exchange.shared.service, &head.headers);
    let result = match call {
        Call::Send(call, view) => match service.send(scope, *call).await {
            Ok(Sent::Task(task)) => Ok(exchange.result(&Answer::Sent(&task, view))),
            Ok(Sent::Message { message, context }) => {
                Ok(exchange.result(&Answer::Message(&message, &context)))
            }
            Err(error) => Err(error),
        },
        Call::Get(id, view) => {
            service.get(scope, &id).await.map(|task| exchange.result(&Answer::Task(&task, view)))
        }
        Call::Cancel(id) => {
            let canceled = service.cancel(scope, &id).await;
            canceled.map(|task| exchange.result(&Answer::Task(&task, View::WHOLE)))
        }
        Call::List(mut list, token, view) => {
            if let Some(token) = token {
                match paging::cursor(&token, scope, &list) {
                    Some(cursor) => list.after = Some(cursor),
                    None => {
                        let error = Error::invalid("pageToken", "is no token of this list");
                        return exchange.fault(&Fault::Failed(error));
                    }
                }
            }
            let size = list.limit;
            service.list(scope, list.clone()).await.map(|page| {
                let token = page.next.map(|next| paging::token(next, scope, &list));
                let token = token.as_deref().unwrap_or("");
                exchange.result(&Answer::Page { page: &page, size, token, view })
            })
        }
        Call::PushConfig => Err(Error::PushNotificationNotSupported),
        Call::ExtendedCard => return extended::reply(exchange, door, scope, head),
        // Boxed, so that a plain call does not carry the state of a stream.
        Call::Stream(call, view) => {
            let streamed = Box::pin(service.stream(scope, *call)).await;
            return stream::reply(exchange, streamed, view, headers);
        }
        Call::Attach(id) => {
            let resume = last_event(headers, exchange.shape);
            let streamed = Box::pin(service.attach(scope, &id, resume)).await;
            return stream::reply(exchange, streamed, View::WHOLE, headers);
        }
    };
    match result {
        Ok(body) => exchange.success(body),
        Err(error) => exchange.fault(&Fault::Failed(error)),
    }
}

/// The last event that a returning client has seen. Streams of the 1.0 line open with the task all the
/// same (specification 1.0 §3.1.6).
fn last_event(headers: &HeaderMap, shape: &Shape) -> Option<Resume> {
    let seen = headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()?;
    Some(Resume { seen: Version(seen), snapshot: !shape.is_line_03() })
}

/// Refuses a message for an agent that requires an extension which the call does not name.
fn check_extensions(agent: &Agent, method: Method, headers: &HeaderMap) -> Result<(), Fault> {
    if !matches!(method, Method::Send | Method::Stream) {
        return Ok(());
    }
    let missing = agent.extensions.iter().find(|extension| {
        extension.required && !requested_extensions(headers).any(|uri| uri == extension.uri)
    });
    missing.map_or(Ok(()), |extension| Err(Fault::ExtensionRequired { uri: extension.uri.clone() }))
}

/// The extensions that a call names, under the header's name of either line.
fn requested_extensions(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let names = ["a2a-extensions", "x-a2a-extensions"];
    let values = names.into_iter().flat_map(|name| headers.get_all(name));
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// Names the extensions that are in force, in the header of the dialect.
fn name_extensions(reply: &mut Reply, exchange: &Exchange<'_>, agent: &Agent, headers: &HeaderMap) {
    if agent.extensions.is_empty() {
        return;
    }
    let active = agent.extensions.iter().map(|extension| &*extension.uri);
    let active: Vec<&str> =
        active.filter(|uri| requested_extensions(headers).any(|named| named == *uri)).collect();
    if let Ok(value) = active.join(", ").parse()
        && !active.is_empty()
    {
        reply.headers_mut().insert(exchange.dialect.extensions_header(), value);
    }
}
