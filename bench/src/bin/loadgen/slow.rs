//! The workload of clients that send a byte a second, beside one that behaves well: whether it still gets its
//! answers, and how fast.

use crate::meter::Report;
use crate::options::Options;
use crate::{Result, requests, unary};
use std::cell::RefCell;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

/// How long each of them waits between two bytes.
const PAUSE: Duration = Duration::from_secs(1);

/// Measures sends while `options.streams` others send their bytes.
pub(crate) async fn run(options: &Options) -> Result<Report> {
    // The first send their bytes while the last are opened, or they would be given up by then.
    let slow = RefCell::new(Vec::with_capacity(options.streams));
    let measured = async {
        for number in 0..options.streams {
            let stream = begun(options, number).await?;
            slow.borrow_mut().push(stream);
        }
        unary::send(options).await
    };
    tokio::select! {
        report = measured => report,
        problem = trickle(&slow) => Err(problem),
    }
}

/// A connection in the middle of a request: every other one in its head, the rest in their bodies.
async fn begun(options: &Options, number: usize) -> Result<TcpStream> {
    let said = |error: std::io::Error| format!("slow connection {number}: {error}");
    let mut stream = TcpStream::connect(options.address).await.map_err(said)?;
    let rest = if number.is_multiple_of(2) { "x-slow: " } else { "content-length: 1000\r\n\r\n" };
    let head = format!("POST {} HTTP/1.1\r\nhost: slow\r\n{rest}", requests::ECHO);
    stream.write_all(head.as_bytes()).await.map_err(said)?;
    Ok(stream)
}

/// Sends the bytes until one of the connections is lost; says which.
async fn trickle(slow: &RefCell<Vec<TcpStream>>) -> String {
    let mut tick = tokio::time::interval(PAUSE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let opened = slow.borrow().len();
        for number in 0..opened {
            let written = slow.borrow()[number].try_write(b"x");
            match written {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return format!("slow connection {number} was lost: {error}"),
            }
            // The one that behaves well is on this thread, too.
            if number % 100 == 99 {
                tokio::task::yield_now().await;
            }
        }
    }
}
