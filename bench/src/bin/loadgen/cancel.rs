//! The workload of cancels: one task after the other is canceled while it is at work, and
//! others are at work beside it.

use crate::connection::Connection;
use crate::events::{Content, Events};
use crate::meter::{Meter, Report};
use crate::options::Options;
use crate::{Result, answers, requests};
use futures_util::future::try_join_all;
use memchr::memmem;
use std::cell::RefCell;
use std::time::Instant;
use tokio::sync::Semaphore;

/// How many tasks are canceled unless the command line says so.
const ROUNDS: u64 = 200;

/// The numbers of the calls that run beside begin here, clear of those that are timed.
const BESIDE: u64 = 1_000_000;

/// A task that replaces its artifact every 50 ms until it is canceled.
const TEXT: &str = "tick:50|x";

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let meter = Meter::new(Some(options.requests.unwrap_or(ROUNDS)));
    let running = RefCell::new(Vec::new());
    let started = Semaphore::new(0);
    let others =
        (0..options.streams as u64).map(|at| other(options, BESIDE + at, &running, &started));

    let rounds = async {
        let all = u32::try_from(options.streams).map_err(|_| "too many streams")?;
        started.acquire_many(all).await.map_err(|error| error.to_string())?.forget();
        let report = meter.measure(options, vec![canceler(&meter, options)]).await?;
        let mut connection = Connection::open(options.address).await?;
        for (number, task) in running.take() {
            let call = requests::cancel(number, &task);
            let body = connection.call(requests::SCRIPT, &call).await?;
            answers::canceled(&body, number, &task)?;
        }
        Ok(report)
    };
    let (_, report) = tokio::try_join!(try_join_all(others), rounds)?;
    Ok(report)
}

/// A task beside, which runs until all rounds are over.
async fn other(
    options: &Options,
    number: u64,
    running: &RefCell<Vec<(u64, String)>>,
    started: &Semaphore,
) -> Result {
    let mut connection = Connection::open(options.address).await?;
    let call = requests::stream(number, TEXT);
    let mut events = Events::open(&mut connection, requests::SCRIPT, number, &call).await?;
    let task = at_work(&mut events).await?;
    running.borrow_mut().push((number, task));
    started.add_permits(1);
    events.finish("canceled", &mut Content::default()).await
}

/// Starts a task and cancels it on a second connection. Only the cancel is timed; the stream
/// must then end with the canceled event.
async fn canceler(meter: &Meter, options: &Options) -> Result {
    let mut stream = Connection::open(options.address).await?;
    let mut calls = Connection::open(options.address).await?;
    while let Some(number) = meter.next() {
        let call = requests::stream(number, TEXT);
        let mut events = Events::open(&mut stream, requests::SCRIPT, number, &call).await?;
        let task = at_work(&mut events).await?;
        let call = requests::cancel(number, &task);
        let start = Instant::now();
        let body = calls.call(requests::SCRIPT, &call).await?;
        meter.count(start, body.len());
        answers::canceled(&body, number, &task)?;
        events.finish("canceled", &mut Content::default()).await?;
    }
    Ok(())
}

/// Reads up to the first artifact event, and returns the id of the task.
async fn at_work(events: &mut Events<'_>) -> Result<String> {
    let task = answers::task_id(&events.expect().await?)?;
    while memmem::find(&events.expect().await?, br#""kind":"artifact-update""#).is_none() {}
    Ok(task)
}
