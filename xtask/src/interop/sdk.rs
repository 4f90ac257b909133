//! The SDKs and what each of them is run with.

use crate::Result;
use crate::cargo::root;
use serde_json::Value;
use std::fmt;
use std::fs;
use std::path::PathBuf;

/// What runs a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Node,
}

/// A published SDK: which package it is in which language, and the line it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sdk {
    pub(super) language: Language,
    pub(super) package: &'static str,
    /// Part of the names of its files: `v03` or `v1`.
    pub(super) line: &'static str,
}

const PYTHON_03: Sdk = Sdk { language: Language::Python, package: "a2a-sdk", line: "v03" };
const PYTHON_1: Sdk = Sdk { language: Language::Python, package: "a2a-sdk", line: "v1" };
const NODE_03: Sdk = Sdk { language: Language::Node, package: "@a2a-js/sdk", line: "v03" };
const NODE_1: Sdk = Sdk { language: Language::Node, package: "@a2a-js/sdk", line: "v1" };

pub(super) const SDKS: [Sdk; 4] = [PYTHON_03, PYTHON_1, NODE_03, NODE_1];

/// One run of a client.
pub(super) struct Row {
    pub(super) sdk: Sdk,
    pub(super) binding: &'static str,
    /// The version of the protocol.
    pub(super) version: &'static str,
}

const fn row(sdk: Sdk, binding: &'static str, version: &'static str) -> Row {
    Row { sdk, binding, version }
}

/// Every SDK with every binding and version that it and the server have in common. Those of the
/// 1.0 line speak 0.3 too, by code of their own.
pub(super) const ROWS: [Row; 12] = [
    row(PYTHON_03, "JSONRPC", "0.3"),
    row(PYTHON_03, "HTTP+JSON", "0.3"),
    row(PYTHON_1, "JSONRPC", "1.0"),
    row(PYTHON_1, "HTTP+JSON", "1.0"),
    row(PYTHON_1, "JSONRPC", "0.3"),
    row(PYTHON_1, "HTTP+JSON", "0.3"),
    row(NODE_03, "JSONRPC", "0.3"),
    row(NODE_03, "HTTP+JSON", "0.3"),
    row(NODE_1, "JSONRPC", "1.0"),
    row(NODE_1, "HTTP+JSON", "1.0"),
    row(NODE_1, "JSONRPC", "0.3"),
    row(NODE_1, "HTTP+JSON", "0.3"),
];

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} with {} {}", self.sdk, self.binding, self.version)
    }
}

impl fmt::Display for Sdk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version() {
            Ok(version) => write!(out, "{} {version}", self.package),
            Err(_) => write!(out, "{} ({})", self.package, self.line),
        }
    }
}

impl Sdk {
    /// Whether its client has to be told which version to speak.
    pub(super) fn speaks_several(self) -> bool {
        self.line == "v1"
    }

    /// A name for folders and logs.
    pub(super) fn key(self) -> String {
        let language = match self.language {
            Language::Python => "python",
            Language::Node => "node",
        };
        format!("{language}-{}", self.line)
    }

    /// Where its client is, together with what the client shares with that of the other line.
    pub(super) fn sources(self) -> PathBuf {
        root().join(match self.language {
            Language::Python => "tests/interop/python",
            Language::Node => "tests/interop/node",
        })
    }

    /// The file of its client.
    pub(super) fn client(self) -> String {
        match self.language {
            Language::Python => format!("client_{}.py", self.line),
            Language::Node => format!("client_{}.mjs", self.line),
        }
    }

    /// The files that pin it and everything below it, in the order in which they are named here
    /// the first being the one that names the SDK itself.
    pub(super) fn pins(self) -> Vec<PathBuf> {
        let sources = self.sources();
        match self.language {
            Language::Python => vec![sources.join(format!("requirements-{}.txt", self.line))],
            Language::Node => ["package.json", "package-lock.json"]
                .map(|name| sources.join(self.line).join(name))
                .into(),
        }
    }

    /// The version that is pinned.
    pub(super) fn version(self) -> Result<String> {
        let pin = &self.pins()[0];
        let text = fs::read_to_string(pin)
            .map_err(|error| format!("cannot read {}: {error}", pin.display()))?;
        self.version_in(&text)
            .ok_or_else(|| format!("{} does not pin {}", pin.display(), self.package).into())
    }

    fn version_in(self, text: &str) -> Option<String> {
        match self.language {
            Language::Python => text
                .lines()
                .find_map(|line| line.strip_prefix(self.package)?.strip_prefix("=="))
                .map(|version| version.trim().to_owned()),
            Language::Node => {
                let manifest: Value = serde_json::from_str(text).ok()?;
                let version = manifest["dependencies"][self.package].as_str()?;
                // A range would be another version tomorrow.
                version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sdk_is_pinned_to_a_version_of_its_line() {
        for sdk in SDKS {
            let version = sdk.version().unwrap();
            let line = if sdk.line == "v03" { "0.3." } else { "1." };
            assert!(version.starts_with(line), "{sdk:?} is pinned to {version}");
            assert!(sdk.sources().join(sdk.client()).is_file(), "{sdk:?} has no client");
            assert!(sdk.pins().iter().all(|pin| pin.is_file()), "{sdk:?} is not pinned");
        }
    }

    #[test]
    fn a_pin_is_one_version() {
        assert_eq!(PYTHON_1.version_in("anyio==4\na2a-sdk==1.2.3\n").unwrap(), "1.2.3");
        assert_eq!(PYTHON_1.version_in("a2a-sdk>=1.2.3\na2a-sdk-extra==7\n"), None);
        let exact = r#"{"dependencies": {"@a2a-js/sdk": "1.2.3"}}"#;
        assert_eq!(NODE_1.version_in(exact).unwrap(), "1.2.3");
        assert_eq!(NODE_1.version_in(&exact.replace("1.2", "^1.2")), None);
    }

    #[test]
    fn the_document_has_every_row() {
        let document = fs::read_to_string(root().join("docs/interop.md")).unwrap();
        for row in &ROWS {
            let name = format!("| `{}` {} |", row.sdk.package, row.sdk.version().unwrap());
            let binding = row.binding.replace("JSONRPC", "JSON-RPC");
            let with = format!("| {binding} | {} |", row.version);
            let found =
                document.lines().any(|line| line.starts_with(&name) && line.contains(&with));
            assert!(found, "docs/interop.md has no row {name} … {with}");
        }
    }

    #[test]
    fn no_registry_is_named_where_packages_are_pinned() {
        for pin in SDKS.iter().flat_map(|sdk| sdk.pins()) {
            let text = fs::read_to_string(&pin).unwrap();
            assert!(!text.contains("resolved"), "{} names a host", pin.display());
        }
    }
}
