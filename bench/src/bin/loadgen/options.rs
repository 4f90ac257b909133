//! The command line of the load generator.

use crate::Result;
use a2ad_bench::KILOBYTE;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: loadgen <send|get|list|stream|idle|cancel> --url http://HOST:PORT [options]

  --pid PID           the process whose processor time and memory are reported
  --connections N     how many calls are under way at once (1)
  --seconds S         how long to measure, after half a second that does not count (3)
  --requests N        end after N calls instead
  --bytes N           the size of the text (1024)
  --stored N          get: read the newest N tasks that are there instead of making 1,000
  --chunks N          stream: in how many pieces the text is to come (16)
  --page N            list: which page to ask for, counted from 1 (1)
  --streams N         idle: how many streams are open; cancel: how many others run (32)
  --hold-ms MS        idle: how long each stream says nothing (10000)";

/// What the load consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Blocking sends to the echo agent.
    Send,
    /// Reads of stored tasks.
    Get,
    /// Reads of one page.
    List,
    /// Whole streams of the script agent.
    Stream,
    /// Streams that are open and silent.
    Idle,
    /// Cancels while others run.
    Cancel,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) workload: Workload,
    pub(crate) address: SocketAddr,
    pub(crate) pid: Option<u32>,
    pub(crate) connections: usize,
    pub(crate) window: Duration,
    pub(crate) requests: Option<u64>,
    pub(crate) bytes: usize,
    pub(crate) stored: Option<usize>,
    pub(crate) chunks: usize,
    pub(crate) page: usize,
    pub(crate) streams: usize,
    pub(crate) hold: Duration,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options> {
        let workload = workload(arguments.next().as_deref())?;
        let mut address = None;
        let mut options = Options {
            workload,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            pid: None,
            connections: 1,
            window: Duration::from_secs(3),
            requests: None,
            bytes: KILOBYTE,
            stored: None,
            chunks: 16,
            page: 1,
            streams: 32,
            hold: Duration::from_secs(10),
        };
        while let Some(flag) = arguments.next() {
            let Some(text) = arguments.next() else {
                return Err(format!("{flag} has no value"));
            };
            match flag.as_str() {
                "--url" => address = Some(host(&flag, &text)?),
                "--pid" => options.pid = Some(value(&flag, &text)?),
                "--connections" => options.connections = value(&flag, &text)?,
                "--seconds" => options.window = seconds(&flag, &text)?,
                "--requests" => options.requests = Some(value(&flag, &text)?),
                "--bytes" => options.bytes = value(&flag, &text)?,
                "--stored" => options.stored = Some(value(&flag, &text)?),
                "--chunks" => options.chunks = value(&flag, &text)?,
                "--page" => options.page = value(&flag, &text)?,
                "--streams" => options.streams = value(&flag, &text)?,
                "--hold-ms" => options.hold = Duration::from_millis(value(&flag, &text)?),
                _ => return Err(format!("there is no option {flag}")),
            }
        }
        options.address = address.ok_or("--url is missing")?;
        Ok(options)
    }
}

fn workload(name: Option<&str>) -> Result<Workload> {
    match name {
        Some("send") => Ok(Workload::Send),
        Some("get") => Ok(Workload::Get),
        Some("list") => Ok(Workload::List),
        Some("stream") => Ok(Workload::Stream),
        Some("idle") => Ok(Workload::Idle),
        Some("cancel") => Ok(Workload::Cancel),
        Some(other) => Err(format!("there is no workload {other}")),
        None => Err("no workload".into()),
    }
}

fn host(flag: &str, url: &str) -> Result<SocketAddr> {
    let Some(host) = url.strip_prefix("http://") else {
        return Err(format!("{flag}: {url} does not begin with http://"));
    };
    value(flag, host.trim_end_matches('/'))
}

fn seconds(flag: &str, text: &str) -> Result<Duration> {
    let seconds = value(flag, text)?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{flag} {text}: {error}"))
}

fn value<T: FromStr>(flag: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| format!("{flag}: {text} is not a value that it takes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn a_command_line_becomes_options() {
        let options = parse("stream --url http://127.0.0.1:80 --chunks 4 --seconds 0.5").unwrap();
        assert_eq!(options.workload, Workload::Stream);
        assert_eq!(options.address.port(), 80);
        assert_eq!((options.chunks, options.window.as_millis()), (4, 500));
    }

    #[test]
    fn mistakes_are_named() {
        let problem = |line| parse(line).err().unwrap();
        assert_eq!(problem("walk"), "there is no workload walk");
        assert_eq!(problem("send"), "--url is missing");
        assert_eq!(problem("send --url"), "--url has no value");
        assert_eq!(problem("send --bytes x"), "--bytes: x is not a value that it takes");
        assert_eq!(problem("send --fast 1"), "there is no option --fast");
    }
}
