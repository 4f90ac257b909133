//! The processes of a measurement: a server on one processor, the load generator on another.

use super::Bench;
use crate::Result;
use crate::announced::announced;
use serde_json::Value;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SERVER_CORE: &str = "0";
const LOAD_CORE: &str = "1";

/// Pins what follows to a processor, with as many open files as the system lets it have. Both
/// steps end in `exec`, so the process that we started is the one that is measured.
const PINNED: &str = r#"ulimit -n "$(ulimit -H -n)" || true; exec taskset -c "$0" "$@""#;

/// Says what is missing on this machine.
pub(super) fn check_tools() -> Result {
    let taskset = Command::new("taskset").args(["-c", LOAD_CORE, "true"]).output();
    match taskset {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err("bench needs two processors: one for the server, one for the load".into()),
        Err(error) => Err(format!("bench needs taskset (package util-linux): {error}").into()),
    }
}

fn pinned(core: &str, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", PINNED, core]).arg(program).stdin(Stdio::null());
    command
}

/// A server under test, ended when it is dropped.
pub(super) struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when the process has ended by itself, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Where it listens.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.url.trim_start_matches("http://").parse()?)
    }
}

/// What the load generator reports.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) requests: f64,
    pub(super) cpu_ms: f64,
    pub(super) bytes: f64,
    pub(super) p50_micros: f64,
    pub(super) p99_micros: f64,
    pub(super) least_micros: f64,
    pub(super) resident_before: f64,
    pub(super) resident: f64,
}

impl Load {
    /// Milliseconds of processor time per 1,000 calls.
    pub(super) fn cost(&self) -> f64 {
        self.cpu_ms * 1000.0 / self.requests
    }

    fn parse(line: &[u8]) -> Result<Load> {
        let report: Value = serde_json::from_slice(line)?;
        let number = |key: &str| {
            let number = report[key].as_f64();
            number.ok_or_else(|| format!("the load generator reports no number `{key}`"))
        };
        Ok(Load {
            requests: number("requests")?,
            cpu_ms: number("cpu_ms")?,
            bytes: number("bytes")?,
            p50_micros: number("p50_micros")?,
            p99_micros: number("p99_micros")?,
            least_micros: number("least_micros")?,
            resident_before: number("resident_before")?,
            resident: number("resident")?,
        })
    }
}

impl Bench {
    /// A fresh yardstick.
    pub(super) fn yardstick(&self) -> Result<Server> {
        self.serve(&mut pinned(SERVER_CORE, &self.binary("yardstick")), "yardstick")
    }

    /// A yardstick that keeps what it is sent and what it answers in a new file.
    pub(super) fn durable_yardstick(&self, file: &Path) -> Result<Server> {
        let mut command = pinned(SERVER_CORE, &self.binary("yardstick"));
        self.serve(command.arg(file), "yardstick")
    }

    /// A fresh server.
    pub(super) fn server(&self) -> Result<Server> {
        self.server_of(&Bench::config())
    }

    /// A fresh server with another configuration.
    pub(super) fn server_of(&self, config: &Path) -> Result<Server> {
        let mut command = pinned(SERVER_CORE, &self.binary("a2ad"));
        command.arg("serve").arg("--config").arg(config);
        self.serve(command.args(["--listen", "127.0.0.1:0"]), "a2ad")
    }

    fn serve(&self, command: &mut Command, name: &str) -> Result<Server> {
        let log = self.binary(&format!("{name}.bench.log"));
        let child = command.stdout(Stdio::piped()).stderr(File::create(&log)?).spawn()?;
        let mut server = Server { child, url: String::new() };
        let stdout = server.child.stdout.take().ok_or("the server has no standard output")?;
        server.url = announced(stdout, address).ok_or_else(|| {
            format!("{name} does not say where it listens; its log is {}", log.display())
        })?;
        Ok(server)
    }

    /// Runs a workload to its end. Any wrong answer is an error.
    pub(super) fn load(&self, server: &Server, workload: &[&str]) -> Result<Load> {
        let output = pinned(LOAD_CORE, &self.binary("loadgen"))
            .args(workload)
            .args(["--url", &server.url, "--pid", &server.child.id().to_string()])
            .args(["--seconds", &self.seconds.to_string()])
            .output()?;
        if output.status.success() {
            return Load::parse(&output.stdout);
        }
        let problem = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {}", workload.join(" "), problem.trim()).into())
    }
}

fn address(line: &str) -> Option<&str> {
    let url = line.split_once("listening on ")?.1;
    let end = url.find(|c: char| c.is_whitespace()).unwrap_or(url.len());
    url.starts_with("http://").then_some(url[..end].trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_its_line() {
        let url = "http://127.0.0.1:4000";
        assert_eq!(address(&format!("listening on {url}")), Some(url));
        assert_eq!(address(&format!("a2ad listening on {url}/ with 2 agents")), Some(url));
        assert_eq!(address("try: curl http://127.0.0.1:4000"), None);
    }

    #[test]
    fn a_report_is_complete_or_refused() {
        let line = br#"{"requests":2000,"cpu_ms":50.0,"bytes":1,"p50_micros":1,"p99_micros":2,
            "least_micros":1,"resident_before":0,"resident":9}"#;
        assert!((Load::parse(line).unwrap().cost() - 25.0).abs() < 1e-9);
        let error = Load::parse(b"{}").err().unwrap().to_string();
        assert_eq!(error, "the load generator reports no number `requests`");
    }
}
