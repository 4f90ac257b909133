//! A webhook as one row.

use super::{Damaged, Text};
use a2ad_domain::{Confidential, PushAuthentication, PushConfig, PushConfigId, PushForm};
use serde::{Deserialize, Serialize};

/// A row of the table `webhook` without its task and how far it has been told.
pub(in crate::sqlite) struct WebhookRow {
    pub(in crate::sqlite) id: String,
    pub(in crate::sqlite) named: bool,
    pub(in crate::sqlite) form: String,
    pub(in crate::sqlite) body: String,
}

#[derive(Serialize, Deserialize)]
struct WebhookRecord<'a> {
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    token: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    authentication: Option<AuthenticationRecord<'a>>,
}

#[derive(Serialize, Deserialize)]
struct AuthenticationRecord<'a> {
    #[serde(borrow)]
    schemes: Vec<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    credentials: Option<Text<'a>>,
}

fn text(secret: Option<&Confidential>) -> Option<Text<'_>> {
    secret.map(|secret| Text::of(secret.reveal()))
}

pub(in crate::sqlite) fn write_webhook(config: &PushConfig) -> Result<WebhookRow, Damaged> {
    let authentication = config.authentication.as_ref().map(|known| AuthenticationRecord {
        schemes: known.schemes.iter().map(|scheme| Text::of(scheme)).collect(),
        credentials: text(known.credentials.as_ref()),
    });
    let url = Text::of(config.url.reveal());
    let record = WebhookRecord { url, token: text(config.token.as_ref()), authentication };
    Ok(WebhookRow {
        id: config.id.as_str().to_owned(),
        named: config.named,
        form: config.form.name().to_owned(),
        body: serde_json::to_string(&record)?,
    })
}

pub(in crate::sqlite) fn read_webhook(row: &WebhookRow) -> Result<PushConfig, Damaged> {
    let record: WebhookRecord<'_> = serde_json::from_str(&row.body)?;
    let secret = |text: Text<'_>| Confidential::new(text.shared());
    let form = PushForm::ALL.into_iter().find(|form| form.name() == row.form);
    let id = PushConfigId::new(row.id.as_str());
    Ok(PushConfig {
        id: id.map_err(|e| Damaged::because("a webhook without a valid id")(e.into()))?,
        named: row.named,
        url: secret(record.url),
        token: record.token.map(secret),
        authentication: record.authentication.map(|known| PushAuthentication {
            schemes: known.schemes.iter().map(Text::shared).collect(),
            credentials: known.credentials.map(secret),
        }),
        form: form.ok_or(Damaged::new("a webhook of no known form"))?,
    })
}
