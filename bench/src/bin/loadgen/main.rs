//! The load generator: one call, one workload, one line of JSON. It checks every answer, and
//! the first wrong one ends it with an error.

mod answers;
mod cancel;
mod connection;
mod events;
mod idle;
mod meter;
mod options;
mod requests;
mod slow;
mod streams;
mod unary;
mod usage;

use meter::Report;
use options::{Options, Workload};
use std::process::ExitCode;

/// The reason of a failure, as it is printed.
pub(crate) type Result<T = ()> = std::result::Result<T, String>;

/// One thread: it is pinned to a processor of its own, and what it costs is then easy to see.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("loadgen: {problem}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let outcome = run(&options).await;
    let report = outcome.as_ref().cloned().unwrap_or_else(|_| Report::failed());
    println!("{}", report.line());
    match outcome {
        Ok(_) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("loadgen: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<Report> {
    match options.workload {
        Workload::Send => unary::send(options).await,
        Workload::Get => unary::get(options).await,
        Workload::List => unary::list(options).await,
        Workload::Stream => streams::run(options).await,
        Workload::Idle => idle::run(options).await,
        Workload::Cancel => cancel::run(options).await,
        Workload::Slow => slow::run(options).await,
    }
}
