//! `docs/store-file.md` says what stands in the file: every table and column, and questions that have
//! answers.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used)]

mod support;

use a2ad_domain::ports::{AgentStore, KeptAgent, PushStore, TaskStore};
use a2ad_domain::testing::sample::{applied, key, opened, piece, reply, status, webhook};
use a2ad_domain::{StatusChange, TaskState, Version};
use a2ad_store::{Durability, SqliteStore};
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use support::Folder;

/// Where cargo runs the tests from, which may be another checkout than the one that was compiled.
fn document() -> String {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    std::fs::read_to_string(Path::new(&folder).join("../../docs/store-file.md")).unwrap()
}

/// Tables and their columns.
type Layout = BTreeMap<String, BTreeSet<String>>;

fn real(file: &Connection) -> Layout {
    let mut statement = file
        .prepare(
            "SELECT s.name, c.name FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c
             WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut layout = Layout::new();
    while let Some(row) = rows.next().unwrap() {
        layout.entry(row.get(0).unwrap()).or_default().insert(row.get(1).unwrap());
    }
    layout
}

/// The text between backticks that a line begins with after `mark`.
fn named<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    line.strip_prefix(mark)?.split('`').next()
}

/// What the document says: a heading for each table, and a row for each column.
fn written(document: &str) -> Layout {
    let tables = document.split("\n## Tables\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut layout = Layout::new();
    for section in tables.split("\n### ").skip(1) {
        let table = named(section, "`").expect("a table in the heading");
        let columns = section.lines().filter_map(|line| named(line, "| `").map(str::to_owned));
        layout.insert(table.to_owned(), columns.collect());
    }
    layout
}

fn reading(folder: &Folder) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(folder.path("tasks.db"), flags).unwrap()
}

#[tokio::test]
async fn the_document_names_every_table_and_column_and_no_other() {
    let folder = Folder::new();
    let _store = folder.open(Durability::Process);
    assert_eq!(written(&document()), real(&reading(&folder)));
}

/// A time that is later than any question asks for, whenever it is asked.
const LATE: i64 = 4_000_000_000_000;

/// Tasks of which every question of the document finds something.
async fn filled(store: &SqliteStore) {
    let id = key(1).scope.agent().clone();
    let kept = KeptAgent { id, description: None, published: false };
    store.keep(&kept).await.unwrap();
    let failed = StatusChange::ending(TaskState::Failed, Some(reply("why", "no luck")));
    let again = StatusChange::again(TaskState::Working, NonZeroU32::new(2).unwrap());
    let lives = [
        // The id that stands in the document.
        (0x917f_7b3c_c641_49c9_a776_1d5d_d104_301a, vec![piece("out", "text", false), failed]),
        (2, vec![again]),
    ];
    for (id, more) in lives {
        let task = opened(key(id), LATE);
        store.insert(&Arc::new(task.clone())).await.unwrap();
        let changes: Vec<_> = [status(TaskState::Working)].into_iter().chain(more).collect();
        let (changed, recorded) = applied(task.clone(), &changes, LATE);
        store.append(task.key(), task.version(), &recorded, &changed).await.unwrap();
        let hook = webhook("hook", "https://hooks.example/a");
        assert!(store.set(task.key(), &hook, Some(Version::FIRST), 1).await.unwrap());
    }
}

#[tokio::test]
async fn every_question_of_the_document_has_an_answer_while_the_store_is_open() {
    let folder = Folder::new();
    let store = folder.open(Durability::Process);
    filled(&store).await;
    let (file, document) = (reading(&folder), document());
    let questions: Vec<_> = document.split("```sql\n").skip(1).collect();
    assert!(questions.len() >= 5, "there are {} questions", questions.len());
    for question in questions {
        let question = question.split("```").next().unwrap();
        let mut statement = file.prepare(question).unwrap();
        let mut rows = statement.query([]).unwrap();
        assert!(rows.next().unwrap().is_some(), "nothing answers {question}");
    }
}

#[tokio::test]
async fn the_marks_of_the_file_are_those_of_the_document() {
    let folder = Folder::new();
    let _store = folder.open(Durability::Process);
    let (file, document) = (reading(&folder), document());
    let number = |name| file.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    for said in [
        format!("`PRAGMA application_id` is {} ", number("application_id")),
        format!("which is {}.", number("user_version")),
    ] {
        assert!(document.contains(&said), "{said:?} is not in the document");
    }
}
