//! The rows that compare processor time: with the yardstick, or of the server with itself.

use super::Bench;
use super::process::Server;
use super::rows::Row;
use super::table::Line;
use crate::Result;

/// A disturbance only ever adds to processor time, so the least of the rounds is closest to
/// the truth.
const ROUNDS: usize = 3;

/// How large a difference in the size of the answers is worth a note. Beyond it the two sides
/// do not do the same work.
const SAME_SIZE: f64 = 0.05;

impl Bench {
    /// What a call costs the yardstick and the server, which holds that many tasks.
    pub(super) fn ratio(
        &self,
        what: &str,
        stored: usize,
        load: &[&str],
        budget: f64,
    ) -> Result<Line> {
        let server = self.server()?;
        self.store(&server, stored)?;
        self.ratio_of(&self.yardstick()?, &server, what, load, budget)
    }

    /// Both sides take turns, so that a disturbance meets both.
    pub(super) fn ratio_of(
        &self,
        yardstick: &Server,
        server: &Server,
        what: &str,
        load: &[&str],
        budget: f64,
    ) -> Result<Line> {
        let (mut limit, mut cost) = (f64::INFINITY, f64::INFINITY);
        let (mut expected, mut bytes) = (0.0, 0.0);
        for _ in 0..ROUNDS {
            let load_of = |server| self.load(server, load);
            let (bare, real) = (load_of(yardstick)?, load_of(server)?);
            limit = limit.min(bare.cost());
            cost = cost.min(real.cost());
            expected = bare.bytes / bare.requests;
            bytes = real.bytes / real.requests;
        }
        let line = Line::ratio(what, limit, cost, budget);
        let same = (bytes / expected - 1.0).abs() <= SAME_SIZE;
        let note = format!("answers of {bytes:.0} bytes, the yardstick's have {expected:.0}");
        Ok(if same { line } else { line.note(note) })
    }

    /// The cost of a chunk in a burst, and whether it stays the same in a long one. The load
    /// generator fails when a chunk is lost.
    pub(super) fn burst(&self, row: &Row) -> Result<Vec<Line>> {
        let short = self.chunk(512)?;
        let long = self.chunk(4096)?;
        Ok(vec![
            Line::limit(row.about, short, 2.5, "us/chunk"),
            Line::limit("a chunk of 4,096 against one of 512", long / short, 1.2, "times"),
        ])
    }

    /// Microseconds of processor time per chunk.
    fn chunk(&self, chunks: usize) -> Result<f64> {
        let server = self.server()?;
        let (count, bytes) = (chunks.to_string(), (chunks * 64).to_string());
        let load = ["stream", "--connections", "4", "--chunks", &count, "--bytes", &bytes];
        Ok(self.least_cost(&server, &load)? / chunks as f64)
    }

    /// The cost of a page far behind, as a multiple of the first.
    pub(super) fn deep_page(&self, row: &Row) -> Result<Vec<Line>> {
        let server = self.server()?;
        self.store(&server, 10_000)?;
        let first = self.least_cost(&server, &["list", "--connections", "8"])?;
        let deep = self.least_cost(&server, &["list", "--connections", "8", "--page", "150"])?;
        Ok(vec![Line::limit(row.about, deep / first, 1.2, "times")])
    }

    pub(super) fn least_cost(&self, server: &Server, load: &[&str]) -> Result<f64> {
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            least = least.min(self.load(server, load)?.cost());
        }
        Ok(least)
    }

    /// Has the server hold that many completed tasks of 1 KB.
    pub(super) fn store(&self, server: &Server, tasks: usize) -> Result {
        if tasks > 0 {
            let count = tasks.to_string();
            self.load(server, &["send", "--connections", "32", "--requests", &count])?;
        }
        Ok(())
    }
}
