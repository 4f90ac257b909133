//! What every Rust file keeps to: a first line that says what the file is for, a size that one
//! can read, and none of the shortcuts that are forgotten once they are in.

use super::code::{code_of, without_tests};
use super::{Finding, numbered};
use crate::tree::Tree;

const FOLDERS: [&str; 5] = ["crates/", "tests/", "xtask/", "bench/", "fuzz/"];
const MOST_LINES: usize = 500;

/// Code that must not be anywhere, and what to do about it.
const NOWHERE: [(&str, &str); 4] = [
    ("todo!(", "finish it, or return an error that says what is missing"),
    ("unimplemented!(", "finish it, or return an error that says what is missing"),
    ("dbg!(", "remove it, or log what an operator needs with tracing"),
    ("#[ignore", "make the test run everywhere, or remove it"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        if path.ends_with(".rs") && FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            judge(path, text, &mut findings);
        }
    }
    findings
}

fn judge(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let mut found = |line, problem: String| findings.push(Finding::new(path, line, problem));
    if !text.starts_with("//!") {
        found(1, "begin with a `//!` line that says what the file is for".into());
    }
    let length = text.lines().count();
    if length > MOST_LINES {
        found(MOST_LINES, format!("{length} lines are more than {MOST_LINES}: split the file"));
    }
    for (number, line) in numbered(text) {
        if line.ends_with([' ', '\t']) {
            found(number, "remove the blanks at the end of the line".into());
        }
        if line.contains('\t') {
            found(number, "use spaces, or \\t in a literal, for the tab".into());
        }
    }
    let code = code_of(text);
    for (needle, advice) in NOWHERE {
        for number in lines_with(&code, needle) {
            found(number, format!("`{needle}`: {advice}"));
        }
    }
    if is_product(path) {
        for number in lines_with(&without_tests(&code), ".unwrap()") {
            found(number, "`.unwrap()`: return the error, or expect() with the reason".into());
        }
    }
    if is_integration_test(path) {
        // A clock of a test implements the port's method; it is calling one that makes a test wait.
        let calls = code.replace("fn sleep(", "");
        for number in lines_with(&calls, "sleep(") {
            found(number, "a test must not sleep: wait for an event or turn a manual clock".into());
        }
        for number in lines_with(&code, "const PATIENCE") {
            found(number, "there is one PATIENCE, in a2ad_domain::testing".into());
        }
        // Where time is paused a limit is no time at all.
        if !text.contains("start_paused = true") {
            let limited = code.replace("timeout(PATIENCE, ", "");
            let limits = numbered(&limited).filter(|(_, line)| line.contains("timeout("));
            for (number, _) in limits {
                found(number, "a test waits for PATIENCE, which is enough on any machine".into());
            }
        }
    }
}

/// The lines on which the needle begins a word, or anything if it begins with punctuation.
fn lines_with(code: &str, needle: &'static str) -> impl Iterator<Item = usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let found = move |line: &str| {
        line.match_indices(needle)
            .any(|(at, _)| !needle.starts_with(word) || !line[..at].ends_with(word))
    };
    numbered(code).filter(move |(_, line)| found(line)).map(|(number, _)| number)
}

/// Whether a file ships: `crates/*/src` without the test support and the test modules in it.
fn is_product(path: &str) -> bool {
    let mut parts = path.split('/');
    let in_src = parts.next() == Some("crates") && parts.nth(1) == Some("src");
    in_src && !parts.any(|part| matches!(part, "testing" | "testing.rs" | "tests" | "tests.rs"))
}

fn is_integration_test(path: &str) -> bool {
    let mut parts = path.split('/');
    match parts.next() {
        Some("tests") => true,
        Some("crates") => parts.nth(1) == Some("tests"),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.problem)).collect()
    }

    #[test]
    fn a_plain_file_is_fine() {
        let text = "//! What it is for.\n\nfn f() {}\n";
        assert_eq!(problems("crates/domain/src/f.rs", text), []);
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        assert_eq!(problems("xtask/src/f.rs", "fn f() {}\n")[0].0, 1);
        assert_eq!(problems("other/f.rs", "fn f() {}\n"), []);
    }

    #[test]
    fn a_file_has_a_size_that_one_can_read() {
        let text = format!("//! Long.\n{}", "\n".repeat(MOST_LINES));
        assert_eq!(problems("bench/src/f.rs", &text)[0].0, MOST_LINES);
        let text = format!("//! Long.\n{}", "\n".repeat(MOST_LINES - 1));
        assert_eq!(problems("bench/src/f.rs", &text), []);
    }

    #[test]
    fn blanks_and_tabs_are_found() {
        let lines: Vec<_> = problems("tests/it/f.rs", "//! x\nfn f() {} \n\tlet a;\n");
        assert_eq!(lines.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn shortcuts_are_found_in_code_and_nowhere_else() {
        let text = "//! todo!( is a word here.\nfn f() { todo!() }\nfn g() { \"dbg!(\"; }\n";
        assert_eq!(problems("xtask/src/f.rs", text).len(), 1);
        let text = "//! x\n#[ignore = \"slow\"]\nfn f() { my_todo!(dbg!(1)) }\n";
        assert_eq!(problems("tests/f.rs", text).len(), 2);
    }

    #[test]
    fn unwrap_is_for_tests() {
        let text = "//! x\nfn f() { a.unwrap() }\n#[cfg(test)]\nmod t { fn g() { a.unwrap() } }\n";
        assert_eq!(problems("crates/http/src/f.rs", text).len(), 1);
        assert_eq!(problems("crates/http/tests/f.rs", text), []);
        assert_eq!(problems("crates/domain/src/testing/f.rs", text), []);
        let text = "//! x\nfn f() { a.unwrap_or(b) }\n";
        assert_eq!(problems("crates/http/src/f.rs", text), []);
    }

    #[test]
    fn tests_do_not_sleep() {
        let text = "//! x\nfn f() { tokio::time::sleep(a) }\n";
        assert_eq!(problems("tests/it/f.rs", text).len(), 1);
        assert_eq!(problems("crates/store/tests/f.rs", text).len(), 1);
        assert_eq!(problems("crates/store/src/f.rs", text), []);
        assert_eq!(problems("tests/it/f.rs", "//! x\nfn no_sleep() { no_sleep() }\n"), []);
    }

    #[test]
    fn tests_have_one_patience() {
        let text = "//! x\nfn f() { tokio::time::timeout(PATIENCE, a); b.timeout(LIMIT) }\n";
        assert_eq!(problems("tests/it/f.rs", text).len(), 1);
        let text = "//! x\nfn f() { timeout(PATIENCE, a) }\n";
        assert_eq!(problems("crates/store/tests/f.rs", text), []);
        let text = "//! x\nfn f() { queue.recv_timeout(second) }\n";
        assert_eq!(problems("tests/it/f.rs", text).len(), 1);
        let text = "//! x\nconst PATIENCE: Duration = SECOND;\nfn f() { timeout(PATIENCE, a) }\n";
        assert_eq!(problems("tests/it/f.rs", text).len(), 1);
        let text = "//! x\nfn f() { timeout(second, a) }\n";
        assert_eq!(problems("crates/store/tests/f.rs", text).len(), 1);
        assert_eq!(problems("crates/store/src/f.rs", text), []);
        let paused = format!("{text}#[tokio::test(start_paused = true)]\n");
        assert_eq!(problems("crates/store/tests/f.rs", &paused), []);
    }
}
