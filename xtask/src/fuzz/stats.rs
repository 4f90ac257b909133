//! What a run says of itself at its end.

use std::path::PathBuf;

/// Before the place of an input that ends a run.
const WRITTEN: &str = "Test unit written to ";

/// The figures of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stats {
    inputs: u64,
    seconds: u64,
    coverage: u64,
    kept: u64,
    peak_mb: u64,
    slowest: u64,
    /// The input that took longer than it may.
    pub(super) too_slow: Option<PathBuf>,
}

impl Stats {
    /// Reads the log of a run. A run that has found something may say less.
    pub(super) fn read(log: &str) -> Self {
        let mut stats = Self::default();
        for line in log.lines() {
            if let Some((_, path)) = line.split_once(WRITTEN) {
                let path = PathBuf::from(path);
                let name = path.file_name().unwrap_or_default();
                let is_slow = name.to_string_lossy().starts_with("timeout-");
                stats.too_slow = is_slow.then_some(path);
            }
            let mut words = line.split_whitespace();
            match words.next() {
                Some("stat::number_of_executed_units:") => stats.inputs = number(words.next()),
                Some("stat::slowest_unit_time_sec:") => stats.slowest = number(words.next()),
                Some("stat::peak_rss_mb:") => stats.peak_mb = number(words.next()),
                Some("Done") => stats.seconds = number(words.nth(3)),
                Some(first) if first.starts_with('#') => stats.step(first, line),
                Some(_) | None => {}
            }
        }
        stats
    }

    /// A line such as `#1024 NEW cov: 700 ft: 900 corp: 20/1000b exec/s: 99 rss: 40Mb`.
    fn step(&mut self, first: &str, line: &str) {
        let after = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            Some(number(rest.split_whitespace().next()))
        };
        self.inputs = self.inputs.max(number(first.strip_prefix('#')));
        self.coverage = after("cov: ").unwrap_or(self.coverage);
        self.kept = after("corp: ").unwrap_or(self.kept);
        self.peak_mb = self.peak_mb.max(after("rss: ").unwrap_or(0));
    }

    /// One line for people, and for a table.
    pub(super) fn line(&self, target: &str, holds: bool) -> String {
        let Self { inputs, seconds, coverage, kept, peak_mb, slowest, too_slow: _ } = self;
        let result = if holds { "nothing found" } else { "FOUND" };
        format!(
            "{target}: {result} in {inputs} inputs and {seconds} s; coverage {coverage}, {kept} inputs kept, \
             peak {peak_mb} MB, slowest {slowest} s"
        )
    }
}

/// The digits that a word begins with.
fn number(word: Option<&str>) -> u64 {
    let word = word.unwrap_or_default();
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    word[..end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO: Seed: 1\n#2\tINITED cov: 7 ft: 7 corp: 1/1b exec/s: 0 rss: 27Mb\n\
        #4096\tNEW    cov: 812 ft: 900 corp: 33/512b lim: 4 exec/s: 0 rss: 41Mb L: 4/4 MS: 1 X-\n\
        #9000\tDONE   cov: 812 ft: 901 corp: 33/512b lim: 90 exec/s: 900 rss: 41Mb\n\
        Done 9000 runs in 10 second(s)\nstat::number_of_executed_units: 9000\n\
        stat::slowest_unit_time_sec:    1\nstat::peak_rss_mb:              42\n";

    #[test]
    fn a_log_becomes_a_line() {
        assert_eq!(
            Stats::read(LOG).line("params", true),
            "params: nothing found in 9000 inputs and 10 s; coverage 812, 33 inputs kept, peak 42 MB, \
             slowest 1 s"
        );
    }

    #[test]
    fn a_run_that_ends_early_still_says_how_far_it_came() {
        let stats =
            Stats::read("#4096\tNEW    cov: 8 ft: 9 corp: 3/5b lim: 4 exec/s: 0 rss: 41Mb\n");
        assert_eq!((stats.inputs, stats.coverage, stats.kept), (4096, 8, 3));
        assert!(stats.line("params", false).starts_with("params: FOUND in 4096 inputs"));
    }

    #[test]
    fn an_input_that_took_too_long_is_known_from_one_for_which_something_does_not_hold() {
        let read = |name: &str| {
            let line =
                format!("artifact_prefix='/f/'; Test unit written to /f/{name}\nBase64: eA==\n");
            Stats::read(&line).too_slow
        };
        assert_eq!(read("timeout-00ff"), Some(PathBuf::from("/f/timeout-00ff")));
        assert_eq!(read("crash-00ff"), None);
    }
}
