//! The documents keep up with the code: every error number has a row in docs/errors.md, and
//! every relative link leads to a file.

use super::wire_words::error_number;
use super::{Finding, numbered};
use crate::tree::Tree;

const TABLE: &str = "crates/domain/src/error.rs";
const ERRORS: &str = "docs/errors.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = errors(tree);
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text) {
            if resolve(path, &target).is_none_or(|file| !tree.contains(&file)) {
                let problem = format!("the link to {target} leads nowhere");
                findings.push(Finding::new(path, line, problem));
            }
        }
    }
    findings
}

fn errors(tree: &Tree) -> Vec<Finding> {
    let rows: Vec<i32> = numbered(tree.text(ERRORS).unwrap_or_default())
        .filter(|(_, line)| line.trim_start().starts_with('|'))
        .filter_map(|(_, line)| error_number(line))
        .collect();
    numbered(tree.text(TABLE).unwrap_or_default())
        .filter_map(|(line, text)| Some((line, error_number(text)?)))
        .filter(|(_, number)| !rows.contains(number))
        .map(|(line, number)| {
            let problem = format!("{number} has no row in {ERRORS}: say what a caller does then");
            Finding::new(TABLE, line, problem)
        })
        .collect()
}

/// The relative targets of the links of a document, outside code.
fn links(markdown: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in numbered(markdown) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece between backticks is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for link in prose.split("](").skip(1) {
            let end = link.find([')', ' ']).unwrap_or(link.len());
            let target = link[..end].split('#').next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !elsewhere {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// The path that a link in `document` means, or none if it leaves the project.
fn resolve(document: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_row() {
        let table = "A => (-32001, x),\nB => (-32700, y),\n";
        let list = "text -32700\n| number | name |\n| `-32001` | task not found |\n";
        let found = check(&Tree::of(&[(TABLE, table), (ERRORS, list)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn links_are_read_outside_code() {
        let text = "[a](b.md) and [`c`](d/e.md#f \"g\")\n`[x](y.md)`\n```\n[x](z.md)\n```\n\
            [h](https://example.org) [i](#j) ![k](l.png)\n";
        let targets: Vec<_> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(targets, ["b.md", "d/e.md", "l.png"]);
    }

    #[test]
    fn a_link_leads_from_its_document() {
        assert_eq!(resolve("docs/adr/README.md", "../errors.md").unwrap(), "docs/errors.md");
        assert_eq!(resolve("README.md", "./docs/").unwrap(), "docs");
        assert_eq!(resolve("README.md", "../x"), None);
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        let tree = Tree::of(&[("a.md", "\n[b](b.md) [c](c/d.md) [c](c)"), ("c/d.md", "")]);
        let lines: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(lines, ["a.md:2: the link to b.md leads nowhere"]);
    }
}
