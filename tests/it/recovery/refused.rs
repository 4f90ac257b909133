//! Stores that a server does not start on: one line with the path, the cause and what to do, the exit code
//! that the documents name, and nothing that is left behind.

use super::{Place, config, kill, ok};
use crate::drain::process::{Process, command_by};
use crate::support::caller::{Message, state};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Becomes the server as somebody who may not write everything, as the super-user may.
const NOBODY_SPECIAL: [&str; 4] = [
    "sh",
    "-c",
    "[ \"$(id -u)\" = 0 ] || exec \"$@\"; \
     exec setpriv --bounding-set=-dac_override --inh-caps=-dac_override \"$@\"",
    "sh",
];

/// Becomes the server, whose files cannot grow beyond so many times 512 or 1,024 bytes.
const FULL: [&str; 4] = ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"];

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<_> =
        entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Starts a server that does not start.
async fn refused(launcher: &[&str], place: &Place, code: i32, parts: &[&str]) {
    let folder = place.file().parent().expect("a folder").to_path_buf();
    let before = (folder.exists(), names(&folder), std::fs::read(place.file()).ok());
    let store = format!("sqlite:{}", place.file().display());
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--store", &store];
    let mut command = command_by(launcher, arguments);
    let output = command.env("A2AD_LOG", "off").output().await.expect("a process");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let file = place.file().display().to_string();
    for part in [&*file].iter().chain(parts) {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    let after = (folder.exists(), names(&folder), std::fs::read(place.file()).ok());
    assert!(before == after, "{:?} -> {:?}", before.1, after.1);
}

/// A place with a store that a server has made, which holds a task at work.
async fn with_a_task_at_work(name: &str) -> Place {
    let place = Place::new(name);
    let process = Process::start(&config(&place, "process"), "error").await;
    let hangs = Message::new("hang").blocking(false).params();
    ok(&process, "message/send", hangs).await;
    kill(process).await;
    place
}

#[tokio::test]
async fn what_is_no_store_is_refused_and_left_as_it_was() {
    let place = Place::new("refused");
    std::fs::create_dir(place.folder().join("data")).expect("a folder");
    let text = "this is no database, and it is long enough to be looked at ".repeat(20);
    std::fs::write(place.file(), text).expect("a file");
    refused(&[], &place, 78, &["not a database", "name another file"]).await;
    std::fs::remove_file(place.file()).expect("a file");
    let newer = Connection::open(place.file()).expect("a database");
    newer.pragma_update(None, "application_id", 0x6132_6164).expect("a database");
    newer.pragma_update(None, "user_version", 99).expect("a database");
    drop(newer);
    refused(&[], &place, 78, &["has version 99", "use the newer program"]).await;
    std::fs::remove_dir_all(place.folder().join("data")).expect("a folder");
    std::fs::write(place.folder().join("data"), "").expect("a file");
    refused(&[], &place, 78, &["let this user read and write"]).await;
}

#[tokio::test]
async fn a_store_that_another_server_has_open_is_refused() {
    let place = Place::new("refused-in-use");
    let process = Process::start(&config(&place, "process"), "error").await;
    refused(&[], &place, 78, &["another process has it open", "stop that process"]).await;
    let done = ok(&process, "message/send", Message::new("x").params()).await;
    assert_eq!(state(&done), "completed");
    kill(process).await;
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_and_left_as_it_was() {
    let place = Place::new("refused-rights");
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    allow(place.folder(), 0o555);
    refused(&NOBODY_SPECIAL, &place, 78, &["Permission denied", "let this user"]).await;
    allow(place.folder(), 0o755);
    drop(a2ad_store::SqliteStore::open(&a2ad_store::Settings::at(place.file())));
    allow(&place.file(), 0o444);
    refused(&NOBODY_SPECIAL, &place, 78, &["it is read-only", "let this user write it"]).await;
    allow(&place.file(), 0o600);
    let folder = place.folder().join("data");
    std::fs::remove_file(folder.join("tasks.db-lock")).expect("a file");
    allow(&folder, 0o555);
    refused(&NOBODY_SPECIAL, &place, 78, &["Permission denied", "let this user"]).await;
    allow(&folder, 0o755);
}

#[tokio::test]
async fn a_file_that_becomes_read_only_while_it_is_served_is_written_on() {
    let place = Place::new("read-only");
    let toml = config(&place, "process");
    let process = Process::start_by(&NOBODY_SPECIAL, &toml, "error", &[]).await;
    let (file, folder) = (place.file(), place.folder().join("data"));
    for (path, mode) in [(&file, 0o444), (&folder, 0o555)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
    }
    // Who has a file open may write it, whatever its mode becomes.
    let done = ok(&process, "message/send", Message::new("x").params()).await;
    assert_eq!(process.get("/readyz").await, Some(200));
    kill(process).await;
    for (path, mode) in [(&folder, 0o755), (&file, 0o600)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
    }
    let process = Process::start(&toml, "error").await;
    let named = serde_json::json!({ "id": done["id"] });
    assert_eq!(ok(&process, "tasks/get", named).await, done);
    kill(process).await;
}

#[tokio::test]
async fn a_store_on_a_full_disk_is_refused_and_nothing_of_it_is_left() {
    let place = Place::new("refused-full");
    refused(&FULL, &place, 78, &["make room on the disk"]).await;
    assert_eq!(names(place.folder()), [""; 0]);
    let place = with_a_task_at_work("refused-full-left").await;
    refused(&FULL, &place, 78, &["make room on the disk"]).await;
}

#[tokio::test]
async fn a_store_whose_tasks_at_work_cannot_be_read_is_refused() {
    let place = with_a_task_at_work("refused-corrupt").await;
    // Nobody knows what was to be done.
    let file = Connection::open(place.file()).expect("a database");
    file.execute("UPDATE snapshot SET body = '{}'", []).expect("a database");
    file.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a database");
    drop(file);
    refused(&[], &place, 69, &["cannot go on with the tasks", "restore a backup"]).await;
}
