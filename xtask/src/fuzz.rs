//! `fuzz`: looks for inputs for which something does not hold, guided by coverage. What must hold is in the package
//! `a2ad-fuzz`; this builds it with the instruments of the compiler, which stable Rust has, and runs each target
//! for a time.

mod options;
mod stats;

use crate::cargo::{CACHE, cargo, root, succeed};
use crate::{Result, packages};
use options::Options;
use stats::Stats;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What the instruments are: a counter on every edge, and the operands of comparisons.
const FLAGS: [&str; 7] = [
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// The limits of one input: the longest that any target takes, its seconds, and the megabytes of the process.
const LIMITS: [&str; 3] = ["-max_len=6144", "-timeout=10", "-rss_limit_mb=1024"];

/// Runs the targets that are named, or all of them.
pub(crate) fn run(arguments: &[String]) -> Result {
    let known = targets()?;
    let options = Options::read(arguments, &known)?;
    let place = Place { folder: packages::read()?.target.join("fuzz") };
    let program = build(&place.folder)?;
    let mut found = Vec::new();
    for target in &options.targets {
        let (status, stats) = place.look(&program, target, options.seconds)?;
        let holds = status.success() || place.was_stopped(&program, target, &stats)?;
        println!("{}", stats.line(target, holds));
        if !holds {
            found.push(target.as_str());
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let (names, folder) = (found.join(", "), place.folder.join("found"));
    let problem = format!(
        "something does not hold for an input of {names}: the inputs are in {}, the reasons at the end of \
         the logs beside it; mend it, and keep the input in fuzz/seeds",
        folder.display()
    );
    Err(problem.into())
}

/// Every target has a folder of seeds.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/seeds"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds the loop. With a target of its own, so that the flags are not those of build scripts as well, and in a
/// folder of its own, so that other builds are not thrown away.
fn build(folder: &Path) -> Result<PathBuf> {
    let host = host()?;
    let mut command = cargo(&["build", "--quiet", "--profile", "fuzz", "--package", "a2ad-fuzz"]);
    command.args(["--features", "libfuzzer", "--bin", "fuzz", "--target", &host]);
    command.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).env("CARGO_TARGET_DIR", folder);
    succeed(&mut command)
        .map_err(|error| format!("{error}; a compiler for C++ is needed for libFuzzer"))?;
    Ok(folder.join(host).join("fuzz/fuzz"))
}

/// The name of the machine as the compiler knows it.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say its host")?.to_owned())
}

/// Where the inputs that were found worth keeping, the logs and the findings are.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn made(&self, names: [&str; 2]) -> Result<PathBuf> {
        let folder = self.folder.join(names[0]).join(names[1]);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Runs one target.
    fn look(&self, program: &Path, target: &str, seconds: u64) -> Result<(ExitStatus, Stats)> {
        let corpus = self.made(["corpus", target])?;
        let found = self.made(["found", target])?;
        let log = self.made(["logs", ""])?.join(format!("{target}.log"));
        let status = Command::new(program)
            .env("FUZZ_TARGET", target)
            .env("FUZZ_CORPUS", &corpus)
            .env_remove(CACHE)
            .args(LIMITS)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-dict={}", root().join("fuzz/dictionary.txt").display()))
            .arg(format!("-artifact_prefix={}/", found.display()))
            .args(["-print_final_stats=1", "-use_value_profile=1"])
            .arg(&corpus)
            .stdout(File::create(log.with_extension("out"))?)
            .stderr(File::create(&log)?)
            .status()?;
        Ok((status, Stats::read(&fs::read_to_string(&log).unwrap_or_default())))
    }

    /// Whether an input has taken too long only because the process was stopped or got no processor: libFuzzer looks
    /// at the clock on the wall. Such an input is tried again alone.
    fn was_stopped(&self, program: &Path, target: &str, stats: &Stats) -> Result<bool> {
        let Some(input) = &stats.too_slow else { return Ok(false) };
        let log = self.made(["logs", ""])?.join(format!("{target}.again.log"));
        let status = Command::new(program)
            .env("FUZZ_TARGET", target)
            .env_remove(CACHE)
            .args(LIMITS)
            .arg(input)
            .stdout(File::create(log.with_extension("out"))?)
            .stderr(File::create(&log)?)
            .status()?;
        if status.success() {
            let input = input.display();
            println!("{target}: {input} took too long, and did not when it was tried again alone");
        }
        Ok(status.success())
    }
}
