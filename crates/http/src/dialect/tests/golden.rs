//! Every sample in every dialect is byte for byte what the golden files say. `UPDATE_GOLDEN=1` rewrites
//! the files; what has changed is then to be looked at like any other change.

use super::samples::{Sample, each};
use super::{Dialect, Shape, dialects};
use crate::dialect::encode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// The bytes of a sample; `None` when the dialect does not show it.
fn written(sample: &Sample<'_>, dialect: &dyn Dialect, shape: &Shape) -> Option<String> {
    let mut out = Vec::new();
    match sample {
        Sample::Answer(answer) => encode::answer(answer, shape, &mut out),
        Sample::Event(event) => {
            if !encode::change(event, shape, &mut out) {
                return None;
            }
        }
        Sample::Fault(fault) => dialect.fault(fault, shape, &mut out),
    }
    let text = String::from_utf8(out).expect("UTF-8");
    serde_json::from_str::<serde_json::Value>(&text)
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    Some(text)
}

/// The files as they have to be: an object with one sample on each line.
fn files() -> BTreeMap<PathBuf, String> {
    let mut files: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for (name, dialect, shape) in dialects() {
        each(|file, sample_name, sample| {
            let value = written(sample, dialect, shape);
            let mut line = serde_json::Value::from(sample_name).to_string();
            let _ = write!(line, ": {}", value.as_deref().unwrap_or("\"not shown\""));
            files.entry(folder().join(name).join(format!("{file}.json"))).or_default().push(line);
        });
    }
    let text = |lines: Vec<String>| format!("{{\n{}\n}}\n", lines.join(",\n"));
    files.into_iter().map(|(path, lines)| (path, text(lines))).collect()
}

#[test]
fn every_dialect_writes_every_sample_as_it_is_written_down() {
    let files = files();
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        for (path, text) in &files {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file that can be written");
        }
    }
    let mut changed = Vec::new();
    for (path, wanted) in &files {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let pairs = wanted.lines().zip(text.lines().chain(std::iter::repeat("nothing")));
        let differing = pairs.filter(|(new, old)| new != old);
        changed.extend(differing.map(|(new, old)| format!("{}\n- {old}\n+ {new}", path.display())));
        if changed.is_empty() && text != *wanted {
            changed.push(format!("{}: more than there should be", path.display()));
        }
    }
    changed.truncate(5);
    assert!(changed.is_empty(), "{}\nUPDATE_GOLDEN=1 rewrites them", changed.join("\n\n"));
}

#[test]
fn there_is_no_golden_file_of_nothing() {
    let files = files();
    for dialect in std::fs::read_dir(folder()).expect("the folder") {
        for file in std::fs::read_dir(dialect.expect("an entry").path()).expect("a folder") {
            let path = file.expect("an entry").path();
            assert!(files.contains_key(&path), "{} is nobody's", path.display());
        }
    }
}

#[test]
fn names_of_samples_are_not_used_twice() {
    let mut names = std::collections::BTreeSet::new();
    each(|file, name, _| assert!(names.insert((file, name.to_owned())), "{file}: {name}"));
}

#[test]
fn no_dialect_tells_what_a_library_said() {
    for text in files().values() {
        assert!(!text.contains("secret"));
    }
}
