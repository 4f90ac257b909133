//! Which crates of ours each package may depend on: the arrows of the architecture.

use super::Finding;
use crate::packages::{Dependency, Kind, Package};
use crate::tree::Tree;

/// What one package may see of the others.
struct Rule {
    package: &'static str,
    manifest: &'static str,
    /// Crates of ours among its normal dependencies.
    ours: &'static [&'static str],
    dev: Dev,
}

/// What the dev-dependencies of a package may hold of ours.
#[derive(PartialEq, Eq)]
enum Dev {
    /// Any crate: a test may put things together that the product keeps apart.
    Any,
    /// The package itself only, to switch on its own test support.
    Itself,
}

const DOMAIN: &[&str] = &["a2ad-domain"];
const EVERYTHING: &[&str] = &["a2ad", "a2ad-domain", "a2ad-store", "a2ad-executor", "a2ad-http"];
const ALL: &[&str] = &["a2ad-domain", "a2ad-store", "a2ad-executor", "a2ad-http"];

const RULES: [Rule; 10] = [
    rule("a2ad-domain", "crates/domain", &[], Dev::Itself),
    rule("a2ad-store", "crates/store", DOMAIN, Dev::Any),
    rule("a2ad-executor", "crates/executor", DOMAIN, Dev::Any),
    rule("a2ad-http", "crates/http", DOMAIN, Dev::Any),
    rule("a2ad", "crates/app", ALL, Dev::Any),
    rule("a2ad-tests", "tests", &[], Dev::Any),
    rule("xtask", "xtask", &[], Dev::Itself),
    rule("a2ad-bench", "bench", &[], Dev::Itself),
    rule("a2ad-fuzz", "fuzz", EVERYTHING, Dev::Any),
    rule("a2ad-example-sum", "examples/rust", &["a2ad"], Dev::Any),
];

const fn rule(
    package: &'static str,
    manifest: &'static str,
    ours: &'static [&'static str],
    dev: Dev,
) -> Rule {
    Rule { package, manifest, ours, dev }
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let Some(rule) = RULES.iter().find(|rule| rule.package == package.name) else {
            let problem = format!(
                "package {} is in no rule: say in xtask/src/tidy/crates.rs what it may depend on",
                package.name
            );
            findings.push(Finding::new(&package.manifest, 1, problem));
            continue;
        };
        if package.manifest != format!("{}/Cargo.toml", rule.manifest) {
            let problem = format!("package {} belongs in {}/", rule.package, rule.manifest);
            findings.push(Finding::new(&package.manifest, 1, problem));
        }
        let broken = package.dependencies.iter().filter_map(|it| judge(rule, package, it));
        findings.extend(broken.map(|(dependency, problem)| {
            let line = line_of(tree, &package.manifest, &dependency.name);
            Finding::new(&package.manifest, line, problem)
        }));
    }
    findings
}

fn judge<'a>(
    rule: &Rule,
    package: &Package,
    dependency: &'a Dependency,
) -> Option<(&'a Dependency, String)> {
    let name = dependency.name.as_str();
    let is_ours = RULES.iter().any(|rule| rule.package == name);
    let problem = match dependency.kind {
        Kind::Normal if package.name == "a2ad-tests" => {
            format!("a2ad-tests has dev-dependencies only: move {name} there")
        }
        Kind::Normal if is_ours && !rule.ours.contains(&name) => format!(
            "{} must not depend on {name}: go through a port of a2ad-domain, wired in a2ad",
            package.name
        ),
        Kind::Dev if is_ours && rule.dev == Dev::Itself && name != package.name => {
            format!("{} must not depend on {name}, not even in tests", package.name)
        }
        Kind::Normal | Kind::Dev => return None,
    };
    Some((dependency, problem))
}

/// The line of a manifest that names a dependency, or the first.
pub(super) fn line_of(tree: &Tree, manifest: &str, dependency: &str) -> usize {
    let text = tree.text(manifest).unwrap_or_default();
    super::numbered(text)
        .find(|(_, line)| {
            line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        })
        .map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::Dependency;

    fn package(name: &str, folder: &str, dependencies: &[(&str, Kind)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, kind)| Dependency {
            name: (*name).into(),
            kind: *kind,
            optional: false,
        });
        let manifest = format!("{folder}/Cargo.toml");
        Package { name: name.into(), manifest, dependencies: dependencies.collect() }
    }

    fn problems(package: Package) -> Vec<Finding> {
        let manifest = "[dependencies]\na2ad-domain.workspace = true\na2ad-http.workspace = true\n";
        let mut tree = Tree::of(&[(&package.manifest, manifest)]);
        tree.packages.push(package);
        check(&tree)
    }

    #[test]
    fn siblings_meet_in_the_domain_only() {
        let good = [("a2ad-domain", Kind::Normal), ("serde", Kind::Normal)];
        assert_eq!(problems(package("a2ad-store", "crates/store", &good)), []);
        let bad = [("a2ad-http", Kind::Normal)];
        let found = problems(package("a2ad-store", "crates/store", &bad));
        assert_eq!(found[0].line, 3);
        assert!(found[0].problem.contains("a2ad-store must not depend on a2ad-http"));
    }

    #[test]
    fn the_domain_may_name_itself_in_its_tests_and_nobody_else() {
        let itself = [("a2ad-domain", Kind::Dev)];
        assert_eq!(problems(package("a2ad-domain", "crates/domain", &itself)), []);
        let other = [("a2ad-store", Kind::Dev)];
        assert_eq!(problems(package("a2ad-domain", "crates/domain", &other)).len(), 1);
    }

    #[test]
    fn the_black_box_tests_have_no_normal_dependency() {
        let dev = [("a2ad", Kind::Dev), ("tokio", Kind::Dev)];
        assert_eq!(problems(package("a2ad-tests", "tests", &dev)), []);
        assert_eq!(problems(package("a2ad-tests", "tests", &[("tokio", Kind::Normal)])).len(), 1);
    }

    #[test]
    fn a_package_without_a_rule_and_one_in_the_wrong_folder_are_found() {
        assert_eq!(problems(package("a2ad-extra", "crates/extra", &[])).len(), 1);
        assert_eq!(problems(package("a2ad", "crates/server", &[])).len(), 1);
    }
}
