//! One run of a client: it is started with the address of the server, and its lines are counted.

use super::install::{Installed, python_of};
use super::sdk::{Language, Row, Sdk};
use crate::Result;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a run ended.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) time: Duration,
    /// The checks that failed, and what else went wrong.
    pub(super) problems: Vec<String>,
}

impl Outcome {
    pub(super) fn did_not_run(problem: String) -> Outcome {
        Outcome { problems: vec![problem], ..Outcome::default() }
    }

    pub(super) fn is_success(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.problems.is_empty()
    }
}

/// Runs the client of a row to its end. It bounds its own time.
pub(super) fn run(row: &Row, installed: &Installed, work: &Path, url: &str) -> Result<Outcome> {
    let sdk = row.sdk;
    let folder = installed.folder(sdk)?;
    let copy = work.join(sdk.key());
    lay_out(sdk, folder, &copy)?;
    let mut command = match sdk.language {
        Language::Python => Command::new(python_of(folder)),
        Language::Node => Command::new("node"),
    };
    let log = work.join(format!("{}-{}-{}.log", sdk.key(), row.binding, row.version));
    let start = Instant::now();
    let output = command
        .arg(copy.join(sdk.client()))
        .args([url, row.binding])
        .args(sdk.speaks_several().then_some(row.version))
        .current_dir(&copy)
        .stdin(Stdio::null())
        .stderr(File::create(&log)?)
        .output()?;
    let time = start.elapsed();
    let mut outcome = read(&String::from_utf8_lossy(&output.stdout), output.status);
    outcome.time = time;
    if !outcome.is_success() {
        outcome.problems.push(format!("more is in {}", log.display()));
    }
    Ok(outcome)
}

/// Puts the sources where Node.js finds the packages beside them, and where Python may leave what
/// it compiles.
fn lay_out(sdk: Sdk, folder: &Path, copy: &Path) -> Result {
    if copy.exists() {
        fs::remove_dir_all(copy)?;
    }
    fs::create_dir_all(copy)?;
    for source in files_of(&sdk.sources())? {
        fs::copy(&source, copy.join(source.file_name().ok_or("a source without a name")?))?;
    }
    if sdk.language == Language::Node {
        symlink(folder.join("node_modules"), copy.join("node_modules"))?;
    }
    Ok(())
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Counts the lines of the checks. The last line counts them as well, so a client that ended
/// halfway or lost a line does not pass.
fn read(stdout: &str, status: ExitStatus) -> Outcome {
    let failures: Vec<&str> = stdout.lines().filter(|line| line.starts_with("FAILED ")).collect();
    let passed = stdout.lines().filter(|line| line.starts_with("ok ")).count();
    let failed = failures.len();
    let mut problems: Vec<String> = failures.into_iter().map(shortened).collect();
    if stdout.lines().last() != Some(&format!("{passed} passed, {failed} failed")) {
        problems.push(format!("the client broke off after {} checks", passed + failed));
    }
    if status.success() != (failed == 0) {
        problems.push(format!("{failed} checks failed, but the client ended with {status}"));
    }
    Outcome { passed, failed, time: Duration::ZERO, problems }
}

fn shortened(line: &str) -> String {
    const MOST: usize = 400;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn ended(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn all_checks_passed() {
        let outcome = read("ok a\nok b\n2 passed, 0 failed\n", ended(0));
        assert!(outcome.is_success());
        assert_eq!(outcome.passed, 2);
    }

    #[test]
    fn a_failed_check_is_told() {
        let outcome = read("ok a\nFAILED b: no\n1 passed, 1 failed\n", ended(1));
        assert_eq!((outcome.passed, outcome.failed), (1, 1));
        assert_eq!(outcome.problems, ["FAILED b: no"]);
    }

    #[test]
    fn a_client_that_does_not_finish_has_not_passed() {
        let outcome = read("ok a\n", ended(0));
        assert_eq!(outcome.problems, ["the client broke off after 1 checks"]);
        assert!(!read("", ended(0)).is_success());
        assert!(!read("0 passed, 0 failed\n", ended(0)).is_success());
    }

    #[test]
    fn the_lines_and_the_end_must_agree() {
        assert!(!read("ok a\n2 passed, 0 failed\n", ended(0)).is_success());
        assert!(!read("ok a\n1 passed, 0 failed\n", ended(1)).is_success());
    }

    #[test]
    fn a_long_reason_is_cut_at_a_character() {
        let line = "é".repeat(401);
        assert_eq!(shortened(&line), format!("{} …", "é".repeat(400)));
        assert_eq!(shortened("short"), "short");
    }
}
