//! Reads the parameters of 0.3 calls about webhooks (specification 0.3 §7.5 to §7.8).

use crate::dialect::input::{read, task_id};
use crate::dialect::push::{Given, GivenAuthentication};
use crate::dialect::shape::{PartStyle, Shape};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Call, Invalid, Unreadable};
use a2ad_domain::service::SetPush;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigIn {
    id: Option<Shared>,
    url: Option<Shared>,
    token: Option<Shared>,
    authentication: Option<Object<AuthenticationIn>>,
}

#[derive(Deserialize)]
struct AuthenticationIn {
    schemes: Option<Vec<Shared>>,
    credentials: Option<Shared>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetIn<'a> {
    #[serde(borrow, alias = "task_id")]
    task_id: Option<Borrowed<'a>>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<ConfigIn>>,
    /// What the protocol buffers put around it, and the id beside it.
    config: Option<Object<WrappedIn>>,
    #[serde(alias = "config_id")]
    config_id: Option<Shared>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrappedIn {
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<ConfigIn>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebhookIn<'a> {
    #[serde(borrow)]
    id: Option<Borrowed<'a>>,
    #[serde(borrow, alias = "push_notification_config_id")]
    push_notification_config_id: Option<Borrowed<'a>>,
    page_size: Option<i64>,
    #[serde(borrow)]
    page_token: Option<Borrowed<'a>>,
}

impl ConfigIn {
    fn set(self, shape: &Shape, field: &'static str) -> Result<SetPush, Invalid> {
        let Self { id, url, token, authentication } = self;
        let authentication = authentication.map(|Object(given)| GivenAuthentication {
            schemes: given.schemes.unwrap_or_default(),
            credentials: given.credentials,
        });
        Given { id, url, token, authentication }.set(shape.push, field)
    }
}

/// The webhook that a message brings along.
pub(super) fn inline(given: &RawValue, shape: &Shape) -> Result<SetPush, Unreadable> {
    const FIELD: &str = "configuration.pushNotificationConfig";
    let config: ConfigIn = read(Some(given)).map_err(|error| error.within(FIELD))?;
    config.set(shape, FIELD).map_err(Unreadable::Push)
}

pub(super) fn set(params: Option<&RawValue>, shape: &Shape) -> Result<Call, Unreadable> {
    const FIELD: &str = "pushNotificationConfig";
    let SetIn { task_id, push_notification_config, config, config_id } = read(params)?;
    let task = task_id.filter(|id| !id.0.is_empty());
    let task = task.ok_or_else(|| Invalid::new("taskId", "is required"))?;
    let wrapped = config.filter(|_| shape.part == PartStyle::Proto);
    let wrapped = wrapped.and_then(|Object(wrapped)| wrapped.push_notification_config);
    let config = push_notification_config.or(wrapped);
    let Object(mut config) = config.ok_or_else(|| Invalid::new(FIELD, "is required"))?;
    config.id = config.id.or(config_id.filter(|_| shape.part == PartStyle::Proto));
    Ok(Call::SetPush(task.0.into_owned(), Box::new(config.set(shape, FIELD)?)))
}

pub(super) fn get(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let WebhookIn { id, push_notification_config_id, .. } = read(params)?;
    let config = push_notification_config_id.filter(|id| !id.0.is_empty());
    Ok(Call::GetPush(task_id(id)?, config.map(|id| id.0.into_owned())))
}

/// Over JSON-RPC the whole list is shown.
pub(super) fn list(params: Option<&RawValue>, shape: &Shape) -> Result<Call, Unreadable> {
    let WebhookIn { id, page_size, page_token, .. } = read(params)?;
    let paged = shape.part == PartStyle::Proto;
    let (size, token) = (page_size.filter(|_| paged), page_token.filter(|_| paged));
    Call::list_push(task_id(id)?, size, token)
}

pub(super) fn delete(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let WebhookIn { id, push_notification_config_id, .. } = read(params)?;
    let task = task_id(id)?;
    let config = push_notification_config_id.filter(|id| !id.0.is_empty());
    let config = config.ok_or_else(|| Invalid::new("pushNotificationConfigId", "is required"))?;
    Ok(Call::DeletePush(task, config.0.into_owned()))
}
