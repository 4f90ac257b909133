//! The workload of streams that are open and silent: what each costs while nothing happens,
//! and whether all of them get their end.

use crate::connection::Connection;
use crate::events::{Content, Events};
use crate::meter::Report;
use crate::options::Options;
use crate::usage::Usage;
use crate::{Result, requests};
use futures_util::future::try_join_all;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// For what the server still has to do after the last stream was opened.
const SETTLE: Duration = Duration::from_millis(500);

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let before = Usage::of(options.pid)?;
    let opened = Semaphore::new(0);
    let ended = Cell::new(0);
    let numbers = 1..=options.streams as u64;
    let streams = try_join_all(numbers.map(|number| stream(options, number, &opened, &ended)));

    let watch = async {
        let all = u32::try_from(options.streams).map_err(|_| "too many streams")?;
        opened.acquire_many(all).await.map_err(|error| error.to_string())?.forget();
        tokio::time::sleep(SETTLE).await;
        let (start, quiet) = (Instant::now(), Usage::of(options.pid)?);
        tokio::time::sleep(options.window).await;
        let open = Usage::of(options.pid)?;
        if ended.get() > 0 {
            return Err("streams ended while they were watched: hold them longer".to_owned());
        }
        Ok(Report {
            seconds: start.elapsed().as_secs_f64(),
            cpu_ms: (open.cpu - quiet.cpu).as_secs_f64() * 1000.0,
            resident_before: before.resident,
            resident: open.resident,
            ..Report::default()
        })
    };
    let (_, report) = tokio::try_join!(streams, watch)?;
    Ok(Report { requests: ended.get(), ..report })
}

async fn stream(options: &Options, number: u64, opened: &Semaphore, ended: &Cell<usize>) -> Result {
    let text = format!("{number:08x}");
    let call = requests::stream(number, &format!("hold:{}|{text}", options.hold.as_millis()));
    let mut connection = Connection::open(options.address).await?;
    let mut events = Events::open(&mut connection, requests::SCRIPT, number, &call).await?;
    events.expect().await?;
    opened.add_permits(1);
    let mut content = Content::of(number);
    events.finish("completed", &mut content).await?;
    content.is(1, &text)?;
    ended.set(ended.get() + 1);
    Ok(())
}
