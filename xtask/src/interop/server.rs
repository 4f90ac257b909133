//! The server under test: started on a free port, told to end as an operator would.

use crate::Result;
use crate::announced::{PATIENCE, announced};
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// Makes a key, and a configuration by which cards and notifications are signed with it and clients may have
/// webhooks on this machine, and that changes nothing else.
pub(super) fn config(binary: &Path, work: &Path) -> Result<PathBuf> {
    let (key, config) = (work.join("key.pem"), work.join("a2ad.toml"));
    if key.exists() {
        fs::remove_file(&key)?;
    }
    let made =
        Command::new(binary).args(["key", "signing"]).arg(&key).stdin(Stdio::null()).output()?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        return Err(format!("no key could be made: {said}").into());
    }
    let key = key.display().to_string();
    let text =
        format!("[cards]\nkeys = [{key:?}]\n[push]\nallow_private = true\nkeys = [{key:?}]\n");
    fs::write(&config, text)?;
    Ok(config)
}

/// A running server, killed when it is dropped.
pub(super) struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when the process has ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts the server.
    pub(super) fn start(binary: &Path, config: &Path, log: &Path) -> Result<Server> {
        let mut command = Command::new(binary);
        // What is set for another server, or for this runner, is no business of this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("A2AD_") {
                command.env_remove(name);
            }
        }
        // A client that broke off leaves tasks behind that nobody needs to wait for.
        command.env("A2AD_SERVER__DRAIN", "1s");
        let child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory", "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log)?)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
        let mut server = Server { child, url: String::new() };
        let stdout = server.child.stdout.take().ok_or("the server has no standard output")?;
        server.url =
            announced(stdout, |line| line.strip_prefix("listening on ")).ok_or_else(|| {
                format!("the server does not say where it listens; its log is {}", log.display())
            })?;
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Asks the server to end, and waits until it has done so in good order.
    pub(super) fn stop(mut self) -> Result {
        if let Some(status) = self.child.try_wait()? {
            return Err(format!("the server ended before it was told to: {status}").into());
        }
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status()?;
        if !told.success() {
            return Err(format!("cannot signal the server: kill ended with {told}").into());
        }
        // A killer that waits longer than the server should take; it is told when it can go.
        let (ended, late) = mpsc::channel::<()>();
        let killer = thread::spawn(move || {
            if late.recv_timeout(PATIENCE).is_err() {
                // That it cannot be killed can only mean that it has ended just now.
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        let status = self.child.wait()?;
        // Nobody listens once the patience is over.
        let _ = ended.send(());
        killer.join().map_err(|_| "the thread that watches the end of the server panicked")?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the server ended with {status} when it was told to").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that stands in for the server.
    fn program(name: &str, script: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        // A process of its own writes it: what this one holds open for writing is inherited by the processes
        // that other tests start at the same time, and cannot be run meanwhile.
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod +x "$0""#;
        let written = Command::new("sh").args(["-c", write]).arg(&path).arg(script).status();
        assert!(written.unwrap().success());
        path
    }

    #[test]
    fn a_server_is_started_and_ended() {
        let script = "tail -f /dev/null & child=$!; trap 'kill $child; exit 0' TERM; \
                      echo listening on http://127.0.0.1:1/; wait";
        let program = program("a2ad-interop-good", script);
        let log = program.with_extension("log");
        let server = Server::start(&program, Path::new("none"), &log).unwrap();
        assert_eq!(server.url(), "http://127.0.0.1:1");
        server.stop().unwrap();
        fs::remove_file(program).unwrap();
        fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_server_that_says_nothing_is_an_error() {
        let program = program("a2ad-interop-mute", "exit 0");
        let log = program.with_extension("log");
        let error = Server::start(&program, Path::new("none"), &log).err().unwrap().to_string();
        assert!(error.starts_with("the server does not say where it listens"), "{error}");
        fs::remove_file(program).unwrap();
        fs::remove_file(log).unwrap();
    }
}
