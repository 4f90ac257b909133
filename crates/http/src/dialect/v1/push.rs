//! Reads the parameters of 1.0 calls about webhooks (specification 1.0 §3.1.7 to §3.1.10).

use super::decode::no_tenant;
use super::number::Int;
use crate::dialect::input::read;
use crate::dialect::push::{Given, GivenAuthentication};
use crate::dialect::text::{Borrowed, Object, Shared};
use crate::dialect::{Call, Invalid, Unreadable};
use a2ad_domain::PushForm;
use a2ad_domain::service::SetPush;
use serde_json::value::RawValue;

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigIn<'a> {
    #[serde(borrow)]
    tenant: Option<Borrowed<'a>>,
    #[serde(borrow, alias = "task_id")]
    task_id: Option<Borrowed<'a>>,
    id: Option<Shared>,
    url: Option<Shared>,
    token: Option<Shared>,
    authentication: Option<Object<AuthenticationIn>>,
}

#[derive(serde::Deserialize)]
struct AuthenticationIn {
    scheme: Option<Shared>,
    credentials: Option<Shared>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebhookIn<'a> {
    #[serde(borrow)]
    tenant: Option<Borrowed<'a>>,
    #[serde(borrow, alias = "task_id")]
    task_id: Option<Borrowed<'a>>,
    #[serde(borrow)]
    id: Option<Borrowed<'a>>,
    #[serde(alias = "page_size")]
    page_size: Option<Int>,
    #[serde(borrow, alias = "page_token")]
    page_token: Option<Borrowed<'a>>,
}

impl ConfigIn<'_> {
    fn set(self, field: &'static str) -> Result<SetPush, Invalid> {
        let Self { id, url, token, authentication, .. } = self;
        let authentication = authentication.map(|Object(given)| GivenAuthentication {
            schemes: given.scheme.filter(|scheme| !scheme.0.is_empty()).into_iter().collect(),
            credentials: given.credentials,
        });
        Given { id, url, token, authentication }.set(PushForm::Line1, field)
    }
}

/// The webhook that a message brings along. Which task it is for is known without it.
pub(super) fn inline(given: &RawValue) -> Result<SetPush, Unreadable> {
    const FIELD: &str = "configuration.taskPushNotificationConfig";
    let config: ConfigIn<'_> = read(Some(given)).map_err(|error| error.within(FIELD))?;
    config.set(FIELD).map_err(Unreadable::Push)
}

pub(super) fn set(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let config: ConfigIn<'_> = read(params)?;
    let task = task(config.task_id.as_ref(), config.tenant.as_ref())?;
    Ok(Call::SetPush(task, Box::new(config.set("")?)))
}

pub(super) fn get(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let given: WebhookIn<'_> = read(params)?;
    let task = task(given.task_id.as_ref(), given.tenant.as_ref())?;
    Ok(Call::GetPush(task, Some(config(given.id)?)))
}

pub(super) fn list(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let given: WebhookIn<'_> = read(params)?;
    let task = task(given.task_id.as_ref(), given.tenant.as_ref())?;
    // A page of no size is the form that protocol buffers have for one that is not given.
    let size = given.page_size.map(|size| size.0).filter(|size| *size != 0);
    Call::list_push(task, size, given.page_token)
}

pub(super) fn delete(params: Option<&RawValue>) -> Result<Call, Unreadable> {
    let given: WebhookIn<'_> = read(params)?;
    let task = task(given.task_id.as_ref(), given.tenant.as_ref())?;
    Ok(Call::DeletePush(task, config(given.id)?))
}

/// The task that a call is about.
fn task(id: Option<&Borrowed<'_>>, tenant: Option<&Borrowed<'_>>) -> Result<String, Unreadable> {
    let id = id.filter(|id| !id.0.is_empty());
    let id = id.ok_or_else(|| Invalid::new("taskId", "is required"))?.0.to_string();
    match no_tenant(tenant) {
        Ok(()) => Ok(id),
        Err(_) => Err(Unreadable::NoSuchTask(id)),
    }
}

fn config(id: Option<Borrowed<'_>>) -> Result<String, Invalid> {
    let id = id.filter(|id| !id.0.is_empty()).ok_or_else(|| Invalid::new("id", "is required"))?;
    Ok(id.0.into_owned())
}
