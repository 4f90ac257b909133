//! The rows about a server that keeps its tasks in a file: what a send costs, how many there are in a second
//! with either promise, and whether anything depends on how much is stored.

use super::Bench;
use super::process::Server;
use super::rows::Row;
use super::table::Line;
use crate::Result;
use std::path::PathBuf;
use std::time::Instant;

/// How many tasks are stored in the smaller and in the larger file.
const FEW: usize = 10_000;
const MANY: usize = 1_000_000;

const GIGABYTE: f64 = 1e9;

/// What the server promises of an answer.
#[derive(Clone, Copy)]
pub(super) enum Durability {
    Process,
    Power,
}

/// A store's file, removed when this is dropped.
pub(super) struct File {
    path: PathBuf,
    config: PathBuf,
}

impl File {
    pub(super) fn new(bench: &Bench, name: &str) -> Self {
        let config = bench.binary(&format!("{name}.bench.toml"));
        let file = Self { path: bench.binary(&format!("{name}.bench.db")), config };
        file.remove();
        file
    }

    /// A server with this file, new or as another server has left it.
    pub(super) fn open(&self, bench: &Bench, durability: Durability) -> Result<Server> {
        let config = std::fs::read_to_string(Bench::config())?;
        let durability = match durability {
            Durability::Process => "process",
            Durability::Power => "power",
        };
        let store = format!(
            "kind = \"sqlite\"\npath = \"{}\"\ndurability = \"{durability}\"\n\
             max_tasks = {}\nmax_bytes = \"64GiB\"",
            self.path.display(),
            MANY * 2,
        );
        std::fs::write(&self.config, config.replace("kind = \"memory\"", &store))?;
        bench.server_of(&self.config)
    }

    fn bytes(&self) -> f64 {
        let sizes = self.names().map(|name| std::fs::metadata(name).map_or(0, |it| it.len()));
        sizes.sum::<u64>() as f64
    }

    fn names(&self) -> impl Iterator<Item = PathBuf> {
        ["", "-wal", "-shm", "-lock"].into_iter().map(|ending| {
            let mut name = self.path.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        })
    }

    fn remove(&self) {
        self.names().for_each(|name| drop(std::fs::remove_file(name)));
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The loads that must not depend on how much is stored.
const FLAT: [(&str, &[&str]); 3] = [
    ("tasks/get", &["get", "--connections", "8", "--stored", "1000"]),
    ("a page of tasks/list", &["list", "--connections", "8"]),
    ("message/send", &["send", "--connections", "32"]),
];

impl Bench {
    /// What a send costs, and how many there are in a second: at once and one after the other, with either
    /// promise.
    pub(super) fn file(&self, row: &Row) -> Result<Vec<Line>> {
        let many: &[&str] = &["send", "--connections", "32"];
        let mut lines = Vec::new();
        for (name, durability) in [("process", Durability::Process), ("power", Durability::Power)] {
            let file = File::new(self, "sqlite");
            let server = file.open(self, durability)?;
            if matches!(durability, Durability::Process) {
                lines.push(self.ratio_of(&self.yardstick()?, &server, row.about, many, 0.2)?);
                let log = File::new(self, "yardstick");
                let durable = self.durable_yardstick(&log.path)?;
                let what = "the same against a handler that logs both messages";
                lines.push(self.ratio_of(&durable, &server, what, many, 0.5)?);
            }
            for (what, load) in [("32 connections", many), ("1 connection", &many[..1])] {
                let sent = self.load(&server, load)?;
                let rate = sent.requests / self.seconds;
                let what = format!("sends a second, durability {name}, {what}");
                lines.push(Line::figure(&what, rate, "/s"));
            }
        }
        Ok(lines)
    }

    /// The same with a hundred times as many tasks in the file, each time by a server that has just been
    /// started, so that nothing is at hand that was not read from there.
    pub(super) fn stored(&self, row: &Row) -> Result<Vec<Line>> {
        let file = File::new(self, "sqlite");
        self.fill(&file, FEW)?;
        let few = self.flat(&file)?;
        self.fill(&file, MANY - FEW)?;
        let start = Instant::now();
        drop(file.open(self, Durability::Process)?);
        let start = start.elapsed().as_secs_f64();
        let size = format!("{:.1} GB", file.bytes() / GIGABYTE);
        let many = self.flat(&file)?;
        let mut lines: Vec<Line> = FLAT
            .iter()
            .zip(few.into_iter().zip(many))
            .map(|((name, _), (few, many))| {
                let note = format!("{few:.1} us and {many:.1} us");
                Line::limit(&format!("{}: {name}", row.about), many / few, 2.0, "times").note(note)
            })
            .collect();
        lines.push(Line::limit("start with them", start, 2.0, "s").note(size));
        Ok(lines)
    }

    /// What each load costs, in microseconds a call.
    fn flat(&self, file: &File) -> Result<Vec<f64>> {
        let server = file.open(self, Durability::Process)?;
        FLAT.iter().map(|(_, load)| self.least_cost(&server, load)).collect()
    }

    fn fill(&self, file: &File, tasks: usize) -> Result {
        self.store(&file.open(self, Durability::Process)?, tasks)
    }
}
