//! Every entry of `[workspace.dependencies]` is used, and the third-party ones have a line in
//! docs/dependencies.md that says what for.

use super::{Finding, numbered};
use crate::tree::Tree;

const MANIFEST: &str = "Cargo.toml";
const LIST: &str = "docs/dependencies.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let listed = first_cells(tree.text(LIST).unwrap_or_default());
    let declared = declared(tree.text(MANIFEST).unwrap_or_default());
    let mut findings = Vec::new();
    for (line, name) in &declared {
        let is_ours = tree.packages.iter().any(|package| package.name == *name);
        let mut dependencies = tree.packages.iter().flat_map(|package| &package.dependencies);
        if !dependencies.any(|dependency| dependency.name == *name) {
            let problem = format!("no member uses {name}: remove it");
            findings.push(Finding::new(MANIFEST, *line, problem));
        }
        if !is_ours && !listed.iter().any(|(_, cell)| cell == name) {
            let problem = format!("{name} has no row in {LIST}: say there what it is for");
            findings.push(Finding::new(MANIFEST, *line, problem));
        }
    }
    for (line, cell) in listed {
        if !declared.iter().any(|(_, name)| *name == cell) {
            let problem = format!("{cell} is no dependency any more: remove the row");
            findings.push(Finding::new(LIST, line, problem));
        }
    }
    findings
}

/// Names and lines of the entries of `[workspace.dependencies]`, in either spelling.
fn declared(manifest: &str) -> Vec<(usize, &str)> {
    let mut entries = Vec::new();
    let mut inside = false;
    // An entry may go on over several lines while a bracket is open.
    let mut depth = 0_usize;
    for (number, line) in numbered(manifest) {
        if depth == 0 && line.starts_with('[') {
            inside = line.trim_end() == "[workspace.dependencies]";
            let table = line.strip_prefix("[workspace.dependencies.");
            entries.extend(
                table.and_then(|rest| rest.trim_end().strip_suffix(']')).map(|name| (number, name)),
            );
            continue;
        }
        if inside && depth == 0 && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let end = line.find(['=', '.', ' ']).unwrap_or(line.len());
            entries.push((number, &line[..end]));
        }
        depth += line.matches(['[', '{']).count();
        depth = depth.saturating_sub(line.matches([']', '}']).count());
    }
    entries
}

/// The first cells of the rows of all tables, where they are a name in backticks.
fn first_cells(markdown: &str) -> Vec<(usize, &str)> {
    numbered(markdown)
        .filter_map(|(number, line)| {
            let cell = line.trim_start().strip_prefix('|')?.split('|').next()?.trim();
            Some((number, cell.strip_prefix('`')?.strip_suffix('`')?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace]\nmembers = [\"a\"]\n\n[workspace.dependencies]\n\
        serde = \"1\"\ntokio = { version = \"1\", features = [\n  \"rt\",\n] }\n\n\
        [workspace.dependencies.uuid]\nversion = \"1\"\n\n[profile.dev]\ndebug = 1\n";

    #[test]
    fn entries_are_found_in_every_spelling() {
        assert_eq!(declared(WORKSPACE), [(5, "serde"), (6, "tokio"), (10, "uuid")]);
    }

    #[test]
    fn rows_are_names_in_backticks() {
        let markdown = "| crate | for |\n|---|---|\n| `serde` | shapes |\ntext `tokio`\n";
        assert_eq!(first_cells(markdown), [(3, "serde")]);
    }

    #[test]
    fn unused_unlisted_and_outdated_are_three_findings() {
        let list = "| `serde` | shapes |\n| `tokio` | runtime |\n| `gone` | once |\n";
        let tree =
            Tree::of(&[(MANIFEST, WORKSPACE), (LIST, list)]).with(&[("a", &["serde", "uuid"])]);
        let lines: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(
            lines,
            [
                "Cargo.toml:6: no member uses tokio: remove it",
                "Cargo.toml:10: uuid has no row in docs/dependencies.md: say there what it is for",
                "docs/dependencies.md:3: gone is no dependency any more: remove the row",
            ]
        );
    }

    #[test]
    fn a_crate_of_ours_needs_no_row() {
        let manifest = "[workspace.dependencies]\na = { path = \"a\" }\n";
        let tree = Tree::of(&[(MANIFEST, manifest)]).with(&[("a", &[]), ("b", &["a"])]);
        assert_eq!(check(&tree), []);
    }
}
