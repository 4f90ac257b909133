//! The inputs that are kept: what the fuzzer begins with, and what it has found.

use std::path::{Path, PathBuf};

/// The folder of a target's seeds. A file is an input; in one whose name ends in `.inputs`, each line is the
/// input of a small text, so that not every line needs a file.
#[must_use]
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target)
}

/// A target's seeds with their names, in the order of the names.
///
/// # Errors
/// When they cannot be read.
pub fn read(target: &str) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut seeds = Vec::new();
    for entry in std::fs::read_dir(folder(target))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path)?;
        if !name.ends_with(".inputs") {
            seeds.push((name, bytes));
            continue;
        }
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty());
        seeds.extend(lines.map(|(index, line)| (format!("{name}:{}", index + 1), line.to_vec())));
    }
    seeds.sort();
    Ok(seeds)
}

/// The words that inputs are made of, from the dictionary that the fuzzer uses as well.
///
/// # Errors
/// When it cannot be read.
pub fn words() -> std::io::Result<Vec<Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionary.txt");
    let text = std::fs::read_to_string(path)?;
    let quoted = |line: &str| {
        let inside = line.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some(inside.replace("\\\"", "\"").replace("\\\\", "\\").into_bytes())
    };
    Ok(text.lines().filter_map(quoted).collect())
}
