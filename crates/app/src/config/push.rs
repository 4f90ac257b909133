//! Push notifications: whether there are any, where they may go, and how long they are tried.

use super::executor::SecretConfig;
use super::signing_keys;
use super::units::Span;
use a2ad_domain::service::{Limits, Patience};
use a2ad_http::SigningKey;
use a2ad_http::webhook::Rules;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// Push notifications.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PushConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// For development: any address, name, port and scheme.
    pub allow_private: bool,
    /// Plain HTTP, and its port 80.
    pub allow_http: bool,
    /// The ports that may be called.
    pub ports: Vec<u16>,
    /// How long a delivery may take.
    pub timeout: Span,
    /// The pause after the first attempt.
    pub pause: Span,
    /// The longest pause between attempts.
    pub longest_pause: Span,
    /// How old a change may get before it is given up.
    pub give_up: Span,
    /// How many webhooks a task may have.
    pub max_per_task: usize,
    /// How many deliveries are under way at once.
    pub max_deliveries: usize,
    /// How many of them go to one host.
    pub max_per_host: usize,
    /// The files of the private keys: deliveries are signed with the first, and all are published.
    pub keys: Vec<PathBuf>,
    /// The secret that deliveries are signed with.
    pub secret: Option<SecretConfig>,
}

impl Default for PushConfig {
    fn default() -> Self {
        let Rules { allow_private, allow_http, ports, timeout } = Rules::default();
        let Patience { first_pause, longest_pause, give_up } = Patience::default();
        Self {
            enabled: true,
            allow_private,
            allow_http,
            ports,
            timeout: Span(timeout),
            pause: Span(first_pause),
            longest_pause: Span(longest_pause),
            give_up: Span(give_up),
            max_per_task: Limits::default().webhooks,
            max_deliveries: 64,
            max_per_host: 4,
            keys: Vec::new(),
            secret: None,
        }
    }
}

impl PushConfig {
    /// What makes no sense: the key and what is wrong.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, value) in [
            ("max_per_task", self.max_per_task),
            ("max_deliveries", self.max_deliveries),
            ("max_per_host", self.max_per_host),
        ] {
            if value == 0 {
                return Err((key, "must be at least 1".to_owned()));
            }
        }
        for (key, value) in [
            ("timeout", self.timeout),
            ("pause", self.pause),
            ("longest_pause", self.longest_pause),
        ] {
            if value.0.is_zero() {
                return Err((key, "must be longer than 0s".to_owned()));
            }
        }
        let secret = self.secret.as_ref().map_or(Ok(()), |secret| secret.check("secret"));
        secret.map_err(|problem| ("secret", problem))
    }

    /// What is missing on this machine: the key and what is wrong.
    pub(super) fn missing(&self) -> Vec<(&'static str, String)> {
        if !self.enabled {
            return Vec::new();
        }
        let secret = self.signs_with().err().map(|problem| ("secret", problem));
        let keys = self.signing_keys().err().map(|problem| ("keys", problem));
        secret.into_iter().chain(keys).collect()
    }

    pub(crate) fn rules(&self) -> Rules {
        let Self { allow_private, allow_http, ports, timeout, .. } = self.clone();
        Rules { allow_private, allow_http, ports, timeout: timeout.0 }
    }

    /// How long webhooks are tried, where tasks are kept for `retention`: a webhook of a task that is gone
    /// cannot be told of it.
    pub(crate) fn patience(&self, retention: Duration) -> Patience {
        Patience {
            first_pause: self.pause.0,
            longest_pause: self.longest_pause.0.max(self.pause.0),
            give_up: self.give_up.0.min(retention),
        }
    }

    /// The keys, or what is wrong with a file.
    pub(crate) fn signing_keys(&self) -> Result<Vec<SigningKey>, String> {
        signing_keys::read(&self.keys)
    }

    /// The secret as it is now.
    pub(crate) fn signs_with(&self) -> Result<Option<String>, String> {
        let read = |secret: &SecretConfig| secret.secret().read();
        self.secret.as_ref().map(read).transpose().map_err(|error| error.to_string())
    }
}
