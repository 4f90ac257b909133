//! What cards are signed with.

use a2ad_http::{CardKey, CardSigner};
use serde::Deserialize;
use std::path::PathBuf;

/// What cards are signed with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CardsConfig {
    /// The files of the private keys; cards carry a signature of each.
    pub keys: Vec<PathBuf>,
}

impl CardsConfig {
    /// The signer, or what is wrong with a file.
    pub(crate) fn signer(&self) -> Result<CardSigner, String> {
        let mut keys: Vec<CardKey> = Vec::new();
        for path in &self.keys {
            let key = CardKey::read(path).map_err(|error| error.to_string())?;
            if keys.iter().any(|known| known.id() == key.id()) {
                return Err(format!("{} holds a key that is named already", path.display()));
            }
            keys.push(key);
        }
        Ok(CardSigner::new(keys))
    }

    /// A file that is not there or makes no sense.
    pub(super) fn missing(&self) -> Option<String> {
        self.signer().err()
    }
}
