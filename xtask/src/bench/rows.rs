//! The rows of the table: what each measures, how, and what it may cost.

use super::Bench;
use super::table::Line;
use crate::Result;

/// One row. A row may print more than one line.
pub(super) struct Row {
    pub(super) key: &'static str,
    pub(super) about: &'static str,
    /// Takes minutes and gigabytes, and so is measured only when it is named.
    pub(super) on_demand: bool,
    measure: Measure,
}

enum Measure {
    /// Yardstick / server, in processor time per call.
    Ratio {
        /// Tasks that the server holds before.
        stored: usize,
        load: &'static [&'static str],
        budget: f64,
    },
    Own(fn(&Bench, &Row) -> Result<Vec<Line>>),
}

pub(super) const ROWS: [Row; 18] = [
    ratio("send", "message/send, 1 KB, 32 connections", &["send", "--connections", "32"], 0.65),
    ratio("send-1", "message/send, 1 KB, 1 connection", &["send"], 0.75),
    ratio("get", "tasks/get, 1 KB, 32 connections", &["get", "--connections", "32"], 0.80),
    ratio(
        "stream",
        "message/stream, 1 KB in 16 chunks, 32 connections",
        &["stream", "--connections", "32", "--chunks", "16"],
        0.45,
    ),
    own("burst", "a burst of 512 chunks, and of 4,096", Bench::burst),
    // Counted calls instead of a window, because the server keeps every one of these tasks.
    ratio(
        "send-2mb",
        "message/send, 2 MB, 2 connections",
        &["send", "--connections", "2", "--bytes", "2097152", "--requests", "60"],
        0.85,
    ),
    Row {
        key: "list",
        about: "tasks/list, page of 50 among 10,000 tasks",
        on_demand: false,
        measure: Measure::Ratio {
            stored: 10_000,
            load: &["list", "--connections", "8"],
            budget: 0.5,
        },
    },
    own("list-deep", "tasks/list, page 150 against page 1", Bench::deep_page),
    own("memory", "memory per retained 1 KB task", Bench::memory),
    own("idle", "1,000 open streams that say nothing", Bench::idle),
    own("cancel", "tasks/cancel while 32 others run", Bench::cancel),
    own("long", "20,000 chunks against 5,000", Bench::long),
    own("file", "message/send, 1 KB, in a file, 32 connections", Bench::file),
    Row {
        on_demand: true,
        ..own("stored", "1,000,000 tasks in a file against 10,000", Bench::stored)
    },
    own("start", "start to first answer", Bench::start),
    own("http", "a run of http over a call of the service, p50", Bench::http_overhead),
    own("command", "a run of command over starting the program, p50", Bench::command_overhead),
    own("stop", "gone after a cancel, p50", Bench::stop),
];

const fn ratio(
    key: &'static str,
    about: &'static str,
    load: &'static [&'static str],
    budget: f64,
) -> Row {
    Row { key, about, on_demand: false, measure: Measure::Ratio { stored: 0, load, budget } }
}

const fn own(
    key: &'static str,
    about: &'static str,
    measure: fn(&Bench, &Row) -> Result<Vec<Line>>,
) -> Row {
    Row { key, about, on_demand: false, measure: Measure::Own(measure) }
}

impl Bench {
    pub(super) fn measure(&self, row: &Row) -> Result<Vec<Line>> {
        match row.measure {
            Measure::Ratio { stored, load, budget } => {
                Ok(vec![self.ratio(row.about, stored, load, budget)?])
            }
            Measure::Own(measure) => measure(self, row),
        }
    }
}
