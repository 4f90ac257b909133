//! The table that is printed: one line per figure.

use std::fmt;

/// Whether a figure keeps to its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Missed,
    /// There is no budget; the figure is for comparing with earlier ones.
    Noted,
}

/// One figure.
#[derive(Debug)]
pub(super) struct Line {
    what: String,
    yardstick: String,
    server: String,
    ratio: String,
    budget: String,
    pub(super) verdict: Verdict,
    note: String,
}

impl Line {
    /// Processor time per 1,000 calls of both, in milliseconds; the ratio is to be no less than
    /// the budget.
    pub(super) fn ratio(what: &str, yardstick: f64, server: f64, budget: f64) -> Line {
        let ratio = yardstick / server;
        Line {
            what: what.to_owned(),
            yardstick: format!("{yardstick:.2} ms"),
            server: format!("{server:.2} ms"),
            ratio: format!("{ratio:.2}"),
            budget: format!(">= {budget:.2}"),
            verdict: if ratio >= budget { Verdict::Ok } else { Verdict::Missed },
            note: String::new(),
        }
    }

    /// A figure of the server alone, which is to be no more than the budget.
    pub(super) fn limit(what: &str, figure: f64, budget: f64, unit: &str) -> Line {
        let verdict = if figure <= budget { Verdict::Ok } else { Verdict::Missed };
        let budget = format!("<= {} {unit}", amount(budget));
        Line { budget, verdict, ..Line::figure(what, figure, unit) }
    }

    /// A figure without a budget.
    pub(super) fn figure(what: &str, figure: f64, unit: &str) -> Line {
        Line {
            what: what.to_owned(),
            yardstick: "-".into(),
            server: format!("{} {unit}", amount(figure)),
            ratio: "-".into(),
            budget: "-".into(),
            verdict: Verdict::Noted,
            note: String::new(),
        }
    }

    /// Adds a remark that stands behind the line.
    pub(super) fn note(self, note: String) -> Line {
        Line { note, ..self }
    }
}

/// As many decimals as tell something.
fn amount(figure: f64) -> String {
    if figure.abs() >= 100.0 { format!("{figure:.0}") } else { format!("{figure:.2}") }
}

/// The titles of the columns.
pub(super) fn head() -> String {
    columns(&["row", "yardstick", "server", "ratio", "budget"], "").trim_end().to_owned()
        + "\nmilliseconds are processor time per 1,000 calls"
}

fn columns(cells: &[&str; 5], verdict: &str) -> String {
    let [what, yardstick, server, ratio, budget] = cells;
    format!("{what:<52} {yardstick:>12} {server:>14} {ratio:>6} {budget:>15}  {verdict}")
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Missed => "MISSED",
            Verdict::Noted => "-",
        };
        let cells = [&self.what, &self.yardstick, &self.server, &self.ratio, &self.budget];
        out.write_str(&columns(&cells.map(String::as_str), verdict))?;
        if self.note.is_empty() { Ok(()) } else { write!(out, "  ({})", self.note) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_keeps_to_its_budget_or_misses_it() {
        assert_eq!(Line::ratio("x", 13.0, 20.0, 0.65).verdict, Verdict::Ok);
        assert_eq!(Line::ratio("x", 12.0, 20.0, 0.65).verdict, Verdict::Missed);
    }

    #[test]
    fn a_limit_is_not_to_be_passed() {
        assert_eq!(Line::limit("x", 20.0, 20.0, "ms").verdict, Verdict::Ok);
        let line = Line::limit("x", 2901.0, 2900.0, "bytes").note("why".into()).to_string();
        assert!(line.contains("2901 bytes") && line.contains("<= 2900 bytes"), "{line}");
        assert!(line.ends_with("MISSED  (why)"), "{line}");
    }
}
