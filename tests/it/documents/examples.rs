//! The examples do what their documents say.

use super::blocks::blocks;
use super::commands::compare;
use super::read;
use super::shell::{Service, Shell};

/// Runs the commands of an example's document against its server. Commands that start something are not
/// run: the test has started it already, on a free port.
fn follow(name: &str, shell: &Shell) {
    follow_with(name, shell, |_| {});
}

/// The same after something in the commands was made to fit.
fn follow_with(name: &str, shell: &Shell, adjust: impl Fn(&mut String)) {
    const STARTS: [&str; 5] = ["cargo run", "a2ad serve", "a2ad key signing", "python3 ", "node "];
    let mut blocks = blocks(&read(&format!("examples/{name}/README.md")));
    blocks.iter_mut().for_each(|block| adjust(&mut block.text));
    let mut run = 0;
    for (index, block) in blocks.iter().enumerate().filter(|(_, it)| it.language == "sh") {
        if STARTS.iter().any(|start| block.text.starts_with(start)) {
            continue;
        }
        run += 1;
        compare(shell, block, blocks.get(index + 1)).unwrap_or_else(|problem| {
            panic!("examples/{name}/README.md:{}: {problem}", block.line)
        });
    }
    assert!(run > 0, "examples/{name} shows no command");
}

const SERVE: &str = "a2ad serve --config a2ad.toml --listen 127.0.0.1:0";

#[test]
fn the_example_in_rust_does_what_its_document_says() {
    follow("rust", &Shell::example("rust", "a2ad-example-sum 127.0.0.1:0", |_| {}));
}

#[test]
fn the_example_of_programs_does_what_its_document_says() {
    follow("command", &Shell::example("command", SERVE, |_| {}));
}

#[test]
fn the_example_of_a_service_does_what_its_document_says() {
    let service = Service::start("http", "python3 service.py 0");
    follow(
        "http",
        &Shell::example("http", SERVE, |toml| service.stands_for("127.0.0.1:9000", toml)),
    );
}

#[test]
fn the_example_of_a_model_does_what_its_document_says() {
    let service = Service::start("openai", "python3 model.py 0");
    let shell = Shell::example("openai", SERVE, |toml| service.stands_for("127.0.0.1:9001", toml));
    follow("openai", &shell);
}

#[test]
fn the_example_of_a_webhook_does_what_its_document_says() {
    let key = "a2ad key signing webhook-key.pem > webhook-key.jwk";
    let shell = Shell::example("webhook", &format!("{key} && exec {SERVE}"), |_| {});
    let shares = Service::start("webhook", "python3 receiver.py 0");
    let looks_up =
        Service::start("webhook", &shell.addressed("node receiver.mjs 0 http://127.0.0.1:8000"));
    follow_with("webhook", &shell, |text| {
        for (receiver, usual) in [(&shares, "127.0.0.1:9002"), (&looks_up, "127.0.0.1:9003")] {
            if text.contains(usual) {
                receiver.stands_for(usual, text);
            }
        }
    });
}
