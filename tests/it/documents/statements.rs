//! What the documents state of the code is what the code says.

use super::{documents, read, rows, section};
use a2ad_domain::state::SUCCESSORS;
use a2ad_domain::{ErrorCode, TaskState};
use std::fmt::Write;

/// The diagram of the successor table. States that may end in every way point at the box of ends.
fn diagram() -> String {
    let ends: Vec<TaskState> = TaskState::ALL.into_iter().filter(|it| it.is_terminal()).collect();
    let mut out = "stateDiagram-v2\n    [*] --> Submitted\n".to_owned();
    for (from, successors) in SUCCESSORS {
        let every_end = ends.iter().all(|end| successors.contains(end));
        for to in successors.iter().filter(|to| !(every_end && to.is_terminal())) {
            let _ = writeln!(out, "    {from:?} --> {to:?}");
        }
        if every_end {
            let _ = writeln!(out, "    {from:?} --> Ended");
        }
    }
    out.push_str("    state Ended {\n");
    for end in &ends {
        let _ = writeln!(out, "        {end:?}");
    }
    out.push_str("    }\n    Ended --> [*]\n");
    out
}

#[test]
fn the_diagram_of_the_architecture_is_the_successor_table() {
    let document = read("ARCHITECTURE.md");
    let blocks = super::blocks::blocks(&document);
    let shown = blocks.iter().find(|it| it.text.starts_with("stateDiagram")).expect("a diagram");
    assert_eq!(shown.text, diagram(), "\nput this into ARCHITECTURE.md:\n{}", diagram());
}

#[test]
fn the_architecture_is_short_enough_to_read() {
    assert!(read("ARCHITECTURE.md").lines().count() <= 250);
}

#[test]
fn every_error_code_has_a_row_and_a_paragraph() {
    let document = read("docs/errors.md");
    let rows = rows(&document);
    for code in ErrorCode::ALL {
        let (number, name) = (code.number().to_string(), format!("{code:?}"));
        let row = rows.iter().find(|row| row[0] == number);
        let row = row.unwrap_or_else(|| panic!("{number} has no row"));
        assert_eq!((&*row[1], &*row[2]), (&*name, code.reason()));
        let paragraph = section(&document, &format!("### `{name}`"));
        assert!(paragraph.trim().len() > 40, "{name}: say when it comes and what a client does");
    }
}

#[test]
fn every_task_of_the_project_is_told_to_contributors() {
    let document = read("CONTRIBUTING.md");
    let runner = read("xtask/src/main.rs");
    let tasks = runner.split("Some(\"").skip(1).filter_map(|rest| rest.split('"').next());
    for task in tasks.filter(|task| *task != "help") {
        assert!(document.contains(&format!("cargo xtask {task}")), "cargo xtask {task}");
    }
}

#[test]
fn every_document_begins_with_its_title() {
    for path in documents() {
        assert!(read(&path).starts_with("# "), "{path}");
    }
}

#[test]
fn every_decision_says_why_and_what_follows() {
    for path in documents().iter().filter(|path| path.starts_with("docs/adr/0")) {
        let text = read(path);
        for heading in ["## Situation", "## Decision", "## Consequences"] {
            assert!(section(&text, heading).trim().len() > 40, "{path}: {heading}");
        }
    }
}

#[test]
fn every_place_that_a_mutant_is_made_in_exists() {
    let (mut files, mut code) = (Vec::new(), String::new());
    sources(&super::root().join("crates"), &mut files, &mut code);
    let document = read("CONTRIBUTING.md");
    let mutants = rows(section(&document, "## Mutants that the suite must kill"));
    assert!(mutants.len() >= 12, "there are two lines of head and at least ten mutants");
    for row in mutants.iter().skip(2) {
        let places: Vec<&str> = match row[1].contains('`') {
            true => row[1].split('`').skip(1).step_by(2).collect(),
            false => vec![&row[1]],
        };
        for place in places {
            let name = place.rsplit("::").next().expect("a name");
            let known = match name.ends_with(".rs") {
                true => files.iter().any(|file| file == name),
                false => code.contains(name),
            };
            assert!(known, "{place} is not in the code any more");
        }
    }
}

/// The names and the text of all source files below a folder.
fn sources(folder: &std::path::Path, files: &mut Vec<String>, code: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
            code.push_str(&std::fs::read_to_string(&path).expect("text"));
        }
    }
}
