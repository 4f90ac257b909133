//! Counts calls, times them, and says when to stop.

use crate::Result;
use crate::options::Options;
use crate::usage::Usage;
use futures_util::future::try_join_all;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// What does not count: connections are opened and caches are filled.
const WARM_UP: Duration = Duration::from_millis(500);

/// What the workers of a workload share. They take turns on one thread, and none holds a
/// borrow over an await.
pub(crate) struct Meter {
    next: Cell<u64>,
    stopped: Cell<bool>,
    limit: Option<u64>,
    bytes: Cell<u64>,
    micros: RefCell<Vec<u32>>,
}

/// The line that is printed.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) requests: usize,
    pub(crate) failures: usize,
    pub(crate) seconds: f64,
    pub(crate) p50_micros: u32,
    pub(crate) p99_micros: u32,
    pub(crate) least_micros: u32,
    /// Of all answers, without HTTP.
    pub(crate) bytes: u64,
    /// Processor time of the process under test within the window.
    pub(crate) cpu_ms: f64,
    /// Its resident memory before and after.
    pub(crate) resident_before: u64,
    pub(crate) resident: u64,
}

impl Report {
    /// The report of a run that a wrong answer has ended.
    pub(crate) fn failed() -> Report {
        Report { failures: 1, ..Report::default() }
    }

    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).expect("a struct of numbers is serialisable")
    }
}

impl Meter {
    pub(crate) fn new(limit: Option<u64>) -> Meter {
        Meter {
            next: Cell::new(1),
            stopped: Cell::new(false),
            limit,
            bytes: Cell::new(0),
            micros: RefCell::default(),
        }
    }

    /// The number of the next call, or none when it is time to stop.
    pub(crate) fn next(&self) -> Option<u64> {
        let number = self.next.get();
        let over = self.limit.is_some_and(|limit| number > limit);
        if over || self.stopped.get() {
            return None;
        }
        self.next.set(number + 1);
        Some(number)
    }

    /// Counts a call that was answered as it should be.
    pub(crate) fn count(&self, since: Instant, bytes: usize) {
        let micros = since.elapsed().as_micros();
        self.micros.borrow_mut().push(u32::try_from(micros).unwrap_or(u32::MAX));
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    /// Runs the workers to the end of the window or of the calls, whichever was asked for.
    pub(crate) async fn measure<W>(&self, options: &Options, workers: Vec<W>) -> Result<Report>
    where
        W: Future<Output = Result>,
    {
        let work = try_join_all(workers);
        if self.limit.is_some() {
            let (start, before) = (Instant::now(), Usage::of(options.pid)?);
            work.await?;
            return self.report(start, before, Usage::of(options.pid)?);
        }
        let window = async {
            tokio::time::sleep(WARM_UP).await;
            self.micros.borrow_mut().clear();
            self.bytes.set(0);
            let (start, before) = (Instant::now(), Usage::of(options.pid)?);
            tokio::time::sleep(options.window).await;
            let report = self.report(start, before, Usage::of(options.pid)?);
            self.stopped.set(true);
            report
        };
        let (_, report) = tokio::try_join!(work, window)?;
        Ok(report)
    }

    fn report(&self, start: Instant, before: Usage, after: Usage) -> Result<Report> {
        let mut micros = self.micros.borrow().clone();
        if micros.is_empty() {
            return Err("no call was answered within the window".into());
        }
        micros.sort_unstable();
        let quantile = |percent: usize| micros[(micros.len() - 1) * percent / 100];
        Ok(Report {
            requests: micros.len(),
            failures: 0,
            seconds: start.elapsed().as_secs_f64(),
            p50_micros: quantile(50),
            p99_micros: quantile(99),
            least_micros: quantile(0),
            bytes: self.bytes.get(),
            cpu_ms: (after.cpu - before.cpu).as_secs_f64() * 1000.0,
            resident_before: before.resident,
            resident: after.resident,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_up_to_the_limit() {
        let meter = Meter::new(Some(2));
        assert_eq!([meter.next(), meter.next(), meter.next()], [Some(1), Some(2), None]);
    }

    #[test]
    fn a_window_without_an_answer_is_a_failure() {
        let meter = Meter::new(None);
        let report = meter.report(Instant::now(), Usage::default(), Usage::default());
        assert!(report.is_err());
        meter.count(Instant::now(), 10);
        let report = meter.report(Instant::now(), Usage::default(), Usage::default()).unwrap();
        assert_eq!((report.requests, report.bytes), (1, 10));
    }
}
