//! Only the HTTP crate knows the wire: the other crates neither name JSON-RPC in code or text
//! nor spell out an error number. The table of `ErrorCode` is the one place for numbers.

use super::{Finding, numbered};
use crate::tree::Tree;

const INSIDE: [&str; 4] =
    ["crates/domain/src/", "crates/store/src/", "crates/executor/src/", "crates/app/src/"];
const TABLE: &str = "crates/domain/src/error.rs";
const PROTOCOL: &str = "jsonrpc";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        if !INSIDE.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (number, line) in numbered(text) {
            if line.to_ascii_lowercase().contains(PROTOCOL) {
                let problem = format!("`{PROTOCOL}` belongs in crates/http only");
                findings.push(Finding::new(path, number, problem));
            }
            if let Some(code) = error_number(line).filter(|_| path != TABLE) {
                let problem = format!("{code} is an error number: name a variant of ErrorCode");
                findings.push(Finding::new(path, number, problem));
            }
        }
    }
    findings
}

/// The first number of a line that JSON-RPC or A2A uses for an error: -32700, -3260x, -3200x.
pub(super) fn error_number(line: &str) -> Option<i32> {
    let mut rest = line;
    while let Some(at) = rest.find('-') {
        rest = &rest[at + 1..];
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '_')
            .filter(|c| *c != '_')
            .collect();
        if let Ok(number @ (32700 | 32600..=32609 | 32000..=32009)) = digits.parse::<i32>() {
            return Some(-number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_are_seen_in_every_spelling() {
        assert_eq!(error_number("a - b, code: -32603,"), Some(-32603));
        assert_eq!(error_number("-32_001"), Some(-32001));
        assert_eq!(error_number("(-32700, PARSE)"), Some(-32700));
    }

    #[test]
    fn other_numbers_are_not() {
        for line in ["32603", "-32768", "-326030", "-3260", "2026-12-01", "--"] {
            assert_eq!(error_number(line), None, "{line}");
        }
    }

    #[test]
    fn the_wire_stays_in_its_crate() {
        let text = "const METHOD: &str = \"JsonRpc\";\nlet code = -32601;\n";
        let paths = |path| check(&Tree::of(&[(path, text)])).len();
        assert_eq!(paths("crates/store/src/memory.rs"), 2);
        assert_eq!(paths("crates/domain/src/error.rs"), 1);
        assert_eq!(paths("crates/http/src/rpc/envelope.rs"), 0);
        assert_eq!(paths("crates/store/tests/contract.rs"), 0);
    }
}
