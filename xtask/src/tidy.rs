//! `tidy`: the rules of the project that the compiler does not know, one file per rule.

mod adrs;
mod code;
mod crates;
mod dependency_list;
mod docs;
mod source;
mod third_party;
mod wire_words;
mod words;

use crate::Result;
use crate::tree::Tree;
use std::fmt;

/// One place that breaks a rule, and how to mend it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    problem: String,
}

impl Finding {
    fn new(path: &str, line: usize, problem: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, problem: problem.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.problem)
    }
}

const CHECKS: [fn(&Tree) -> Vec<Finding>; 8] = [
    crates::check,
    third_party::check,
    dependency_list::check,
    wire_words::check,
    source::check,
    words::check,
    docs::check,
    adrs::check,
];

/// Prints every finding; any is a failure.
pub(crate) fn run() -> Result {
    let findings = findings(&Tree::read()?);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err("tidy: 1 finding".into()),
        many => Err(format!("tidy: {many} findings").into()),
    }
}

fn findings(tree: &Tree) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}

/// Lines with their numbers as people count them.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let findings = findings(&Tree::read().unwrap());
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }

    #[test]
    fn a_finding_is_a_line_that_editors_understand() {
        assert_eq!(Finding::new("a/b.rs", 7, "too long").to_string(), "a/b.rs:7: too long");
    }
}
