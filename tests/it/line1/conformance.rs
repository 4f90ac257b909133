//! `docs/conformance.md` lists what the specifications demand of a server, and the test that shows it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const TESTS: [&str; 4] =
    ["tests/it", "crates/http/src", "crates/http/tests", "crates/domain/tests"];

/// Suites whose functions are the tests of every store.
const SUITES: &str = "crates/domain/src/testing/contract";

/// The folder of the workspace, where cargo runs the tests from.
fn root() -> PathBuf {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR");
    let mut folder =
        folder.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    folder.pop();
    folder
}

fn document() -> String {
    std::fs::read_to_string(root().join("docs/conformance.md")).expect("the document")
}

/// The names of all tests below a folder.
fn tests_in(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            // An attribute that makes a test, and the first function after it.
            let after = text.split("#[").filter(|piece| {
                let attribute = piece.split([']', '(']).next().unwrap_or_default();
                attribute == "test" || attribute.ends_with("::test")
            });
            let name = |piece: &str| {
                let name = piece.split_once("fn ")?.1;
                Some(name.split('(').next().unwrap_or_default().to_owned())
            };
            found.extend(after.filter_map(name));
        }
    }
}

/// The cells of the rows of the tables, but for their heads.
fn rows(document: &str) -> Vec<Vec<&str>> {
    let lines = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = lines.map(|line| line.split(" | ").map(str::trim).collect::<Vec<_>>());
    rows.filter(|row| row[0].parse::<u32>().is_ok()).collect()
}

#[test]
fn every_duty_has_a_row_and_the_rows_are_in_order() {
    let document = document();
    let numbers: Vec<u32> = rows(&document).iter().filter_map(|row| row[0].parse().ok()).collect();
    assert_eq!(numbers, (1..=60).collect::<Vec<_>>());
}

/// The names of all tests.
pub(crate) fn tests() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for folder in TESTS {
        tests_in(&root().join(folder), &mut known);
    }
    for file in std::fs::read_dir(root().join(SUITES)).expect("a folder") {
        let text = std::fs::read_to_string(file.expect("an entry").path()).expect("a source");
        let names = text.split("\npub async fn ").skip(1).filter_map(|rest| rest.split('(').next());
        known.extend(names.map(str::to_owned));
    }
    known
}

#[test]
fn every_test_that_a_promise_of_security_names_exists() {
    let (known, document) = (tests(), crate::documents::read("docs/security.md"));
    let promises =
        crate::documents::section(&document, "## What is promised, and how it is tested");
    let promises = crate::documents::rows(promises);
    assert!(promises.len() > 10, "{promises:?}");
    for row in promises.iter().skip(2) {
        let named: Vec<&str> = row[1].split([',', '`', ' ']).filter(|it| !it.is_empty()).collect();
        assert!(!named.is_empty(), "{}: no test", row[0]);
        for test in named {
            assert!(known.contains(test), "{}: there is no test {test}", row[0]);
        }
    }
}

#[test]
fn every_test_that_a_row_names_exists() {
    let known = tests();
    let document = document();
    let mut missing = Vec::new();
    for row in rows(&document) {
        let tests: Vec<&str> = row[4].split('`').skip(1).step_by(2).collect();
        // Where there is no test there is a reason, and the feature that is missing has a name.
        assert!(!tests.is_empty() || row[4].len() > 20, "{}: no test and no reason", row[0]);
        missing.extend(tests.into_iter().filter(|test| !known.contains(*test)));
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}
