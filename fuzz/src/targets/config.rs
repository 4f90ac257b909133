//! The configuration: what is refused is refused at a line that there is.

use a2ad::Config;

pub(super) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Err(error) = Config::parse(text, "a2ad.toml") else { return };
    let said = error.to_string();
    let problem = said.strip_prefix("a2ad.toml").unwrap_or_else(|| panic!("no file: {said}"));
    let (line, problem) = match problem.strip_prefix(": ") {
        Some(problem) => (None, problem),
        None => {
            let rest = problem.strip_prefix(':').unwrap_or_else(|| panic!("no place: {said}"));
            let (line, problem) =
                rest.split_once(": ").unwrap_or_else(|| panic!("no line: {said}"));
            (Some(line.parse::<usize>().expect("the number of a line")), problem)
        }
    };
    let lines = text.split('\n').count();
    assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "{said}, of {lines}");
    assert!(!problem.trim().is_empty(), "{said}");
}
