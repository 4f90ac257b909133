//! What the executors that call a service have in common.

use super::secret::ValueConfig;
use crate::config::units::{Size, Span};
use a2ad_executor::{CallSettings, check_header};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Headers of requests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Headers(BTreeMap<String, ValueConfig>);

impl Headers {
    pub(super) fn check(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|(name, value)| {
            value.check(&format!("headers.{name}"))?;
            check_header(name, &value.value()).map_err(|problem| format!("headers: {problem}"))
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.keys().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// How a service is called with these headers.
    pub(super) fn call(
        &self,
        connect_timeout: Option<Span>,
        timeout: Option<Span>,
        retries: Option<u32>,
        max_output: Option<Size>,
    ) -> CallSettings {
        let default = CallSettings::default();
        let headers = self.0.iter().map(|(name, value)| (name.clone(), value.value()));
        CallSettings {
            headers: headers.collect(),
            connect_timeout: connect_timeout.map_or(default.connect_timeout, |span| span.0),
            timeout: timeout.map(|span| span.0).or(default.timeout),
            retries: retries.unwrap_or(default.retries),
            max_output: max_output.map_or(default.max_output, |size| size.0),
        }
    }
}
