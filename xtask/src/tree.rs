//! The files and packages of the project, read once; every check looks at this.

use crate::Result;
use crate::cargo::root;
use crate::packages::{self, Package};
use std::collections::BTreeMap;
use std::process::Command;

/// The project as the checks see it. Tests build one from text.
#[derive(Default)]
pub(crate) struct Tree {
    /// Path and content of every file; `None` where the content is no text.
    files: BTreeMap<String, Option<String>>,
    pub(crate) packages: Vec<Package>,
}

impl Tree {
    /// Reads the files that git knows or would take. A new file counts before it is added, so
    /// that a check does not pass on a desk and fail afterwards.
    pub(crate) fn read() -> Result<Tree> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root())
            .output()
            .map_err(|error| format!("cannot start git: {error}"))?;
        if !output.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
            // A deleted file stays in the index until the deletion is staged, and a link to a
            // folder is listed like a file: neither has a content to check.
            if let Ok(bytes) = std::fs::read(root().join(path)) {
                files.insert(path.to_owned(), String::from_utf8(bytes).ok());
            }
        }
        Ok(Tree { files, packages: packages::read()?.packages })
    }

    /// The files that are text, in the order of their paths.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The content of a text file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether there is a file or a folder of that path.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.contains_key(path)
            || path.is_empty()
            || self.files.range(folder.clone()..).next().is_some_and(|it| it.0.starts_with(&folder))
    }
}

#[cfg(test)]
impl Tree {
    /// A tree of text files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
        Tree { files: files.collect(), packages: Vec::new() }
    }

    /// The same tree with packages: name, and the names of the normal dependencies.
    pub(crate) fn with(mut self, packages: &[(&str, &[&str])]) -> Tree {
        use crate::packages::{Dependency, Kind};
        self.packages.extend(packages.iter().map(|(name, dependencies)| {
            Package {
                name: (*name).to_owned(),
                manifest: format!("{name}/Cargo.toml"),
                dependencies: dependencies
                    .iter()
                    .map(|it| Dependency {
                        name: (*it).into(),
                        kind: Kind::Normal,
                        optional: false,
                    })
                    .collect(),
            }
        }));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_contained_as_files_are() {
        let tree = Tree::of(&[("docs/adr/README.md", ""), ("docs-old/x", "")]);
        assert!(tree.contains("docs/adr/README.md") && tree.contains("docs/adr"));
        assert!(tree.contains("docs") && tree.contains(""));
        assert!(!tree.contains("doc") && !tree.contains("docs/adr/R"));
    }
}
