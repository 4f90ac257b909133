//! Tells a webhook of a change, once: in its shape, with what lets the server in there.

use super::client::Client;
use super::failure::{DeliveryError, Retry};
use super::header::HeaderText;
use super::places::Places;
use super::signature::{SIGNATURE, Signer};
use super::target::Target;
use super::token::{JWT, NoticeSigner, Subject};
use crate::dialect::shape::of_webhooks;
use crate::dialect::{Answer, Event, View, encode};
use a2ad_domain::ports::{Clock, Notice, PushSender, Undelivered};
use a2ad_domain::{PushAuthentication, PushConfig, PushForm};
use async_trait::async_trait;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// What a webhook knows its notifications by.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
/// Names the change, so that a receiver knows one that it has got already.
const ID: HeaderName = HeaderName::from_static("a2a-notification-id");

/// Tells webhooks over HTTP.
pub struct Sender {
    client: Client,
    places: Places,
    signer: Option<Signer>,
    keys: Option<Arc<NoticeSigner>>,
    clock: Arc<dyn Clock>,
}

impl Sender {
    /// Calls so many webhooks at once, and so many of one host.
    #[must_use]
    pub fn new(client: Client, most: usize, most_of_a_host: usize, clock: Arc<dyn Clock>) -> Self {
        let places = Places::new(most, most_of_a_host);
        Self { client, places, signer: None, keys: None, clock }
    }

    /// Signs what it sends with a secret, with keys that are published, or with both.
    #[must_use]
    pub fn signed(mut self, signer: Option<Signer>, keys: Option<Arc<NoticeSigner>>) -> Self {
        (self.signer, self.keys) = (signer, keys);
        self
    }

    /// What is sent, as far as no key vouches for it: its id, the headers, where they can be sent, and the body.
    pub(crate) fn written(
        &self,
        config: &PushConfig,
        notice: &Notice,
    ) -> Option<(String, HeaderMap, Vec<u8>)> {
        let body = body(config.form, notice);
        let (task, version) = notice.subject();
        let id = format!("{}/{}", task.id, version.0);
        let headers = self.headers(config, &id, &body)?;
        Some((id, headers, body))
    }

    /// What goes along whoever signs.
    fn headers(&self, config: &PushConfig, id: &str, body: &[u8]) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        let kind = match config.form {
            PushForm::Line03 | PushForm::Praison => "application/json",
            PushForm::Line1 => "application/a2a+json",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(ID, id.parse().ok()?);
        if let Some(token) = &config.token {
            headers.insert(TOKEN, HeaderText::token(token.reveal()).ok()?.value());
        }
        if let Some(known) = &config.authentication {
            let credentials = known.credentials.as_ref().map(|secret| secret.reveal());
            let scheme = known.schemes.first()?;
            let value = HeaderText::authorization(scheme, credentials).ok()?.value();
            headers.insert(AUTHORIZATION, value);
        }
        if let Some(signer) = &self.signer {
            let name = HeaderName::from_static(SIGNATURE);
            headers.insert(name, signer.header(self.clock.now(), body)?);
        }
        Some(headers)
    }

    /// Adds what the first key says of it. What the receiver's own client gave to be let in with stays what it
    /// is; only where that leaves `Authorization` open the token stands there too, as the protocol's samples
    /// expect it.
    fn vouch(
        &self,
        headers: &mut HeaderMap,
        config: &PushConfig,
        subject: &Subject<'_>,
    ) -> Option<()> {
        let Some(keys) = &self.keys else { return Some(()) };
        let token = keys.token(subject, self.clock.now())?;
        if leaves_room(config.authentication.as_ref()) {
            let value = HeaderText::authorization("Bearer", Some(&token)).ok()?.value();
            headers.insert(AUTHORIZATION, value);
        }
        headers.insert(HeaderName::from_static(JWT), HeaderText::token(&token).ok()?.value());
        Some(())
    }
}

/// Whether a client has not said what is to stand in `Authorization`: it has said nothing, or that a bearer
/// token is to be there and not which.
fn leaves_room(authentication: Option<&PushAuthentication>) -> bool {
    authentication.is_none_or(|known| {
        let scheme = known.schemes.first();
        known.credentials.is_none() && scheme.is_some_and(|it| it.eq_ignore_ascii_case("bearer"))
    })
}

#[async_trait]
impl PushSender for Sender {
    async fn send(&self, config: &PushConfig, notice: &Notice) -> Result<(), Undelivered> {
        // What was good when it was registered may not be any more, after another configuration.
        let refused = |why: String| Undelivered { why, retry: None };
        let target = Target::parse(config.url.reveal(), self.client.rules());
        let target = target.map_err(|error| refused(error.to_string()))?;
        let place = self.places.take(target.host()).await;
        let _place = place.map_err(|_| refused("the server is about to end".to_owned()))?;
        // Written only now, so that what waits for its turn is small.
        let written = self.written(config, notice);
        let (id, mut headers, body) =
            written.ok_or_else(|| refused("the headers cannot be sent".to_owned()))?;
        let subject = Subject { audience: target.origin(), id: &id, body: &body };
        self.vouch(&mut headers, config, &subject).ok_or_else(|| Undelivered {
            why: "it could not be signed".to_owned(),
            retry: Some(Duration::ZERO),
        })?;
        match self.client.deliver(&target, headers, body.into()).await {
            Ok(_) => Ok(()),
            Err(error) => Err(undelivered(&target, &error)),
        }
    }
}

fn undelivered(target: &Target, error: &DeliveryError) -> Undelivered {
    let source = error.source().map(tracing::field::display);
    tracing::debug!(receiver = target.origin(), %error, source, "a webhook was not told");
    let retry = match error.retry() {
        Retry::Never => None,
        Retry::After(wait) => Some(wait),
    };
    Undelivered { why: error.to_string(), retry }
}

/// What a webhook gets to read (specification 0.3 §9.5, 1.0 §4.3.3).
fn body(form: PushForm, notice: &Notice) -> Vec<u8> {
    let (shape, mut out) = (of_webhooks(form), Vec::with_capacity(1024));
    match (notice, form) {
        // One of what a stream of the 1.0 line may begin with.
        (Notice::Task(task), PushForm::Line1) => {
            encode::answer(&Answer::Sent(task, View::WHOLE), shape, &mut out);
        }
        (Notice::Task(task), PushForm::Line03 | PushForm::Praison) => {
            encode::answer(&Answer::Task(task, View::WHOLE), shape, &mut out);
        }
        (Notice::Change { task: key, context, change }, _) => {
            let last = change.state().is_some_and(a2ad_domain::TaskState::is_terminal);
            // The domain has no notices of changes that nobody is shown.
            let _ = encode::change(&Event { key, context, change, last }, shape, &mut out);
        }
    }
    out
}
