//! The row about time as a tell-tale: whether a task that belongs to somebody else can be told from one that
//! does not exist by how long the answer takes.

use super::Bench;
use super::process::Server;
use super::rows::Row;
use super::table::Line;
use crate::Result;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// How many reads of each kind are timed, and before that are made for nothing.
const READS: usize = 20_000;
const WARM_UP: usize = 1000;

/// How many tasks the reads go round.
const TASKS: usize = 64;

const PERCENTILES: [(&str, usize); 4] = [("p10", 10), ("p50", 50), ("p90", 90), ("p99", 99)];

impl Bench {
    pub(super) fn alike(&self, row: &Row) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        for (store, what) in [("kind = \"memory\"", "memory"), ("kind = \"sqlite\"", "a file")] {
            let folder = self.binary("alike.bench");
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder)?;
            let keys = folder.join("keys.jsonl");
            let (ann, bob) = (self.key(&keys, "ann")?, self.key(&keys, "bob")?);
            let config = folder.join("a2ad.toml");
            let (path, keys) = (folder.join("tasks.db"), keys.display());
            std::fs::write(
                &config,
                format!(
                    "[store]\n{store}\npath = \"{}\"\n[auth]\nkeys = \"{keys}\"\n\
                     [[agent]]\nid = \"echo\"\nexecutor = {{ kind = \"echo\" }}\n",
                    path.display()
                ),
            )?;
            let server = self.server_of(&config)?;
            let [foreign, unknown] = measured(&server, &ann, &bob)?;
            for (kind, times) in [("foreign", &foreign), ("unknown", &unknown)] {
                let note =
                    PERCENTILES.map(|(name, at)| format!("{name} {:.1}", percentile(times, at)));
                let what = format!("{kind} id in {what}, p50");
                let line = Line::figure(&what, percentile(times, 50), "us");
                lines.push(line.note(format!("{}: {}", row.about, note.join(", "))));
            }
        }
        Ok(lines)
    }

    /// A new key.
    fn key(&self, keys: &Path, owner: &str) -> Result<String> {
        let mut create = Command::new(self.binary("a2ad"));
        create.args(["key", "create", "--owner", owner]).env("A2AD_AUTH__KEYS", keys);
        let created = create.output()?;
        if !created.status.success() {
            return Err(String::from_utf8_lossy(&created.stderr).into());
        }
        Ok(String::from_utf8(created.stdout)?.trim().to_owned())
    }
}

/// The times of bob's reads of ann's tasks and of tasks that do not exist, in microseconds and in order. The
/// two kinds take turns, so that a disturbance meets both.
fn measured(server: &Server, ann: &str, bob: &str) -> Result<[Vec<f64>; 2]> {
    let mut caller = Caller::open(server.address()?)?;
    let mut ids = [Vec::new(), Vec::new()];
    for number in 0..TASKS {
        let message = format!(
            r#"{{"message":{{"role":"user","messageId":"m-{number}","parts":[{{"kind":"text","text":"x"}}]}}}}"#
        );
        let sent: Value = serde_json::from_str(&caller.call(ann, "message/send", &message)?)?;
        let id = sent["result"]["id"].as_str().ok_or("no task was opened")?.to_owned();
        // The same id but for its last digits, which are another task's or nobody's.
        ids[1].push(format!(
            "{}{:04x}",
            &id[..id.len() - 4],
            !u16::from_str_radix(&id[id.len() - 4..], 16)?
        ));
        ids[0].push(id);
    }
    let mut times = [Vec::with_capacity(READS), Vec::with_capacity(READS)];
    for round in 0..READS + WARM_UP {
        // Which comes first changes, too.
        for kind in [round % 2, (round + 1) % 2] {
            let params = format!(r#"{{"id":"{}"}}"#, ids[kind][round % TASKS]);
            let start = Instant::now();
            let answer = caller.call(bob, "tasks/get", &params)?;
            let took = start.elapsed();
            if !answer.contains("-32001") {
                return Err(format!("a task is told to a stranger: {answer}").into());
            }
            if round >= WARM_UP {
                times[kind].push(took.as_secs_f64() * 1e6);
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    Ok(times)
}

fn percentile(sorted: &[f64], at: usize) -> f64 {
    sorted.get(sorted.len() * at / 100).copied().unwrap_or_default()
}

/// A connection that shows keys.
struct Caller {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Caller {
    fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Makes a call; its answer, which has a length.
    fn call(&mut self, key: &str, method: &str, params: &str) -> Result<String> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let request = format!(
            "POST /api/v1/a2a/echo/jsonrpc HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        self.buffer.clear();
        let mut piece = [0; 4096];
        loop {
            let read = self.stream.read(&mut piece)?;
            if read == 0 {
                return Err("the server closed the connection".into());
            }
            self.buffer.extend_from_slice(&piece[..read]);
            let text = std::str::from_utf8(&self.buffer)?;
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() == length.ok_or("an answer without a length")?.parse::<usize>()? {
                return Ok(body.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_sorted_times() {
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let taken = PERCENTILES.map(|(_, at)| percentile(&times, at));
        assert_eq!(taken.map(|time| time.round() as usize), [10, 50, 90, 99]);
    }
}
