//! The row about starting: from the start of the process to its first completed task.

use super::Bench;
use super::rows::Row;
use super::table::Line;
use crate::Result;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Starts vary more than anything else here, so the middle of some is taken.
const STARTS: usize = 9;

/// How often a connection is tried.
const POLL: Duration = Duration::from_micros(500);

/// How long a start may take at all.
const PATIENCE: Duration = Duration::from_secs(10);

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user","messageId":"first","parts":[{"kind":"text","text":"first"}]},"configuration":{"blocking":true}}}"#;

impl Bench {
    pub(super) fn start(&self, row: &Row) -> Result<Vec<Line>> {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            times.push(self.start_once()?);
        }
        times.sort_unstable();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let middle = milliseconds(times[STARTS / 2]);
        let note = format!("least {:.2} ms of {STARTS}", milliseconds(times[0]));
        Ok(vec![Line::limit(row.about, middle, 20.0, "ms").note(note)])
    }

    /// The server is told a port, because waiting for it to say one would be part of the time.
    fn start_once(&self) -> Result<Duration> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let start = Instant::now();
        let child = Command::new(self.binary("a2ad"))
            .arg("serve")
            .arg("--config")
            .arg(Bench::config())
            .args(["--listen", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut started = Started(child);
        let stream = started.connect(address, start)?;
        answered(stream, address)?;
        Ok(start.elapsed())
    }
}

/// A server that is ended whatever happens.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // Both fail only when the process has ended by itself, and then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Started {
    fn connect(&mut self, address: SocketAddr, start: Instant) -> Result<TcpStream> {
        while start.elapsed() < PATIENCE {
            if let Ok(stream) = TcpStream::connect(address) {
                return Ok(stream);
            }
            if let Some(status) = self.0.try_wait()? {
                return Err(format!("the server ended when it should start: {status}").into());
            }
            thread::sleep(POLL);
        }
        Err(format!("no connection to {address} within {PATIENCE:?}").into())
    }
}

/// Sends a message, and reads until the task is completed.
fn answered(mut stream: TcpStream, address: SocketAddr) -> Result {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = format!(
        "POST /api/v1/a2a/echo/jsonrpc HTTP/1.1\r\nHost: {address}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        CALL.len()
    );
    stream.write_all((head + CALL).as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        let length = stream.read(&mut part)?;
        answer.extend_from_slice(&part[..length]);
        let text = String::from_utf8_lossy(&answer);
        if text.contains(r#""state":"completed""#) {
            return Ok(());
        }
        if length == 0 || text.contains(r#""error":"#) {
            return Err(format!("the first answer is {text:?}").into());
        }
    }
}
