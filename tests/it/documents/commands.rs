//! Every command of the documents is run, and answers what the document shows.

use super::blocks::{Block, blocks};
use super::masks::{canonical, masked};
use super::shell::Shell;
use super::{documents, read};
use serde_json::Value;

#[test]
fn the_commands_of_the_documents_do_what_the_documents_say() {
    let mut problems = Vec::new();
    let mut run = 0;
    for path in documents() {
        let blocks = blocks(&read(&path));
        if !blocks.iter().any(|block| block.language == "sh") {
            continue;
        }
        // What is about operators is run against a server that has some.
        let operators =
            blocks.iter().find(|it| it.language == "toml" && it.text.starts_with("[admin"));
        let shell = Shell::with_config(&path, operators.map_or("", |block| &block.text));
        if let Some(file) = blocks.iter().find(|block| block.language == "toml") {
            shell.file("a2ad.toml", &file.text);
        }
        for (index, block) in blocks.iter().enumerate().filter(|(_, it)| it.language == "sh") {
            let shown = blocks.get(index + 1).filter(|next| is_answer(next));
            run += 1;
            if let Err(problem) = check(&shell, block, shown) {
                problems.push(format!("{path}:{}: {problem}", block.line));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n\n"));
    assert!(run >= 10, "only {run} blocks of commands were found");
}

/// What directly follows commands is what they print.
fn is_answer(block: &Block) -> bool {
    block.language == "json" || block.language == "text"
}

fn check(shell: &Shell, block: &Block, shown: Option<&Block>) -> Result<(), String> {
    let lines = || block.text.lines().filter(|line| !line.is_empty());
    if lines().any(|line| line.starts_with("cargo ")) {
        return lines().try_for_each(is_known_task);
    }
    if lines().any(|line| line.contains("a2ad serve")) {
        for line in lines() {
            if line.contains("a2ad serve") {
                shell.serves(line);
            } else {
                shell.run(line)?;
            }
        }
        return Ok(());
    }
    compare(shell, block, shown)
}

/// Runs commands and compares what they print with what the document shows, if that follows.
pub(super) fn compare(shell: &Shell, block: &Block, shown: Option<&Block>) -> Result<(), String> {
    let printed = shell.run(&block.text)?;
    let Some(shown) = shown.filter(|next| is_answer(next)) else { return Ok(()) };
    let expected = shell.addressed(&shown.text);
    let (expected, printed) = if shown.language == "json" {
        (comparable(&expected)?, comparable(&printed)?)
    } else {
        (expected.trim_end().to_owned(), printed.trim_end().to_owned())
    };
    if masked(&expected) == masked(&printed) {
        return Ok(());
    }
    Err(format!("the document shows\n{expected}\nand the server answers\n{printed}"))
}

fn comparable(json: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("{error}: {json:?}"))?;
    Ok(canonical(&value))
}

/// The tasks of the project are not run by its tests; they are the tasks that there are.
fn is_known_task(line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["cargo", "xtask", task, ..] = words[..] else {
        return Err(format!("`{line}` is no task of the project"));
    };
    let arm = format!("Some(\"{task}\") =>");
    if read("xtask/src/main.rs").contains(&arm) {
        Ok(())
    } else {
        Err(format!("there is no task `{task}`"))
    }
}

#[test]
fn a_document_that_shows_something_else_is_found_out() {
    let shell = Shell::open("mistakes");
    let block = |language: &str, text: &str| Block {
        language: language.to_owned(),
        line: 1,
        text: text.to_owned(),
    };
    let health = block("sh", "curl -s http://127.0.0.1:8000/healthz");
    assert_eq!(check(&shell, &health, Some(&block("json", r#"{"status":"ok"}"#))), Ok(()));
    for (commands, shown) in [
        (&health, block("json", r#"{"status":"good"}"#)),
        (&health, block("text", "ok")),
        (&block("sh", "curl -sf http://127.0.0.1:8000/nowhere"), block("text", "")),
        (&block("sh", "false | cat"), block("text", "")),
        (&block("sh", "cargo xtask fly"), block("text", "")),
        (&block("sh", "cargo install everything"), block("text", "")),
    ] {
        assert!(check(&shell, commands, Some(&shown)).is_err(), "{}", commands.text);
    }
}
