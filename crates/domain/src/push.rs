//! Webhooks: where a client wants to be told of a task's changes, and what it takes to be let in there.

use crate::ids::{PushConfigId, TaskKey, Version};
use std::fmt;
use std::sync::Arc;

/// What a client has entrusted to the server. It is handed to the webhook that it is for and to its owner,
/// and is never shown in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Confidential(Arc<str>);

impl Confidential {
    /// Takes something that is nobody else's business.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// What it is.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(confidential)")
    }
}

/// How the server shows a webhook who it is (specification 1.0 §4.3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushAuthentication {
    /// The schemes that the webhook takes; the first one is used. There is at least one.
    pub schemes: Box<[Arc<str>]>,
    /// What the scheme needs.
    pub credentials: Option<Confidential>,
}

/// In which shape a webhook is told, after the line that it was registered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushForm {
    /// 0.3: the task, whenever its status is written.
    Line03,
    /// The same with the spellings of PraisonAI's clients.
    Praison,
    /// 1.0: every change that a stream shows.
    Line1,
}

impl PushForm {
    /// Every form.
    pub const ALL: [PushForm; 3] = [PushForm::Line03, PushForm::Praison, PushForm::Line1];

    /// The name that it is kept under.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line03 => "0.3",
            Self::Praison => "0.3-praison",
            Self::Line1 => "1.0",
        }
    }

    /// Whether a webhook is told of artifacts as they are written; otherwise it sees them with the status.
    #[must_use]
    pub const fn tells_artifacts(self) -> bool {
        match self {
            Self::Line1 => true,
            Self::Line03 | Self::Praison => false,
        }
    }
}

/// A webhook of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushConfig {
    /// Its id within the task.
    pub id: PushConfigId,
    /// Whether the client has chosen the id.
    pub named: bool,
    /// Where it is. The path may hold a secret.
    pub url: Confidential,
    /// What it knows its notifications by.
    pub token: Option<Confidential>,
    /// How the server shows it who it is.
    pub authentication: Option<PushAuthentication>,
    /// In which shape it is told.
    pub form: PushForm,
}

/// Which webhook, for those who tell it. Nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebhookName {
    /// Its task.
    pub task: TaskKey,
    /// Its number, which no other webhook of the store ever has: a webhook that takes another's id has a
    /// number of its own, so that what was on its way for the other changes nothing for this one.
    pub number: i64,
}

/// A webhook as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its number.
    pub number: i64,
    /// What its client wants.
    pub config: PushConfig,
    /// It has been told of every change up to this one, or somebody has given up on it.
    pub told: Version,
    /// Changes that were given up and are to be told after all, oldest first.
    pub again: Vec<Version>,
}
