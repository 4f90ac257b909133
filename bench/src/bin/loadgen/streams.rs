//! The workload of whole streams: a text comes back in chunks, none of them lost.

use crate::connection::Connection;
use crate::events::{Content, Events};
use crate::meter::{Meter, Report};
use crate::options::Options;
use crate::{Result, requests};
use a2ad_bench::payload;
use std::time::Instant;

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let meter = Meter::new(options.requests);
    let workers = (0..options.connections).map(|_| reader(&meter, options)).collect();
    meter.measure(options, workers).await
}

async fn reader(meter: &Meter, options: &Options) -> Result {
    let mut connection = Connection::open(options.address).await?;
    while let Some(number) = meter.next() {
        let text = payload(number, options.bytes);
        let call = requests::stream(number, &format!("chunks:{}|{text}", options.chunks));
        let start = Instant::now();
        let mut events = Events::open(&mut connection, requests::SCRIPT, number, &call).await?;
        let mut content = Content::of(number);
        events.finish("completed", &mut content).await?;
        meter.count(start, events.bytes);
        content.is(options.chunks, &text)?;
    }
    Ok(())
}
