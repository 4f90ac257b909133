//! A key as its caller holds it: `a2ad_`, its id, and 256 random bits.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt::Write;

/// Begins every key, so that tools that look for secrets in the wrong places recognize one.
const PREFIX: &str = "a2ad_";

/// A new key. It cannot be printed by accident.
pub struct Key {
    id: String,
    text: String,
}

impl Key {
    /// A key that nobody has.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let random = SystemRandom::new();
        let (mut id, mut secret) = ([0; 6], [0; 32]);
        let filled = random.fill(&mut id).and_then(|()| random.fill(&mut secret));
        filled.map_err(|_| std::io::Error::other("the system has no random numbers"))?;
        let id = id.iter().fold(String::new(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        });
        let text = format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret));
        Ok(Self { id, text })
    }

    /// What it is called in lists.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key itself, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The id in something that looks like a key.
    pub(super) fn id_in(text: &str) -> Option<&str> {
        text.strip_prefix(PREFIX)?.split_once('_').map(|(id, _)| id)
    }
}
