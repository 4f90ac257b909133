//! The rows about the server alone: memory, idle streams, slow connections, cancels, long streams.

use super::Bench;
use super::file::{Durability, File};
use super::process::Server;
use super::rows::Row;
use super::table::Line;
use crate::Result;

/// How many tasks are stored between the two looks at the memory.
const RETAINED: usize = 8000;

/// How many streams are open at once.
const STREAMS: usize = 1000;

/// How many connections send a byte a second.
const SLOW: usize = 10_000;

/// The share of one processor below which a server counts as doing nothing.
const IDLE_PERCENT: f64 = 1.0;

impl Bench {
    /// The growth from 1,000 tasks, when buffers and caches have their size, to 9,000.
    pub(super) fn memory(&self, row: &Row) -> Result<Vec<Line>> {
        let server = self.server()?;
        self.store(&server, 1000)?;
        let count = RETAINED.to_string();
        let load = self.load(&server, &["send", "--connections", "32", "--requests", &count])?;
        let each = (load.resident - load.resident_before) / RETAINED as f64;
        Ok(vec![Line::limit(row.about, each, 2900.0, "bytes")])
    }

    /// What an open stream costs while nothing happens. The load generator fails unless every
    /// stream gets its end.
    pub(super) fn idle(&self, row: &Row) -> Result<Vec<Line>> {
        let server = self.server()?;
        self.store(&server, 2000)?;
        // The streams must outlast the time until all are open, and then the window.
        let hold = ((self.seconds + 7.0) * 1000.0).round().to_string();
        let streams = STREAMS.to_string();
        let load = self.load(&server, &["idle", "--streams", &streams, "--hold-ms", &hold])?;
        let each = (load.resident - load.resident_before) / 1024.0 / STREAMS as f64;
        let busy = load.cpu_ms / (self.seconds * 10.0);
        let ended = format!("{} of {STREAMS} got the last event", load.requests);
        Ok(vec![
            Line::limit(row.about, each, 32.0, "KB each").note(ended),
            Line::limit("their processor time", busy, IDLE_PERCENT, "%"),
        ])
    }

    /// How a client that behaves well fares beside slow ones, and what those cost. The load generator fails
    /// when one of them is lost.
    pub(super) fn slow(&self, row: &Row) -> Result<Vec<Line>> {
        let server = self.server()?;
        let alone = self.load(&server, &["send"])?;
        let beside = self.load(&server, &["slow", "--streams", &SLOW.to_string()])?;
        let note = format!(
            "alone p50 {} us, p99 {} us; beside them p50 {} us",
            alone.p50_micros, alone.p99_micros, beside.p50_micros
        );
        let each = (beside.resident - alone.resident) / 1024.0 / SLOW as f64;
        Ok(vec![
            Line::figure(row.about, beside.p99_micros, "us").note(note),
            Line::figure("memory of a slow connection, about", each, "KB"),
        ])
    }

    /// The time of a cancel, from the call to its answer.
    pub(super) fn cancel(&self, row: &Row) -> Result<Vec<Line>> {
        let server = self.server()?;
        let load = self.load(&server, &["cancel", "--streams", "32", "--requests", "200"])?;
        let slowest = format!("p99 {} us", load.p99_micros);
        Ok(vec![Line::figure(&format!("{}, p50", row.about), load.p50_micros, "us").note(slowest)])
    }

    /// Whether a stream of four times the length takes about four times the time, on every store.
    pub(super) fn long(&self, row: &Row) -> Result<Vec<Line>> {
        let file = File::new(self, "sqlite");
        Ok(vec![
            self.long_on(&self.server()?, row.about)?,
            self.long_on(&file.open(self, Durability::Process)?, "the same in a file")?,
        ])
    }

    fn long_on(&self, server: &Server, what: &str) -> Result<Line> {
        let time = |chunks: usize| {
            let (count, bytes) = (chunks.to_string(), (chunks * 64).to_string());
            let load = ["stream", "--requests", "5", "--chunks", &count, "--bytes", &bytes];
            self.load(server, &load).map(|load| load.least_micros)
        };
        let (short, long) = (time(5000)?, time(20_000)?);
        let note = format!("{:.1} ms and {:.1} ms", short / 1000.0, long / 1000.0);
        Ok(Line::limit(what, long / short, 6.0, "times").note(note))
    }
}
