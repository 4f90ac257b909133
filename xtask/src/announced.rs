//! Where a server that we have started listens: it says so on its standard output.

use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long whoever starts a server waits for it to be there or to be gone: more than any machine needs, so
/// that only one that hangs is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// Waits for the line in which `address` finds one. A thread goes on reading after it, so that the
/// server never meets a full or a closed pipe.
pub(crate) fn announced(stdout: ChildStdout, address: fn(&str) -> Option<&str>) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some(url) = address(&line) {
                // Nobody waits any more once the patience is over.
                let _ = sender.send(url.trim_end_matches('/').to_owned());
            }
        }
    });
    receiver.recv_timeout(PATIENCE).ok()
}
