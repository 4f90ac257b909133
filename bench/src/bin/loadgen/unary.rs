//! The workloads of one answer per call: send, get, list.

use crate::connection::Connection;
use crate::meter::{Meter, Report};
use crate::options::Options;
use crate::{Result, answers, requests};
use a2ad_bench::{PAGE, STORED, payload};
use std::time::Instant;

/// How many tasks the reads of the `get` workload go round.
const TASKS: u64 = 1000;

/// Blocking sends; each has a text of its own.
pub(crate) async fn send(options: &Options) -> Result<Report> {
    let meter = Meter::new(options.requests);
    let workers = (0..options.connections).map(|_| sender(&meter, options)).collect();
    meter.measure(options, workers).await
}

async fn sender(meter: &Meter, options: &Options) -> Result {
    let mut connection = Connection::open(options.address).await?;
    while let Some(number) = meter.next() {
        let text = payload(number, options.bytes);
        let call = requests::send(number, &text);
        let start = Instant::now();
        let body = connection.call(requests::ECHO, &call).await?;
        meter.count(start, body.len());
        answers::completed(&body, number, &text)?;
    }
    Ok(())
}

/// Reads of tasks that are stored before the clock starts.
pub(crate) async fn get(options: &Options) -> Result<Report> {
    let mut connection = Connection::open(options.address).await?;
    let tasks = match options.stored {
        Some(count) => listed(&mut connection, count).await?,
        None => made(&mut connection, options.bytes).await?,
    };
    let meter = Meter::new(options.requests);
    let workers = (0..options.connections)
        .map(|at| getter(&meter, options, tasks.iter().cycle().skip(at * 31)))
        .collect();
    meter.measure(options, workers).await
}

/// A task and the text of its artifact.
struct Stored {
    task: String,
    text: String,
}

async fn made(connection: &mut Connection, bytes: usize) -> Result<Vec<Stored>> {
    let text = payload(STORED, bytes);
    let mut tasks = Vec::new();
    for number in 1..=TASKS {
        let body = connection.call(requests::ECHO, &requests::send(number, &text)).await?;
        answers::completed(&body, number, &text)?;
        tasks.push(Stored { task: answers::task_id(&body)?, text: text.clone() });
    }
    Ok(tasks)
}

/// What is there, from the newest on.
async fn listed(connection: &mut Connection, count: usize) -> Result<Vec<Stored>> {
    let (mut tasks, mut token) = (Vec::new(), None::<String>);
    for number in 1.. {
        let call = requests::list(number, PAGE, token.as_deref());
        let body = connection.call(requests::ECHO, &call).await?;
        token = answers::page(&body, number, true)?;
        for task in answers::task_ids(&body)? {
            if tasks.len() == count {
                return Ok(tasks);
            }
            let body = connection.call(requests::ECHO, &requests::get(number, &task)).await?;
            tasks.push(Stored { task, text: answers::artifact(&body)? });
        }
    }
    Ok(tasks)
}

async fn getter(
    meter: &Meter,
    options: &Options,
    mut tasks: impl Iterator<Item = &Stored>,
) -> Result {
    let mut connection = Connection::open(options.address).await?;
    while let (Some(number), Some(Stored { task, text })) = (meter.next(), tasks.next()) {
        let call = requests::get(number, task);
        let start = Instant::now();
        let body = connection.call(requests::ECHO, &call).await?;
        meter.count(start, body.len());
        answers::completed(&body, number, text)?;
        answers::holds(&body, &format!(r#""id":"{task}""#))?;
    }
    Ok(())
}

/// The same page again and again. Its token is found by walking there before the clock starts.
pub(crate) async fn list(options: &Options) -> Result<Report> {
    let mut connection = Connection::open(options.address).await?;
    let mut token = None;
    for number in 1..options.page as u64 {
        let call = requests::list(number, PAGE, token.as_deref());
        let body = connection.call(requests::ECHO, &call).await?;
        answers::distinct(&body)?;
        token = answers::page(&body, number, true)?;
        if token.as_deref().is_none_or(str::is_empty) {
            return Err(format!("page {number} is the last one"));
        }
    }
    let meter = Meter::new(options.requests);
    let workers = (0..options.connections).map(|_| lister(&meter, options, token.as_deref()));
    meter.measure(options, workers.collect()).await
}

async fn lister(meter: &Meter, options: &Options, token: Option<&str>) -> Result {
    let mut connection = Connection::open(options.address).await?;
    while let Some(number) = meter.next() {
        let call = requests::list(number, PAGE, token);
        let start = Instant::now();
        let body = connection.call(requests::ECHO, &call).await?;
        meter.count(start, body.len());
        answers::page(&body, number, answers::in_full(number))?;
    }
    Ok(())
}
