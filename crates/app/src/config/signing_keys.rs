//! The files of the keys that the server signs with.

use a2ad_http::SigningKey;
use std::path::PathBuf;

/// The keys in these files in their order, or what is wrong with one.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<SigningKey>, String> {
    let mut keys: Vec<SigningKey> = Vec::new();
    for path in paths {
        let key = SigningKey::read(path).map_err(|error| error.to_string())?;
        if keys.iter().any(|known| known.id() == key.id()) {
            return Err(format!(
                "{} holds a key that is named already; take one of the two out",
                path.display()
            ));
        }
        keys.push(key);
    }
    Ok(keys)
}
