//! The packages of the workspace and what they depend on, as cargo sees them.

use crate::Result;
use crate::cargo::{cargo, root};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What `cargo metadata` says of the workspace.
pub(crate) struct Workspace {
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The path of its manifest, relative to the workspace.
    pub(crate) manifest: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A line of a dependency table.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) optional: bool,
}

/// The table in which a dependency stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Linked into what the package ships; build scripts count as much.
    Normal,
    /// For tests only.
    Dev,
}

/// Asks cargo. `--no-deps` reads the manifests only, so it neither resolves nor downloads.
pub(crate) fn read() -> Result<Workspace> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    parse(&output.stdout, &root())
}

fn parse(json: &[u8], root: &Path) -> Result<Workspace> {
    let metadata: Value = serde_json::from_slice(json)?;
    let target = text(&metadata, "target_directory")?.into();
    let mut packages = Vec::new();
    for package in list(&metadata, "packages")? {
        packages.push(Package {
            name: text(package, "name")?.to_owned(),
            manifest: relative(text(package, "manifest_path")?, root),
            dependencies: list(package, "dependencies")?
                .iter()
                .map(dependency)
                .collect::<Result<_>>()?,
        });
    }
    Ok(Workspace { target, packages })
}

fn dependency(value: &Value) -> Result<Dependency> {
    let kind = match value["kind"].as_str() {
        Some("dev") => Kind::Dev,
        Some(_) | None => Kind::Normal,
    };
    let optional = value["optional"].as_bool().unwrap_or(false);
    Ok(Dependency { name: text(value, "name")?.to_owned(), kind, optional })
}

fn relative(path: &str, root: &Path) -> String {
    let path = Path::new(path);
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().ok_or_else(|| format!("cargo metadata has no text `{key}`").into())
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().ok_or_else(|| format!("cargo metadata has no list `{key}`").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{"target_directory": "/w/target", "packages": [{
        "name": "one", "manifest_path": "/w/crates/one/Cargo.toml", "dependencies": [
            {"name": "serde", "kind": null, "optional": false},
            {"name": "tokio", "kind": null, "optional": true},
            {"name": "proptest", "kind": "dev", "optional": false},
            {"name": "cc", "kind": "build", "optional": false}]}]}"#;

    #[test]
    fn metadata_becomes_packages() {
        let workspace = parse(METADATA.as_bytes(), Path::new("/w")).unwrap();
        assert_eq!(workspace.target, Path::new("/w/target"));
        let one = &workspace.packages[0];
        assert_eq!((one.name.as_str(), one.manifest.as_str()), ("one", "crates/one/Cargo.toml"));
        let kinds: Vec<_> = one.dependencies.iter().map(|it| (it.kind, it.optional)).collect();
        let normal = (Kind::Normal, false);
        assert_eq!(kinds, [normal, (Kind::Normal, true), (Kind::Dev, false), normal]);
    }

    #[test]
    fn metadata_of_another_shape_is_an_error() {
        let error = parse(br#"{"target_directory": "/w/target"}"#, Path::new("/w")).err().unwrap();
        assert_eq!(error.to_string(), "cargo metadata has no list `packages`");
    }
}
