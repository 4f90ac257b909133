//! API keys: a file that holds what is needed to recognize a key, and never a key.

mod file;
mod key;
mod record;

use super::watched::Watched;
use super::{Caller, Method, Scheme};
use async_trait::async_trait;
use std::path::PathBuf;

pub use file::KeyFile;
pub use key::Key;
pub(crate) use record::Digest;
pub use record::KeyRecord;

/// Knows callers by their keys, as the file is at the time of each request.
pub struct Keys(Watched<Vec<KeyRecord>>);

impl Keys {
    /// Keys in the file at `path`. It need not be there yet: then nobody has a key.
    ///
    /// # Errors
    /// When there is a file and it makes no sense.
    pub fn open(path: PathBuf) -> std::io::Result<Self> {
        match KeyFile::new(&path).records() {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Self(Watched::new(path, record::read)))
    }
}

#[async_trait]
impl Method for Keys {
    fn scheme(&self) -> Scheme {
        Scheme::Key
    }

    /// The record is looked up by the id in the key, which is no secret, and then the digests are compared
    /// in constant time. So the time tells nothing about a digest; and even a digest that is known leads to
    /// no key, since there are 2 to the power of 256 of them to try.
    async fn caller(&self, credential: &str) -> Option<Caller> {
        let id = Key::id_in(credential)?;
        let shown = Digest::of(credential);
        let records = self.0.now()?;
        let record = records.iter().find(|record| record.id == id)?;
        if record.digest != shown || record.revoked.is_some() {
            return None;
        }
        record.caller()
    }
}
