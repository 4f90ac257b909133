//! Which third-party crates each of our crates may be built with. A new one is a decision,
//! and this table is where the decision shows.

use super::Finding;
use super::crates::line_of;
use crate::packages::Kind;
use crate::tree::Tree;

/// What one of our crates may use.
struct Allowed {
    package: &'static str,
    always: &'static [&'static str],
    /// Only behind a feature, so that the product is built without it.
    optional: &'static [&'static str],
}

const TABLE: [Allowed; 5] = [
    Allowed {
        package: "a2ad-domain",
        always: &[
            "arc-swap",
            "async-trait",
            "bytes",
            "futures-core",
            "jiff",
            "serde",
            "serde_json",
            "thiserror",
            "tracing",
            "uuid",
        ],
        optional: &["mockall", "proptest", "tokio"],
    },
    Allowed {
        package: "a2ad-store",
        always: &["async-trait", "base64", "rusqlite", "serde", "serde_json", "tokio", "tracing"],
        optional: &[],
    },
    Allowed {
        package: "a2ad-executor",
        always: &[
            "async-trait",
            "base64",
            "bytes",
            "futures-util",
            "reqwest",
            "rustix",
            "rustls",
            "serde",
            "serde_json",
            "sse-stream",
            "thiserror",
            "tokio",
            "tracing",
        ],
        optional: &[],
    },
    Allowed {
        package: "a2ad-http",
        always: &[
            "arc-swap",
            "async-trait",
            "axum",
            "base64",
            "bytes",
            "form_urlencoded",
            "futures-util",
            "governor",
            "http-body",
            "http-body-util",
            "httpdate",
            "hyper",
            "hyper-util",
            "ipnet",
            "jsonwebtoken",
            "percent-encoding",
            "reqwest",
            "ring",
            "rustls",
            "serde",
            "serde_json",
            "serde_json_canonicalizer",
            "serde_path_to_error",
            "subtle",
            "tokio",
            "tokio-rustls",
            "tower",
            "tower-http",
            "tracing",
            "url",
            "x509-cert",
        ],
        optional: &[],
    },
    Allowed {
        package: "a2ad",
        always: &[
            "async-trait",
            "bytesize",
            "clap",
            "humantime",
            "ipnet",
            "mimalloc",
            "rustix",
            "serde",
            "serde_json",
            "strsim",
            "thiserror",
            "tokio",
            "toml",
            "tracing",
            "tracing-subscriber",
            "url",
            "uuid",
        ],
        optional: &[],
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let Some(allowed) = TABLE.iter().find(|row| row.package == package.name) else {
            continue;
        };
        for dependency in package.dependencies.iter().filter(|it| it.kind == Kind::Normal) {
            let name = dependency.name.as_str();
            let is_ours = tree.packages.iter().any(|package| package.name == name);
            if is_ours || allowed.always.contains(&name) {
                continue;
            }
            let problem = match allowed.optional.contains(&name) {
                true if dependency.optional => continue,
                true => format!("{name} must be `optional = true` in {}", package.name),
                false => format!(
                    "{} may not use {name}: do without, or decide it in an ADR and add it to \
                     xtask/src/tidy/third_party.rs",
                    package.name
                ),
            };
            let line = line_of(tree, &package.manifest, name);
            findings.push(Finding::new(&package.manifest, line, problem));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(package: &str, dependencies: &[&str]) -> Vec<String> {
        let tree = Tree::default().with(&[(package, dependencies), ("a2ad-domain", &[])]);
        check(&tree).into_iter().map(|finding| finding.problem).collect()
    }

    #[test]
    fn a_crate_uses_what_its_row_says() {
        assert_eq!(problems("a2ad-http", &["axum", "a2ad-domain"]), [""; 0]);
        assert!(problems("a2ad-store", &["axum"])[0].starts_with("a2ad-store may not use axum"));
    }

    #[test]
    fn test_support_is_optional() {
        let mut tree = Tree::default().with(&[("a2ad-domain", &["mockall"])]);
        assert_eq!(check(&tree).len(), 1);
        tree.packages[0].dependencies[0].optional = true;
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn packages_that_do_not_ship_choose_freely() {
        assert_eq!(problems("a2ad-bench", &["anything"]), [""; 0]);
    }
}
