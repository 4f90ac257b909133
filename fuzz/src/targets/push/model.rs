//! What there must be: tasks and their webhooks, by the calls that were answered.

use super::calls::{Wanted, Way, Who};
use a2ad_domain::PushForm;
use serde_json::Value;

/// From one moment of the receiver to another.
pub(super) type During = (usize, usize);

/// A task, its webhooks in the order in which they were made, and those that were deleted.
pub(super) struct Task {
    pub(super) who: Who,
    pub(super) id: String,
    pub(super) hooks: Vec<Hook>,
    pub(super) gone: Vec<Hook>,
}

/// A webhook, with what it was before it was replaced.
pub(super) struct Hook {
    pub(super) name: String,
    pub(super) lives: Vec<Life>,
}

/// What a webhook is until it is replaced or deleted.
pub(super) struct Life {
    pub(super) wanted: Wanted,
    pub(super) form: PushForm,
    /// The version of its task when it was set, as near as it is known.
    pub(super) version: (u64, u64),
    pub(super) begin: During,
    pub(super) end: Option<During>,
}

impl Life {
    pub(super) fn new(wanted: Wanted, form: PushForm, version: (u64, u64), begin: During) -> Self {
        Self { wanted, form, version, begin, end: None }
    }
}

impl Hook {
    /// What it is now.
    pub(super) fn life(&self) -> &Life {
        self.lives.last().expect("a webhook that was set")
    }
}

impl Task {
    pub(super) fn new(who: Who, id: &str) -> Self {
        Self { who, id: id.to_owned(), hooks: Vec::new(), gone: Vec::new() }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Hook> {
        self.hooks.iter().find(|hook| hook.name == name)
    }

    /// The webhook that is read by a name, or without one.
    pub(super) fn named(&self, name: Option<&str>) -> Option<&Hook> {
        let Some(name) = name else { return self.hooks.first() };
        let is_common = name == "default" || name == self.id;
        let unnamed = || self.hooks.iter().find(|hook| hook.life().wanted.id.is_none());
        self.find(name).or_else(|| if is_common { unnamed() } else { None })
    }

    /// One that is set again comes last.
    pub(super) fn set(&mut self, name: String, life: Life) {
        let known = self.hooks.iter().position(|hook| hook.name == name);
        let mut hook = match known {
            Some(place) => self.hooks.remove(place),
            None => Hook { name, lives: Vec::new() },
        };
        if let Some(before) = hook.lives.last_mut() {
            before.end = Some(life.begin);
        }
        hook.lives.push(life);
        self.hooks.push(hook);
    }

    pub(super) fn delete(&mut self, name: &str, end: During) {
        let Some(place) = self.hooks.iter().position(|hook| hook.name == name) else { return };
        let mut hook = self.hooks.remove(place);
        if let Some(life) = hook.lives.last_mut() {
            life.end = Some(end);
        }
        self.gone.push(hook);
    }

    /// Its webhooks as they are told back.
    pub(super) fn told(&self, way: Way) -> Vec<Value> {
        let told = |hook: &Hook| way.told(&self.id, &hook.name, &hook.life().wanted);
        self.hooks.iter().map(told).collect()
    }
}

/// Whether there is nothing about a webhook that could be wrong.
pub(super) fn is_plain(wanted: &Wanted) -> bool {
    let plain = |text: &str| text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric());
    let path = wanted.url.strip_prefix("https://r.example/");
    let both = wanted.scheme.is_some() == wanted.credentials.is_some();
    let others = [&wanted.token, &wanted.scheme, &wanted.credentials];
    path.is_some_and(plain)
        && wanted.id.as_ref().is_none_or(|id| id.len() <= 256)
        && both
        && others.into_iter().flatten().all(|text| plain(text))
}
