//! `interop`: the published SDKs of other languages, unmodified, against the running server.
//! What is run is in `tests/interop`, what it showed in `docs/interop.md`.

mod cache;
mod client;
mod install;
mod sdk;
mod server;
mod table;

use crate::Result;
use crate::cargo::{cargo, succeed};
use crate::packages;
use client::Outcome;
use sdk::{ROWS, Row};
use server::Server;
use std::fs;
use std::path::{Path, PathBuf};

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
struct Request {
    /// A server that was built before, instead of the one of this workspace.
    server: Option<PathBuf>,
    install_only: bool,
}

/// Runs every client with everything it can speak, and prints one table. A row that fails does
/// not keep the others from running.
pub(crate) fn run(arguments: &[String]) -> Result {
    let request = parse(arguments)?;
    let installed = install::all()?;
    if request.install_only {
        return Ok(());
    }
    let target = packages::read()?.target;
    let binary = match request.server {
        Some(binary) => binary,
        None => {
            succeed(&mut cargo(&["build", "--package", "a2ad"]))?;
            target.join("debug/a2ad")
        }
    };
    let work = target.join("interop");
    fs::create_dir_all(&work)?;
    let config = server::config(&binary, &work)?;
    let server = Server::start(&binary, &config, &work.join("server.log"))?;
    let outcomes = run_rows(&installed, &work, server.url());
    let stopped = server.stop();

    println!("\n{}", table::head());
    for (row, outcome) in ROWS.iter().zip(&outcomes) {
        println!("{}", table::line(row, outcome));
    }
    stopped?;
    match outcomes.iter().filter(|outcome| !outcome.is_success()).count() {
        0 => Ok(()),
        failed => Err(format!("interop: {failed} of {} rows failed", ROWS.len()).into()),
    }
}

fn run_rows(installed: &install::Installed, work: &Path, url: &str) -> Vec<Outcome> {
    let one = |row: &Row| {
        println!("interop: {row}");
        let outcome = client::run(row, installed, work, url)
            .unwrap_or_else(|error| Outcome::did_not_run(error.to_string()));
        for problem in &outcome.problems {
            println!("  {problem}");
        }
        outcome
    };
    ROWS.iter().map(one).collect()
}

fn parse(arguments: &[String]) -> Result<Request> {
    let mut request = Request::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--server" => {
                let binary = arguments.next().ok_or("--server takes the path of a binary")?;
                request.server = Some(binary.into());
            }
            "--install-only" => request.install_only = true,
            other => {
                let known = "--server BINARY and --install-only";
                return Err(format!("interop does not know {other}; it knows {known}").into());
            }
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn a_server_can_be_named() {
        assert_eq!(parsed("").unwrap(), Request::default());
        let server = Some("x/a2ad".into());
        let request = Request { server, install_only: true };
        assert_eq!(parsed("--server x/a2ad --install-only").unwrap(), request);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parsed("--server").is_err());
        assert!(parsed("js").err().unwrap().to_string().starts_with("interop does not know js"));
    }
}
