//! What a webhook is sent, for receivers that are no further away than a function.

use crate::webhook::Sender;
use a2ad_domain::PushConfig;
use a2ad_domain::ports::Notice;
use axum::http::HeaderMap;

/// The headers and the body of a notification. A webhook that was taken can be sent to.
#[must_use]
pub fn notification(sender: &Sender, config: &PushConfig, notice: &Notice) -> (HeaderMap, Vec<u8>) {
    let written = sender.written(config, notice);
    let (_, headers, body) = written.expect("the headers of a webhook that was taken can be sent");
    (headers, body)
}
