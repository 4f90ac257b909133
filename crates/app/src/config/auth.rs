//! How callers show who they are.

use super::MethodConfig;
use serde::Deserialize;
use std::path::PathBuf;

/// How callers show who they are. What is described here is asked for by every agent that does not say
/// otherwise, so that nobody believes an agent guarded that is not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthConfig {
    /// The file of keys.
    pub keys: Option<PathBuf>,
}

impl AuthConfig {
    /// The methods that are described.
    pub(crate) fn methods(&self) -> Vec<MethodConfig> {
        self.keys.iter().map(|_| MethodConfig::Key).collect()
    }

    /// Whether all of these methods are described.
    pub(super) fn has_all(&self, methods: &[MethodConfig]) -> Result<(), String> {
        let described = self.methods();
        if (1..methods.len()).any(|index| methods[..index].contains(&methods[index])) {
            return Err("names something twice; remove one of them".to_owned());
        }
        match methods.iter().find(|method| !described.contains(method)) {
            None => Ok(()),
            Some(MethodConfig::Key) => {
                Err("\"key\" needs a file of keys: set auth.keys to its path".to_owned())
            }
        }
    }

    /// A file that is not there.
    pub(super) fn missing(&self) -> Option<String> {
        let keys = self.keys.as_ref().filter(|path| !path.exists())?;
        let remedy = "make the first key with a2ad key create";
        Some(format!("the file of keys {} does not exist; {remedy}", keys.display()))
    }
}
