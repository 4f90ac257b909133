//! The dispatcher: one way from the bytes of a request to the bytes of its answer, whatever the dialect.

mod envelope;
mod stream;

use crate::auth::Challenge;
use crate::body::{self, Unread};
use crate::dialect::profile::Profile;
use crate::dialect::v03::V03;
use crate::dialect::{Answer, Call, Dialect, Unreadable};
use crate::paging;
use crate::reply::{self, Reply};
use crate::routes::Shared;
use a2ad_domain::service::{Resume, Sent};
use a2ad_domain::{Agent, Error, Owner, Scope, Task, Version};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use std::sync::Arc;

pub(crate) use envelope::{Envelope, Fault, Id};

/// A route that takes calls: which agent it leads to and which profile it speaks.
pub(crate) struct Door {
    pub(crate) agent: Arc<Agent>,
    pub(crate) profile: &'static Profile,
    /// The scope of the caller that most calls come from, made once.
    pub(crate) anonymous: Scope,
}

impl Door {
    fn scope(&self, owner: Owner) -> Scope {
        if *self.anonymous.owner() == owner {
            self.anonymous.clone()
        } else {
            Scope::new(self.agent.id.clone(), None, owner)
        }
    }
}

/// Everything an answer needs besides the result.
pub(super) struct Exchange<'a> {
    shared: &'a Shared,
    dialect: &'static dyn Dialect,
    profile: &'static Profile,
    id: Id<'a>,
}

/// Takes one HTTP request to a door.
pub(crate) async fn take(shared: Arc<Shared>, door: Arc<Door>, request: Request) -> Reply {
    if !door.agent.is_published() {
        return reply::not_found("No such agent");
    }
    let (head, body) = request.into_parts();
    let owner = match shared.authenticator.authenticate(&head.headers) {
        Ok(owner) => owner,
        Err(challenge) => return refuse(challenge),
    };
    let body = match body::read(body, shared.settings.max_body).await {
        Ok(body) => body,
        Err(Unread::TooLarge) => return unanswerable(&shared, &door, &Fault::TooLarge),
        Err(Unread::Broken) => {
            let status = StatusCode::REQUEST_TIMEOUT;
            return reply::failure(status, "DEADLINE_EXCEEDED", "The request did not arrive whole");
        }
    };
    if !is_json(&head.headers) {
        return unanswerable(&shared, &door, &Fault::ContentType);
    }
    answer(&shared, &door, owner, &head.headers, &body).await
}

fn refuse(challenge: Challenge) -> Reply {
    reply::unauthorized(challenge)
}

/// An error about a request that was not read far enough to know its id.
fn unanswerable(shared: &Shared, door: &Door, fault: &Fault) -> Reply {
    Exchange { shared, dialect: &V03, profile: door.profile, id: Id::NULL }.fault(fault)
}

/// JSON, or not said.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let value = value.to_str().unwrap_or("");
    let bare = value.split(';').next().unwrap_or("").trim();
    let (main, sub) = bare.split_once('/').unwrap_or((bare, ""));
    let is = |text: &str, what: &str| text.eq_ignore_ascii_case(what);
    is(main, "application") && (is(sub, "json") || is(sub, "json-rpc"))
        || sub.len() > 5
            && sub.is_char_boundary(sub.len() - 5)
            && is(&sub[sub.len() - 5..], "+json")
}

async fn answer(
    shared: &Arc<Shared>,
    door: &Arc<Door>,
    owner: Owner,
    headers: &HeaderMap,
    body: &Bytes,
) -> Reply {
    let mut exchange = Exchange { shared, dialect: &V03, profile: door.profile, id: Id::NULL };
    let envelope = match Envelope::read(body) {
        Ok(envelope) => envelope,
        Err((id, fault)) => {
            exchange.id = id;
            return exchange.fault(&fault);
        }
    };
    exchange.id = envelope.id;
    if let Some(requested) = unserved_version(headers) {
        return exchange.fault(&Fault::Version { requested });
    }
    let Some(method) = exchange.dialect.method(&envelope.method) else {
        let successor = exchange.dialect.successor(&envelope.method);
        return exchange.fault(&Fault::UnknownMethod { successor });
    };
    let call = match exchange.dialect.decode(method, envelope.params, door.profile) {
        Ok(call) => call,
        Err(unreadable) => {
            let sends =
                matches!(method, crate::dialect::Method::Send | crate::dialect::Method::Stream);
            let fault = fault_of(unreadable, sends);
            let streams =
                matches!(method, crate::dialect::Method::Stream | crate::dialect::Method::Attach);
            return if streams {
                exchange.stream_fault(&fault, headers)
            } else {
                exchange.fault(&fault)
            };
        }
    };
    perform(&exchange, door, &door.scope(owner), call, headers).await
}

/// The version that the caller asks for and that is not served. The header that says none means 0.3.
fn unserved_version(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("a2a-version")?.to_str().unwrap_or("?").trim();
    let mut numbers = value.split('.');
    let served = value.is_empty() || numbers.next() == Some("0") && numbers.next() == Some("3");
    (!served).then(|| value.chars().take(64).collect())
}

fn fault_of(unreadable: Unreadable, sends: bool) -> Fault {
    match unreadable {
        Unreadable::Invalid(invalid) => {
            Fault::Failed(Error::invalid(invalid.field, invalid.problem))
        }
        Unreadable::Missing if sends => Fault::SendWithoutParams,
        Unreadable::Missing => Fault::Failed(Error::invalid("id", "is required")),
        Unreadable::NotJson => Fault::Parse,
        Unreadable::PushNotification => Fault::Failed(Error::PushNotificationNotSupported),
    }
}

async fn perform(
    exchange: &Exchange<'_>,
    door: &Door,
    scope: &Scope,
    call: Call,
    headers: &HeaderMap,
) -> Reply {
    let service = &exchange.shared.service;
    let result = match call {
        Call::Send(call, view) => match service.send(scope, *call).await {
            Ok(Sent::Task(task)) => Ok(exchange.result(&Answer::Task(&task, view))),
            Ok(Sent::Message { message, context }) => {
                Ok(exchange.result(&Answer::Message(&message, &context)))
            }
            Err(error) => Err(error),
        },
        Call::Get(id, view) => {
            service.get(scope, &id).await.map(|task| exchange.result(&Answer::Task(&task, view)))
        }
        Call::Cancel(id) => {
            let whole = crate::dialect::View::WHOLE;
            service
                .cancel(scope, &id)
                .await
                .map(|task| exchange.result(&Answer::Task(&task, whole)))
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
        Call::ExtendedCard => Err(Error::ExtendedCardNotConfigured),
        // Boxed, so that a plain call does not carry the state of a stream.
        Call::Stream(call, view) => {
            let streamed = Box::pin(service.stream(scope, *call)).await;
            return stream::reply(exchange, streamed, view, headers);
        }
        Call::Attach(id) => {
            let streamed = Box::pin(service.attach(scope, &id, last_event(headers))).await;
            return stream::reply(exchange, streamed, crate::dialect::View::WHOLE, headers);
        }
    };
    debug_assert_eq!(scope.agent(), &door.agent.id);
    match result {
        Ok(body) => reply::json(StatusCode::OK, body),
        Err(error) => exchange.fault(&Fault::Failed(error)),
    }
}

/// The last event that a returning client has seen.
fn last_event(headers: &HeaderMap) -> Option<Resume> {
    let seen = headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()?;
    Some(Resume { seen: Version(seen), snapshot: false })
}

impl Exchange<'_> {
    /// `{"jsonrpc":"2.0","id":…,"result":`
    fn open(&self, out: &mut Vec<u8>, member: &str) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(self.id.as_json().as_bytes());
        out.extend_from_slice(b",\"");
        out.extend_from_slice(member.as_bytes());
        out.extend_from_slice(b"\":");
    }

    fn result(&self, answer: &Answer<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.id.as_json().len() + size_hint(answer));
        self.open(&mut out, "result");
        self.dialect.answer(answer, self.profile, &mut out);
        out.push(b'}');
        out
    }

    fn error(&self, fault: &Fault) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        self.open(&mut out, "error");
        self.dialect.fault(fault, self.profile, &mut out);
        out.push(b'}');
        out
    }

    fn fault(&self, fault: &Fault) -> Reply {
        let body = self.error(fault);
        match fault.http_status() {
            StatusCode::OK => reply::json(StatusCode::OK, body),
            status => reply::busy(status, body),
        }
    }

    /// An error of a call that would have streamed. Clients of the 0.3 line that ask for events read the
    /// answer as events, whatever its type says, so they get one.
    fn stream_fault(&self, fault: &Fault, headers: &HeaderMap) -> Reply {
        if fault.http_status() != StatusCode::OK || !accepts_events(headers) {
            return self.fault(fault);
        }
        let mut frame = b"data: ".to_vec();
        frame.extend_from_slice(&self.error(fault));
        frame.extend_from_slice(b"\n\n");
        reply::events(frame.into())
    }
}

/// Whether the client names the type of events. The header may come several times; all count.
fn accepts_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|range| {
        range.split(';').next().is_some_and(|range| range.trim() == "text/event-stream")
    })
}

/// About how long an answer will be, so that its buffer is made once.
fn size_hint(answer: &Answer<'_>) -> usize {
    const FRAME: usize = 512;
    let task = |task: &Task, artifacts: bool| {
        let results = task.artifacts().iter().flat_map(|artifact| &artifact.chunks);
        let results: usize = results.map(a2ad_domain::Parts::weight).sum();
        let messages: usize =
            task.history().iter().map(|message| message.parts.weight() + 192).sum();
        FRAME + messages + if artifacts { results } else { 0 }
    };
    let content = match answer {
        Answer::Task(one, view) => task(one, view.artifacts),
        Answer::Message(message, _) => message.weight(),
        Answer::Page { page, view, .. } => {
            page.tasks.iter().map(|each| task(each, view.artifacts)).sum()
        }
    };
    // Escapes make text a little longer.
    FRAME + content + content / 32
}
