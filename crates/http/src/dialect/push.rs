//! Webhooks as callers describe them and as they are told back (specification 0.3 §6.8 to §6.10, 1.0
//! §4.3.1 and §4.3.2).

use super::Invalid;
use super::shape::{PartStyle, Shape};
use super::text::Shared;
use crate::json::{self, Object};
use a2ad_domain::service::SetPush;
use a2ad_domain::{Confidential, PushAuthentication, PushConfigId, PushForm, Webhook};
use std::sync::Arc;

/// How many schemes of authentication a webhook may name.
const MOST_SCHEMES: usize = 8;

/// A webhook as a call holds it, in whatever line.
pub(super) struct Given {
    pub(super) id: Option<Shared>,
    pub(super) url: Option<Shared>,
    pub(super) token: Option<Shared>,
    pub(super) authentication: Option<GivenAuthentication>,
}

pub(super) struct GivenAuthentication {
    pub(super) schemes: Vec<Shared>,
    pub(super) credentials: Option<Shared>,
}

/// The path of a member of what stands at `field`.
pub(crate) fn at(field: &str, name: &str) -> String {
    if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") }
}

/// Where the schemes stand in a webhook of this form.
pub(crate) const fn schemes_of(form: PushForm) -> &'static str {
    match form {
        PushForm::Line03 | PushForm::Praison => "authentication.schemes",
        PushForm::Line1 => "authentication.scheme",
    }
}

impl Given {
    /// The webhook that is asked for. Whether its URL may be called is somebody else's question.
    pub(super) fn set(self, form: PushForm, field: &'static str) -> Result<SetPush, Invalid> {
        let Self { id, url, token, authentication } = self;
        // What is empty is not there: protocol buffers know no difference.
        let there =
            |given: Option<Shared>| given.map(|Shared(text)| text).filter(|t| !t.is_empty());
        let id = there(id).map(PushConfigId::new).transpose();
        let id = id.map_err(|rule| Invalid::new(at(field, "id"), rule.0))?;
        let url = there(url).ok_or_else(|| Invalid::new(at(field, "url"), "is required"))?;
        let authentication = match authentication {
            None => None,
            Some(given) => {
                let credentials = there(given.credentials).map(Confidential::new);
                let schemes: Box<[Arc<str>]> = given.schemes.into_iter().map(|s| s.0).collect();
                authentication_of(schemes, credentials, &at(field, schemes_of(form)))?
            }
        };
        let (url, token) = (Confidential::new(url), there(token).map(Confidential::new));
        Ok(SetPush { id, url, token, authentication, form, field })
    }
}

fn authentication_of(
    schemes: Box<[Arc<str>]>,
    credentials: Option<Confidential>,
    field: &str,
) -> Result<Option<PushAuthentication>, Invalid> {
    if schemes.len() > MOST_SCHEMES {
        return Err(Invalid::new(field, format!("must not be more than {MOST_SCHEMES}")));
    }
    match (schemes.is_empty(), &credentials) {
        (true, None) => Ok(None),
        (true, Some(_)) => Err(Invalid::new(field, "is required where there are credentials")),
        (false, _) => Ok(Some(PushAuthentication { schemes, credentials })),
    }
}

/// Writes a webhook of a task.
pub(super) fn webhook(task: &str, webhook: &Webhook, shape: &Shape, out: &mut Vec<u8>) {
    let id = webhook.config.id.as_str();
    json::object(out, |o| match shape.part {
        PartStyle::Flat => {
            o.string("taskId", task);
            members(o, webhook, shape);
        }
        PartStyle::Nested => {
            o.string("taskId", task);
            o.object("pushNotificationConfig", |o| members(o, webhook, shape));
        }
        PartStyle::Proto => {
            o.string("name", &format!("tasks/{task}/pushNotificationConfigs/{id}"));
            o.object("pushNotificationConfig", |o| members(o, webhook, shape));
        }
    });
}

fn members(o: &mut Object<'_>, webhook: &Webhook, shape: &Shape) {
    let config = &webhook.config;
    o.string("id", config.id.as_str());
    o.string("url", config.url.reveal());
    o.maybe("token", config.token.as_ref().map(Confidential::reveal));
    let Some(authentication) = &config.authentication else { return };
    o.object("authentication", |o| {
        if shape.part == PartStyle::Flat {
            o.maybe("scheme", authentication.schemes.first().map(|scheme| &**scheme));
        } else {
            o.strings("schemes", authentication.schemes.iter());
        }
        o.maybe("credentials", authentication.credentials.as_ref().map(Confidential::reveal));
    });
}

/// Writes a list of webhooks: an array in the 0.3 line over JSON-RPC, an object elsewhere.
pub(super) fn webhooks(
    task: &str,
    page: &[Webhook],
    token: Option<&str>,
    shape: &Shape,
    out: &mut Vec<u8>,
) {
    let each = |out: &mut Vec<u8>, each: &Webhook| webhook(task, each, shape, out);
    if shape.part == PartStyle::Nested {
        return json::array(out, page, each);
    }
    json::object(out, |o| {
        o.array("configs", page, each);
        o.maybe("nextPageToken", token);
    });
}
