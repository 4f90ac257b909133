//! The documents say what is true: their commands are run against a server, and what they state of the
//! code is compared with the code.

mod blocks;
mod commands;
mod configuration;
mod examples;
mod limits;
mod masks;
mod routes;
mod shell;
mod statements;

use std::path::{Path, PathBuf};

/// The folder of the workspace: where cargo runs the tests from, which may be another checkout than the
/// one that was compiled.
fn root() -> PathBuf {
    let mut folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    folder.pop();
    folder
}

/// The text of one file.
pub(crate) fn read(path: &str) -> String {
    let file = root().join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The paths of all documents, relative to the workspace.
fn documents() -> Vec<String> {
    let mut found = Vec::new();
    documents_in(&root(), false, &mut found);
    documents_in(&root().join("docs"), true, &mut found);
    let mut paths: Vec<String> = found
        .iter()
        .map(|path| path.strip_prefix(root()).expect("below the root").display().to_string())
        .collect();
    paths.sort();
    assert!(paths.iter().any(|path| path == "README.md"), "no documents in {}", root().display());
    paths
}

fn documents_in(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if deep {
                documents_in(&path, deep, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The cells of the rows of the tables in a part of a document, without the backticks around a whole cell.
pub(crate) fn rows(markdown: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        // A bar that belongs to the text is escaped.
        let line = line.trim().strip_prefix('|')?.strip_suffix('|')?.replace("\\|", "\u{0}");
        let cells = line.split('|').map(|cell| {
            let cell = cell.trim().replace('\u{0}', "|");
            let bare = cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
            bare.filter(|bare| !bare.contains('`')).map_or(cell.clone(), str::to_owned)
        });
        Some(cells.collect())
    };
    markdown.lines().filter_map(row).collect()
}

/// The part of a document from a heading to the next one of its kind.
pub(crate) fn section<'t>(markdown: &'t str, heading: &str) -> &'t str {
    let level = heading.split(' ').next().expect("a heading");
    let start = markdown
        .find(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no heading {heading:?}"));
    let body = &markdown[start + heading.len() + 2..];
    let end = body.find(&format!("\n{level} ")).unwrap_or(body.len());
    &body[..end]
}
