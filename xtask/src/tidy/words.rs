//! Words that have no place in the project: names of writing tools and paths that exist on one
//! machine only.

use super::{Finding, numbered};
use crate::tree::Tree;

/// In lower case, and in two halves, so that this file keeps its own rule.
const WORDS: [&str; 6] = [
    concat!("chat", "gpt"),
    concat!("co", "pilot"),
    concat!("language model ", "wrote"),
    concat!("/wo", "rk/"),
    concat!("../sh", "ared"),
    concat!("crates.", "io/api"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (number, line) in numbered(text) {
            if let Some(word) = unwanted(line) {
                let problem = format!("`{word}` has no place in the project: say it without");
                findings.push(Finding::new(path, number, problem));
            }
        }
    }
    findings
}

fn unwanted(line: &str) -> Option<&'static str> {
    let line = line.to_ascii_lowercase();
    WORDS.into_iter().find(|word| line.match_indices(word).any(|(at, _)| whole(&line, at, word)))
}

/// Whether the match is a word of its own. What begins or ends with punctuation needs no
/// border on that side; a path that goes on is still the path.
fn whole(line: &str, at: usize, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    let open_end = word.ends_with(letter) && line[at + word.len()..].starts_with(letter);
    !line[..at].ends_with(letter) && !open_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        assert_eq!(unwanted(concat!("by Co", "Pilot.")), Some(WORDS[1]));
        assert_eq!(unwanted(concat!("cd /wo", "rk/main")), Some(WORDS[3]));
    }

    #[test]
    fn parts_of_words_are_not() {
        assert_eq!(unwanted(concat!("co", "piloted")), None);
        assert_eq!(unwanted(concat!("frame/wo", "rk/x")), None);
        assert_eq!(unwanted("the task is at work/rest"), None);
    }
}
