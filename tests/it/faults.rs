//! Stores that fail or take their time: calls wait and succeed, or fail as a whole with an id that the log
//! has; the server says that it is not ready, and goes on by itself when the cause is gone.

mod corrupt;
mod disk;
mod locked;
mod traced;
mod wrapped;

use crate::crash::integrity;
use crate::drain::process::Process;
use crate::recovery::{config as configured, ok};
use crate::support::Place;
use serde_json::Value;

/// The script agent over a file.
fn config(place: &Place) -> String {
    configured(place, "process")
}

/// A call that the store has made fail; gives the id that is in the log.
async fn failed(process: &Process, method: &str, params: Value) -> String {
    let (status, answer) = process.call(method, params).await;
    failure(status, &answer)
}

fn failure(status: u16, answer: &Value) -> String {
    assert_eq!((status, &answer["error"]["code"]), (200, &(-32603).into()), "{answer}");
    assert_eq!(answer["error"]["message"], "Internal error", "{answer}");
    let reference = answer["error"]["data"]["reference"].as_str();
    reference.unwrap_or_else(|| panic!("no id: {answer}")).to_owned()
}
