//! What cards are signed with.

use super::signing_keys;
use a2ad_http::CardSigner;
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
        signing_keys::read(&self.keys).map(CardSigner::new)
    }

    /// A file that is not there or makes no sense.
    pub(super) fn missing(&self) -> Option<String> {
        self.signer().err()
    }
}
