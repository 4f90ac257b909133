//! The decisions in docs/adr: one number, one file, one entry in the list.

use super::Finding;
use crate::tree::Tree;
use std::collections::BTreeMap;

const FOLDER: &str = "docs/adr/";
const LIST: &str = "docs/adr/README.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let list = tree.text(LIST).unwrap_or_default();
    let mut numbers: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, _) in tree.texts() {
        let Some(name) = path.strip_prefix(FOLDER).filter(|_| path != LIST) else {
            continue;
        };
        let Some(number) = number(name) else {
            let problem = "name it NNNN-title.md, the title in small letters and dashes";
            findings.push(Finding::new(path, 1, problem));
            continue;
        };
        if let Some(other) = numbers.insert(number, name) {
            let problem = format!("{other} has the number {number} already: take the next");
            findings.push(Finding::new(path, 1, problem));
        }
        if !list.contains(&format!("({name})")) {
            findings.push(Finding::new(path, 1, format!("add a link to it to {LIST}")));
        }
    }
    findings
}

/// The number of a well-formed name.
fn number(name: &str) -> Option<&str> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_number = number.len() == 4 && number.chars().all(|c| c.is_ascii_digit());
    let is_title = !title.is_empty() && title.chars().all(small);
    (is_number && is_title).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_number_and_a_title() {
        assert_eq!(number("0001-one-binary.md"), Some("0001"));
        for name in ["1-one.md", "0001.md", "0001-.md", "0001-One.md", "0001-a/b.md", "0001-a.txt"]
        {
            assert_eq!(number(name), None, "{name}");
        }
    }

    #[test]
    fn every_decision_is_listed_once() {
        let list = "- [One](0001-one.md)\n- [Two](0002-two.md)\n";
        let good = [(LIST, list), ("docs/adr/0001-one.md", ""), ("docs/adr/0002-two.md", "")];
        assert_eq!(check(&Tree::of(&good)), []);
        let bad = [(LIST, list), ("docs/adr/0001-one.md", ""), ("docs/adr/0001-other.md", "")];
        let problems: Vec<_> = check(&Tree::of(&bad)).into_iter().map(|it| it.problem).collect();
        assert_eq!(
            problems,
            [
                "0001-one.md has the number 0001 already: take the next",
                "add a link to it to docs/adr/README.md"
            ]
        );
    }
}
