//! `bench`: measures the server against the yardstick and the budgets of the design. Processor
//! time is what counts, because rates and latencies move with whatever else runs.

mod file;
mod limits;
mod overhead;
mod process;
mod ratios;
mod rows;
mod start;
mod table;

use crate::Result;
use crate::cargo::{cargo, root, succeed};
use crate::packages;
use rows::{ROWS, Row};
use std::path::PathBuf;
use table::Verdict;

/// How the rows are measured.
pub(crate) struct Bench {
    /// Where the release binaries are.
    binaries: PathBuf,
    /// How long each window is.
    seconds: f64,
}

/// What was asked for on the command line.
#[derive(Debug, PartialEq)]
struct Request {
    rows: Vec<String>,
    seconds: f64,
    list: bool,
}

/// Measures the rows that are named, or all, and prints one table.
pub(crate) fn run(arguments: &[String]) -> Result {
    let request = parse(arguments)?;
    if request.list {
        for row in &ROWS {
            let about = if row.on_demand { " (only when named)" } else { "" };
            println!("{:<12} {}{about}", row.key, row.about);
        }
        return Ok(());
    }
    process::check_tools()?;
    succeed(&mut cargo(&["build", "--release", "--package", "a2ad", "--package", "a2ad-bench"]))?;
    let binaries = packages::read()?.target.join("release");
    let bench = Bench { binaries, seconds: request.seconds };

    println!("{}", table::head());
    let wanted = |row: &Row| match request.rows.is_empty() {
        true => !row.on_demand,
        false => request.rows.iter().any(|key| row.key == key),
    };
    let (mut missed, mut failed) = (0, 0);
    for row in ROWS.iter().filter(|row| wanted(row)) {
        match bench.measure(row) {
            Ok(lines) => {
                for line in lines {
                    println!("{line}");
                    missed += usize::from(line.verdict == Verdict::Missed);
                }
            }
            Err(error) => {
                println!("{}: FAILED: {error}", row.about);
                failed += 1;
            }
        }
    }
    match (missed, failed) {
        (0, 0) => Ok(()),
        _ => Err(format!("bench: {missed} budgets missed, {failed} rows failed").into()),
    }
}

fn parse(arguments: &[String]) -> Result<Request> {
    let mut request = Request { rows: Vec::new(), seconds: 3.0, list: false };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => request.list = true,
            "--seconds" => {
                let seconds = arguments.next().and_then(|text| text.parse().ok());
                request.seconds = seconds
                    .filter(|seconds| (0.1..=600.0).contains(seconds))
                    .ok_or("--seconds takes a number from 0.1 to 600")?;
            }
            key if ROWS.iter().any(|row| row.key == key) => request.rows.push(key.to_owned()),
            other => {
                let keys: Vec<_> = ROWS.iter().map(|row| row.key).collect();
                return Err(format!("no row {other}; there are {}", keys.join(", ")).into());
            }
        }
    }
    Ok(request)
}

impl Bench {
    fn binary(&self, name: &str) -> PathBuf {
        self.binaries.join(name)
    }

    fn config() -> PathBuf {
        root().join("bench/a2ad.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn rows_are_chosen_by_their_keys() {
        let request = parsed("send burst --seconds 0.5").unwrap();
        assert_eq!(request.rows, ["send", "burst"]);
        assert!((request.seconds - 0.5).abs() < 1e-9);
        assert!(parsed("").unwrap().rows.is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parsed("sned").err().unwrap().to_string().starts_with("no row sned; there are"));
        assert!(parsed("--seconds").is_err() && parsed("--seconds 0").is_err());
    }

    #[test]
    fn every_key_is_there_once() {
        for (at, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..at].iter().all(|other| other.key != row.key), "{}", row.key);
        }
    }
}
