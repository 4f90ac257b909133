//! Names of things: agents, tasks, contexts, messages, artifacts, and the scope that says who may see
//! a task. Client-made names are checked once, here, and then trusted.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use uuid::Uuid;

/// A name that does not fit its kind; the text says what a fitting one looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(pub &'static str);

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $check:expr, $rule:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and takes it as a name.
            ///
            /// # Errors
            /// [`InvalidName`] with the rule that `text` breaks.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidName> {
                let text = text.into();
                let check: fn(&str) -> bool = $check;
                if check(&text) { Ok(Self(text)) } else { Err(InvalidName($rule)) }
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// The longest context id that is accepted, in characters. Longer ones are refused, never cut, so that
/// two ids can never fall together.
pub const MAX_CONTEXT_CHARS: usize = 256;

name!(
    /// An agent's id, as it stands in its routes.
    AgentId,
    |s| {
        !s.is_empty()
            && s.len() <= 64
            && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
    },
    "must be 1 to 64 of a-z, 0-9, '-' and '_'"
);
name!(
    /// A conversation: tasks that share it belong together (specification 1.0 §3.4.1).
    ContextId,
    |s| !s.is_empty() && (s.len() <= MAX_CONTEXT_CHARS || s.chars().count() <= MAX_CONTEXT_CHARS),
    "must be 1 to 256 characters"
);
name!(
    /// A message's id, made by its sender.
    MessageId,
    |s| !s.is_empty(),
    "must not be empty"
);
name!(
    /// An artifact's id, unique in its task.
    ArtifactId,
    |s| !s.is_empty(),
    "must not be empty"
);
name!(
    /// An opaque routing name of the 1.0 line (specification 1.0 §8.3.2).
    Tenant,
    |s| !s.is_empty() && s.len() <= 256,
    "must be 1 to 256 bytes"
);
name!(
    /// The caller that a task belongs to.
    Owner,
    |s| !s.is_empty() && s.len() <= 1024,
    "must be 1 to 1024 bytes"
);

name!(
    /// A webhook's id within its task (specification 1.0 §4.3.1).
    PushConfigId,
    |s| !s.is_empty() && s.len() <= 256,
    "must be 1 to 256 bytes"
);

impl Owner {
    /// The owner of everything where callers do not say who they are.
    #[must_use]
    pub fn anonymous() -> Self {
        Self(Arc::from("anonymous"))
    }

    /// The owner of everything at an agent whose callers share their tasks.
    #[must_use]
    pub fn shared() -> Self {
        Self(Arc::from("shared"))
    }
}

/// A task's id: always made by the server (specification 1.0 §3.4.2), hence always a UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(Uuid);

impl TaskId {
    /// The least id: in the order of a list it comes after all others of the same time.
    pub const MIN: TaskId = TaskId(Uuid::nil());

    /// Takes a generated id.
    #[must_use]
    pub const fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The id of this number.
    #[must_use]
    pub const fn from_u128(id: u128) -> Self {
        Self(Uuid::from_u128(id))
    }

    /// Reads what a client sent. Only the exact text that the server once handed out names a task, so
    /// other spellings of the same number are unknown ids.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = Uuid::try_parse(text).ok()?;
        let mut buffer = Uuid::encode_buffer();
        (id.hyphenated().encode_lower(&mut buffer) == text).then_some(Self(id))
    }

    /// The id as the text that clients know it by, in ASCII.
    #[must_use]
    pub fn to_ascii(&self) -> [u8; 36] {
        let mut text = [0; 36];
        self.0.hyphenated().encode_lower(&mut text);
        text
    }

    /// The id as a number.
    #[must_use]
    pub const fn as_uuid(&self) -> &Uuid {
        &self.0
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How many changes a task has seen; also the id of its newest change. A task just opened is at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u64);

impl Version {
    /// The version of a task that was just opened.
    pub const FIRST: Version = Version(1);

    /// The version after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Who may see a task. Part of every key: outside it a task cannot be told from an unknown one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(Arc<ScopeParts>);

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ScopeParts {
    agent: AgentId,
    tenant: Option<Tenant>,
    owner: Owner,
}

impl Scope {
    /// The scope of one owner at one agent.
    #[must_use]
    pub fn new(agent: AgentId, tenant: Option<Tenant>, owner: Owner) -> Self {
        Self(Arc::new(ScopeParts { agent, tenant, owner }))
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &AgentId {
        &self.0.agent
    }

    /// The tenant, where the 1.0 line names one.
    #[must_use]
    pub fn tenant(&self) -> Option<&Tenant> {
        self.0.tenant.as_ref()
    }

    /// The owner.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenant = self.tenant().map_or("", Tenant::as_str);
        write!(f, "{}/{}/{}", self.agent(), tenant, self.owner())
    }
}

/// The full name of a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskKey {
    /// Who may see it.
    pub scope: Scope,
    /// Its id.
    pub id: TaskId,
}

/// Ids are unique, so they alone spread keys well; the scope counts when keys are compared.
impl Hash for TaskKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl Hash for TaskId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.as_u64_pair().1);
    }
}

/// A map by task, or by task id. Ids are random and made by the server, so nobody can choose them to
/// fall together, and their bits are their hash.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Takes an id's bits as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, bits: u64) {
        // The high bits of this half say the variant; the low ones are random, and a map wants both.
        self.0 = bits.rotate_left(26) ^ bits;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_that_was_handed_out_names_a_task() {
        let text = "3b9f6f0e-0000-4000-8000-00000000000a";
        assert_eq!(TaskId::parse(text).map(|id| id.to_string()).as_deref(), Some(text));
        for other in [
            "3B9F6F0E-0000-4000-8000-00000000000A",
            "3b9f6f0e0000400080000000000000 0a",
            "{3b9f6f0e-0000-4000-8000-00000000000a}",
            "urn:uuid:3b9f6f0e-0000-4000-8000-00000000000a",
            "task-77",
            "",
        ] {
            assert_eq!(TaskId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_context_id_is_refused_when_too_long_and_never_cut() {
        assert!(ContextId::new("é".repeat(256)).is_ok());
        assert!(ContextId::new("é".repeat(257)).is_err());
        assert!(ContextId::new("").is_err());
    }

    #[test]
    fn an_agent_id_fits_into_a_route() {
        assert!(AgentId::new("echo-2_b").is_ok());
        for bad in ["", "Echo", "a/b", "a b", "ü"] {
            assert!(AgentId::new(bad).is_err(), "{bad}");
        }
    }
}
