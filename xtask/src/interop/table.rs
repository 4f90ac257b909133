//! The table that is printed: one line per row.

use super::client::Outcome;
use super::sdk::{Language, Row};

pub(super) fn head() -> String {
    columns("client", "language", "binding", "protocol", "passed", "failed", "seconds")
}

pub(super) fn line(row: &Row, outcome: &Outcome) -> String {
    let language = match row.sdk.language {
        Language::Python => "Python",
        Language::Node => "Node.js",
    };
    let line = columns(
        &row.sdk.to_string(),
        language,
        row.binding,
        row.version,
        &outcome.passed.to_string(),
        &outcome.failed.to_string(),
        &format!("{:.1}", outcome.time.as_secs_f64()),
    );
    if outcome.is_success() { line } else { format!("{line}  FAILED") }
}

fn columns(a: &str, b: &str, c: &str, d: &str, e: &str, f: &str, g: &str) -> String {
    format!("{a:<20} {b:<8} {c:<9} {d:>8} {e:>7} {f:>7} {g:>8}")
}

#[cfg(test)]
mod tests {
    use super::super::sdk::ROWS;
    use super::*;

    #[test]
    fn a_row_that_failed_is_seen() {
        let mut outcome = Outcome { passed: 2, ..Outcome::default() };
        assert!(!line(&ROWS[0], &outcome).contains("FAILED"));
        outcome.failed = 1;
        assert!(line(&ROWS[0], &outcome).ends_with("FAILED"));
        assert!(line(&ROWS[0], &Outcome::did_not_run("x".into())).ends_with("FAILED"));
    }
}
