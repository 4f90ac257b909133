//! Calls, whatever binding they came over: what is done, and how the answer goes out.

mod exchange;
mod extended;
mod fault;
mod measure;
mod push;
mod stream;

use crate::auth::{Access, Refused};
use crate::dialect::shape::Shape;
use crate::dialect::{Answer, Call, Method, Unreadable, View};
use crate::edge::{Limit, Seat, Who};
use crate::paging;
use crate::reply::Reply;
use crate::routes::Settings;
use a2ad_domain::error::Busy;
use a2ad_domain::service::{Resume, Sent};
use a2ad_domain::{Agent, Error, Scope, Version};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use serde_json::value::RawValue;
use std::sync::Arc;

pub(crate) use exchange::{Binding, Exchange};
pub(crate) use fault::Fault;
pub use measure::MessageLimits;

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

    /// Who sends a request, if its sender may call.
    pub(crate) async fn admit(&self, head: &Parts, settings: &Settings) -> Result<Guest, Refused> {
        let Settings { allowance, tally, .. } = settings;
        let admitted = self.access.admit(&self.agent.id, head).await;
        // Who shows nothing good is counted by the address, so that guessing is slow.
        let who = allowance.who(admitted.as_ref().ok().and_then(Option::as_ref), head);
        allowance.request(who.as_ref()).map_err(|pause| {
            tally.count(Limit::Rate);
            Refused::TooOften(pause)
        })?;
        let owner = admitted?;
        let own = || owner.map(|owner| Scope::new(self.agent.id.clone(), None, owner));
        let scope = self.common.clone().or_else(own).ok_or(Refused::Unauthenticated)?;
        Ok(Guest { scope, who })
    }
}

/// Somebody who was let in.
pub(crate) struct Guest {
    /// What belongs to them.
    pub(crate) scope: Scope,
    /// Whose requests and streams are counted together, where they are counted.
    who: Option<Who>,
}

/// Reads the parameters of a call, does what it asks for and writes the answer: the same steps in the same
/// order whatever the call came over.
pub(crate) async fn serve(
    exchange: &Exchange<'_>,
    door: &Door,
    guest: &Guest,
    method: Method,
    params: Option<&RawValue>,
    head: &Parts,
) -> Reply {
    let (agent, headers) = (&*door.agent, &head.headers);
    let notifies = exchange.shared.service.notifies();
    if method.is_push() && !notifies {
        return exchange.fault(&Fault::Failed(Error::PushNotificationNotSupported));
    }
    let read = exchange.dialect.decode(method, params, exchange.shape);
    let read = read.map_err(|unreadable| fault_of(unreadable, method, notifies));
    let read = read.and_then(|call| check_extensions(agent, method, headers).map(|()| call));
    let read = read.and_then(|call| check_size(exchange, &call).map(|()| call));
    let call = match read {
        Ok(call) => call,
        Err(fault) if matches!(method, Method::Stream | Method::Attach) => {
            return exchange.stream_fault(&fault, headers);
        }
        Err(fault) => return exchange.fault(&fault),
    };
    if let Call::Send(message, _) | Call::Stream(message, _) = &call
        && let Some(set) = &message.push
        && let Err(error) = Box::pin(push::admit(exchange, set)).await
    {
        let fault = Fault::Failed(error);
        return if method == Method::Stream {
            exchange.stream_fault(&fault, headers)
        } else {
            exchange.fault(&fault)
        };
    }
    let mut reply = perform(exchange, door, guest, call, head).await;
    name_extensions(&mut reply, exchange, agent, headers);
    reply
}

/// What a call has failed with before anything was done.
pub(crate) fn fault_of(unreadable: Unreadable, method: Method, notifies: bool) -> Fault {
    match unreadable {
        Unreadable::Push(_) if !notifies => Fault::Failed(Error::PushNotificationNotSupported),
        Unreadable::Invalid(invalid) | Unreadable::Push(invalid) => {
            Fault::Failed(Error::invalid(invalid.field, invalid.problem))
        }
        Unreadable::Missing if matches!(method, Method::Send | Method::Stream) => {
            Fault::SendWithoutParams
        }
        Unreadable::Missing => Fault::Failed(Error::invalid("id", "is required")),
        Unreadable::NotJson => Fault::Parse,
        Unreadable::NoSuchTask(id) => Fault::Failed(Error::TaskNotFound { id: id.into() }),
    }
}

/// Does what a call asks for and writes the answer.
async fn perform(
    exchange: &Exchange<'_>,
    door: &Door,
    guest: &Guest,
    call: Call,
    head: &Parts,
) -> Reply {
    let (service, headers) = (&exchange.shared.service, &head.headers);
    let scope = &guest.scope;
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
        // Boxed, so that a plain call does not carry the state of these.
        Call::SetPush(task, set) => Box::pin(push::set(exchange, scope, &task, *set)).await,
        Call::GetPush(task, config) => {
            Box::pin(push::get(exchange, scope, &task, config.as_deref())).await
        }
        Call::ListPush { task, size, token } => {
            Box::pin(push::list(exchange, scope, &task, size, token.as_deref())).await
        }
        Call::DeletePush(task, config) => {
            Box::pin(push::delete(exchange, scope, &task, &config)).await
        }
        Call::ExtendedCard => return extended::reply(exchange, door, scope, head),
        // Boxed, so that a plain call does not carry the state of a stream.
        Call::Stream(call, view) => {
            let (seat, streamed) = match seat(exchange, guest) {
                Ok(seat) => (seat, Box::pin(service.stream(scope, *call)).await),
                Err(full) => (None, Err(full)),
            };
            return stream::reply(exchange, streamed, view, seat, headers);
        }
        Call::Attach(id) => {
            let resume = last_event(headers, exchange.shape);
            let (seat, streamed) = match seat(exchange, guest) {
                Ok(seat) => (seat, Box::pin(service.attach(scope, &id, resume)).await),
                Err(full) => (None, Err(full)),
            };
            return stream::reply(exchange, streamed, View::WHOLE, seat, headers);
        }
    };
    match result {
        Ok(body) => exchange.success(body),
        Err(error) => exchange.fault(&Fault::Failed(error)),
    }
}

/// A place among the streams of a caller, where they are counted.
fn seat(exchange: &Exchange<'_>, guest: &Guest) -> Result<Option<Seat>, Error> {
    let seat = exchange.shared.settings.allowance.stream(guest.who.as_ref());
    seat.map_err(|()| Error::Unavailable(Busy::Streams))
}

/// The last event that a returning client has seen. Streams of the 1.0 line open with the task all the
/// same (specification 1.0 §3.1.6).
pub(crate) fn last_event(headers: &HeaderMap, shape: &Shape) -> Option<Resume> {
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

/// Refuses a message that holds more than it may.
fn check_size(exchange: &Exchange<'_>, call: &Call) -> Result<(), Fault> {
    let (Call::Send(send, _) | Call::Stream(send, _)) = call else { return Ok(()) };
    let settings = &exchange.shared.settings;
    measure::check(send, &settings.message).map_err(|(limit, error)| {
        settings.tally.count(limit);
        Fault::Failed(error)
    })
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
