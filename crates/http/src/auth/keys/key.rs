//! A key as its caller holds it: `a2ad_`, its id, and 256 random bits.

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
    pub(super) fn random() -> std::io::Result<Self> {
        let (id, secret) = (random::<6>()?, random::<32>()?);
        let text = format!("{PREFIX}{id}_{secret}");
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

/// Random bytes in hexadecimal: a double click selects all of them.
fn random<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| std::io::Error::other("the system has no random numbers"))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
