//! Where installed SDKs are kept: outside the tree, so that a fresh checkout finds them too.

use super::sdk::Sdk;
use crate::Result;
use crate::cargo::CACHE;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Written last, so that an installation that was broken off does not count.
const STAMP: &str = "installed-from";

/// The folder of the caches, as the environment has it.
pub(super) fn folder() -> Result<PathBuf> {
    let found = choose(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    found.ok_or_else(|| format!("set {CACHE}, because there is no HOME to keep SDKs in").into())
}

fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(folder) = variable(CACHE) {
        return Some(folder.into());
    }
    let caches = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let caches = caches.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?;
    Some(caches.join("a2ad"))
}

/// The place of one SDK in one version.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// The content of the files that pin it.
    pins: String,
}

impl Place {
    pub(super) fn of(sdk: Sdk, caches: &Path) -> Result<Place> {
        let folder = caches.join("interop").join(format!("{}-{}", sdk.key(), sdk.version()?));
        let mut pins = String::new();
        for pin in sdk.pins() {
            pins.push_str(&fs::read_to_string(pin)?);
        }
        Ok(Place { folder, pins })
    }

    /// Whether exactly what is pinned is there.
    pub(super) fn is_filled(&self) -> bool {
        fs::read_to_string(self.folder.join(STAMP)).is_ok_and(|stamp| stamp == self.pins)
    }

    /// Makes the folder anew.
    pub(super) fn clear(&self) -> Result {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        Ok(fs::create_dir_all(&self.folder)?)
    }

    /// Says that everything is there.
    pub(super) fn fill(&self) -> Result {
        Ok(fs::write(self.folder.join(STAMP), &self.pins)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(|name| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some(value.into())
        })
    }

    #[test]
    fn the_most_special_variable_decides() {
        let mut variables = vec![("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), (CACHE, "/a")];
        assert_eq!(chosen(&variables).unwrap(), Path::new("/a"));
        variables.pop();
        assert_eq!(chosen(&variables).unwrap(), Path::new("/x/a2ad"));
        variables.pop();
        assert_eq!(chosen(&variables).unwrap(), Path::new("/h/.cache/a2ad"));
        assert_eq!(chosen(&[]), None);
    }
}
