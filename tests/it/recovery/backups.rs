//! `a2ad backup`: a copy of the store beside the server that works on it, which another server goes on from.

use super::{Place, ok};
use crate::drain::process::{Process, command};
use crate::support::caller::{Message, id, state};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;

/// Runs the command and gives its exit code and what it says.
async fn back_up(arguments: &[&OsStr]) -> (Option<i32>, String) {
    let arguments = [OsStr::new("backup")].into_iter().chain(arguments.iter().copied());
    let output = command(arguments).output().await.expect("a process");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("UTF-8"))
}

async fn back_up_to(store: &Path, file: &Path) -> (Option<i32>, String) {
    let store = format!("sqlite:{}", store.display());
    back_up(&["--store".as_ref(), store.as_ref(), file.as_os_str()]).await
}

/// Sends that many messages, one after the other, and gives the tasks.
async fn sends(process: &Process, number: usize) -> Vec<Value> {
    let mut answered = Vec::new();
    for index in 0..number {
        let message = Message::new(format!("chunks 3 {index}")).params();
        answered.push(ok(process, "message/send", message).await);
    }
    answered
}

#[tokio::test]
async fn a_copy_made_while_clients_send_holds_whole_tasks_and_serves_them() {
    let place = Place::new("backup");
    let process = Process::start(&super::config(&place, "process"), "error").await;
    let before = sends(&process, 10).await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    let copy = place.folder().join("copy.db");
    let file = place.file();
    let (during, (code, said)) = tokio::join!(sends(&process, 50), back_up_to(&file, &copy));
    assert_eq!(code, Some(0), "{said}");
    let ready = process.get("/readyz").await;
    assert_eq!(ready, Some(200));
    process.signal("TERM").await;
    process.ended().await;

    let config = super::config(&place, "process").replace("data/tasks.db", "copy.db");
    let process = Process::start(&config, "error").await;
    for task in before.iter().chain([&asked]) {
        assert_eq!(ok(&process, "tasks/get", json!({ "id": id(task) })).await, *task);
    }
    let all = ok(&process, "tasks/list", json!({})).await["totalSize"].clone();
    let named = format!("{}: good, tasks: {all}\n", copy.display());
    assert_eq!(said, named, "the copy holds another number of tasks");
    // Of those that came meanwhile it has the first ones, up to one moment.
    let mut kept = Vec::new();
    for task in &during {
        let (_, answer) = process.call("tasks/get", json!({ "id": id(task) })).await;
        kept.push(answer.get("result").is_some());
        if answer["result"]["status"] == task["status"] {
            assert_eq!(answer["result"], *task);
        }
    }
    assert!(kept.is_sorted_by(|earlier, later| earlier >= later), "{kept:?}");
    let answer = Message::new("apples").task(id(&asked)).params();
    assert_eq!(state(&ok(&process, "message/send", answer).await), "completed");
    process.signal("TERM").await;
    process.ended().await;
}

#[tokio::test]
async fn what_cannot_be_copied_is_told_in_a_line_with_the_path_and_the_fix() {
    let place = Place::new("no-backup");
    let config = place.folder().join("a2ad.toml");
    std::fs::write(&config, super::config(&place, "process")).expect("a file");
    let copy = place.folder().join("copy.db");
    let configured = ["--config".as_ref(), config.as_os_str(), copy.as_os_str()];
    let refused = async |arguments: &[&OsStr], code: i32, parts: &[&str]| {
        let (ended, said) = back_up(arguments).await;
        assert_eq!(ended, Some(code), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        for part in parts {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
        assert!(!copy.exists(), "there is a copy after {said}");
    };
    let file = place.file().display().to_string();
    refused(&configured, 78, &[&file, "there is no store", "name the file"]).await;
    assert!(!place.file().exists(), "a store was made");
    let in_memory = ["--store".as_ref(), "memory".as_ref(), copy.as_os_str()];
    refused(&in_memory, 78, &["in memory", "--store sqlite:PATH"]).await;
    std::fs::create_dir(place.folder().join("data")).expect("a folder");
    std::fs::write(place.file(), "no database at all ".repeat(100)).expect("a file");
    refused(&configured, 78, &[&file, "not a database", "name another file"]).await;
    std::fs::remove_file(place.file()).expect("a file");

    let process = Process::start(&super::config(&place, "process"), "error").await;
    let nowhere = place.folder().join("no/copy.db");
    let to_nowhere = ["--config".as_ref(), config.as_os_str(), nowhere.as_os_str()];
    refused(&to_nowhere, 73, &["no/copy.db", "folder"]).await;
    std::fs::write(&copy, "precious").expect("a file");
    let (code, said) = back_up(&configured).await;
    assert_eq!(code, Some(73), "{said}");
    assert!(said.contains("exists already; name a new file"), "{said}");
    assert_eq!(std::fs::read_to_string(&copy).expect("a file"), "precious");
    assert_eq!(back_up(&[]).await.0, Some(64));
    process.signal("TERM").await;
    process.ended().await;
}
