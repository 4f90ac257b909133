//! A server that is killed while it recovers, again and again: in the end every task has met its fate, and
//! none has met it twice.

use super::{Place, ok};
use crate::crash::integrity;
use crate::drain::process::{Process, command};
use crate::support::agents::soon;
use a2ad_domain::ports::TaskStore;
use a2ad_domain::testing::sample::{at, context, key_in, message, scope_of};
use a2ad_domain::{Scope, Task};
use a2ad_store::{Settings, SqliteStore};
use futures_util::future::join_all;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use std::process::Stdio;
use std::sync::Arc;

/// How many tasks are left at work for each agent.
const LEFT: u128 = 400;
/// At which task the server is killed, one start after the other. Those before it have met their fate.
const KILLS: [i64; 3] = [51, 301, 501];

/// Lets each start take for ever at its task: how many starts there were is how many attempts the second
/// task has had, which begins again each time.
const HOLD: &str = "
    CREATE VIEW endless AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS i FROM n;
    CREATE TRIGGER hold BEFORE UPDATE ON task WHEN old.number = CASE (
        SELECT count(*) FROM change
        WHERE task = 2 AND json_extract(body, '$.details.attempt') IS NOT NULL
    ) WHEN 1 THEN 51 WHEN 2 THEN 301 WHEN 3 THEN 501 END
    BEGIN SELECT i FROM endless; END;";

fn config(place: &Place) -> String {
    let agent = |id: &str, more: &str| {
        format!("[[agent]]\nid = \"{id}\"\nexecutor = {{ kind = \"script\" }}\n{more}")
    };
    let again = agent("again", "on_crash = \"retry\"\nmax_attempts = 100\ndeadline = \"none\"\n");
    let server = "[server]\ndrain = \"10ms\"\n";
    format!("{server}{}{}{again}", place.store("process"), agent("script", ""))
}

/// A store whose process was killed when each of these tasks was about to begin.
async fn leave_behind(place: &Place, scopes: [Scope; 2]) {
    let store = SqliteStore::open(&Settings::at(place.file())).expect("a store");
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("a time").as_millis());
    let now = at(now.expect("a time"));
    let task = |(scope, number): (&Scope, u128)| {
        let message = Arc::new(message("m-1", "hang"));
        Arc::new(Task::open(key_in(scope, number), context("c"), message, None, now))
    };
    let numbers = (0..LEFT).flat_map(|n| [(&scopes[0], 2 * n), (&scopes[1], 2 * n + 1)]);
    let tasks: Vec<_> = numbers.map(task).collect();
    for inserted in join_all(tasks.iter().map(|task| store.insert(task))).await {
        inserted.expect("a store that works");
    }
    drop(store);
    let file = Connection::open(place.file()).expect("a database");
    file.execute_batch(HOLD).expect("a database");
}

/// How many tasks have changed since they were left behind.
fn met(file: &Connection) -> i64 {
    let met = "SELECT count(DISTINCT task) FROM change WHERE version > 1";
    file.query_row(met, [], |row| row.get(0)).expect("a number")
}

/// The most attempts that a task has had, and the tasks whose attempts are not 2, 3, 4 and so on.
fn attempts(file: &Connection) -> (i64, i64) {
    let attempts = "SELECT max(last), count(*) FILTER (WHERE last <> number + 1 OR first <> 2)
        FROM (SELECT count(*) AS number, min(attempt) AS first, max(attempt) AS last
              FROM (SELECT task, json_extract(body, '$.details.attempt') AS attempt FROM change)
              WHERE attempt IS NOT NULL GROUP BY task)";
    file.query_row(attempts, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("numbers")
}

#[tokio::test]
async fn a_server_that_is_killed_while_it_recovers_loses_nothing_and_does_nothing_twice() {
    let place = Place::new("recovery-killed");
    leave_behind(&place, ["script", "again"].map(|agent| scope_of(agent, "anonymous"))).await;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let look = || Connection::open_with_flags(place.file(), flags).expect("a database");
    let settings = place.folder().join("a2ad.toml");
    std::fs::write(&settings, config(&place)).expect("a file");
    for kill in KILLS {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--config"];
        let mut command = command(arguments.map(std::ffi::OsStr::new));
        command.arg(&settings).env("A2AD_LOG", "off").stdout(Stdio::null());
        let mut process = command.spawn().expect("a process");
        let file = look();
        soon("some recoveries", async {
            while met(&file) < kill - 1 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        process.kill().await.expect("a process that has not ended");
    }
    assert_eq!(met(&look()), KILLS[2] - 1, "a kill came too late");

    let process = Process::start(&config(&place), "error").await;
    let file = look();
    let twice = "SELECT count(*) FROM task JOIN scope ON scope.number = scope
        WHERE agent = 'script' AND (state <> 'failed' OR version <> 2)";
    let twice: i64 = file.query_row(twice, [], |row| row.get(0)).expect("a number");
    assert_eq!(twice, 0, "tasks have not met their fate once");
    let (most, wrong) = attempts(&file);
    assert_eq!(wrong, 0, "attempts are lost or counted twice");
    assert_eq!(most, 2 + i64::try_from(KILLS.len()).expect("a number"));
    // Those that begin again are there to be canceled, each with one run.
    let (_, status) = process.exchange("GET", "/status", &[], String::new()).await;
    assert!(status.contains(&format!("\"live_runs\":{LEFT}")), "{status}");
    let all = ok(&process, "tasks/list", json!({ "pageSize": 1 })).await;
    assert_eq!(all["totalSize"], u64::try_from(LEFT).expect("a number"));
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(integrity(&place.file()), "ok");
}
