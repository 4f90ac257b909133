//! Webhooks: whether one may be called, and the four calls about them.

use super::Exchange;
use crate::dialect::push::{at, schemes_of};
use crate::dialect::{Answer, MAX_WEBHOOKS};
use crate::webhook::HeaderText;
use a2ad_domain::service::SetPush;
use a2ad_domain::{Error, Scope};

/// Refuses a webhook that must not be called, before anything is kept of it. It is checked again whenever
/// it is called.
pub(super) async fn admit(exchange: &Exchange<'_>, set: &SetPush) -> Result<(), Error> {
    let unsupported = || Error::PushNotificationNotSupported;
    let client = exchange.shared.settings.webhooks.as_ref().ok_or_else(unsupported)?;
    let refused = |name: &str, problem: &dyn std::fmt::Display| {
        Error::invalid(at(set.field, name), problem.to_string())
    };
    if let Some(token) = &set.token {
        HeaderText::token(token.reveal()).map_err(|problem| refused("token", &problem))?;
    }
    if let Some(authentication) = &set.authentication {
        for scheme in &authentication.schemes {
            let name = schemes_of(set.form);
            HeaderText::authorization(scheme, None).map_err(|problem| refused(name, &problem))?;
        }
        if let (Some(scheme), Some(credentials)) =
            (authentication.schemes.first(), &authentication.credentials)
        {
            let made = HeaderText::authorization(scheme, Some(credentials.reveal()));
            made.map_err(|problem| refused("authentication.credentials", &problem))?;
        }
    }
    let admitted = client.admit(set.url.reveal()).await;
    admitted.map(|_| ()).map_err(|problem| refused("url", &problem))
}

/// Keeps a webhook and tells it back.
pub(super) async fn set(
    exchange: &Exchange<'_>,
    scope: &Scope,
    task: &str,
    set: SetPush,
) -> Result<Vec<u8>, Error> {
    admit(exchange, &set).await?;
    let webhook = exchange.shared.service.set_push(scope, task, set).await?;
    Ok(exchange.result(&Answer::Webhook(task, &webhook)))
}

pub(super) async fn get(
    exchange: &Exchange<'_>,
    scope: &Scope,
    task: &str,
    config: Option<&str>,
) -> Result<Vec<u8>, Error> {
    let webhook = exchange.shared.service.push(scope, task, config).await?;
    Ok(exchange.result(&Answer::Webhook(task, &webhook)))
}

/// A page of the webhooks of a task. A token names the webhook that the page before has ended with by its
/// number, which holds nothing of the webhook and stays good when it is deleted.
pub(super) async fn list(
    exchange: &Exchange<'_>,
    scope: &Scope,
    task: &str,
    size: Option<usize>,
    token: Option<&str>,
) -> Result<Vec<u8>, Error> {
    let after = match token.map(|token| i64::from_str_radix(token, 16)) {
        None => i64::MIN,
        Some(Ok(number)) => number,
        Some(Err(_)) => return Err(Error::invalid("pageToken", "is no token of this list")),
    };
    let mut page = exchange.shared.service.pushes(scope, task).await?;
    page.retain(|webhook| webhook.number > after);
    let size = size.unwrap_or(MAX_WEBHOOKS);
    let more = page.len() > size;
    page.truncate(size);
    let last = page.last().filter(|_| more).map(|webhook| format!("{:x}", webhook.number));
    Ok(exchange.result(&Answer::Webhooks { task, page: &page, token: last.as_deref() }))
}

pub(super) async fn delete(
    exchange: &Exchange<'_>,
    scope: &Scope,
    task: &str,
    config: &str,
) -> Result<Vec<u8>, Error> {
    exchange.shared.service.delete_push(scope, task, config).await?;
    Ok(exchange.result(&Answer::Nothing))
}
