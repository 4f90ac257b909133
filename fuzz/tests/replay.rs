//! The kept inputs, and mutations of them that are the same each time: what holds without any search.

use a2ad_fuzz::memory::Counting;
use a2ad_fuzz::mutate::{Chance, mutate};
use a2ad_fuzz::{TARGETS, Target, seeds};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many mutations of each target are tried, and of one whose servers keep files.
const MUTATIONS: usize = 2000;
const MUTATIONS_WITH_FILES: usize = 250;

/// Runs an input; a failure shows it, so that it can be kept.
fn check(target: &Target, name: &str, input: &[u8]) {
    let run = catch_unwind(AssertUnwindSafe(|| target.check(input)));
    assert!(run.is_ok(), "{} {name}: b\"{}\"", target.name, input.escape_ascii());
}

fn kept(target: &Target) -> Vec<(String, Vec<u8>)> {
    seeds::read(target.name).unwrap_or_else(|error| panic!("seeds of {}: {error}", target.name))
}

#[test]
fn every_kept_input_holds() {
    for target in &TARGETS {
        let kept = kept(target);
        assert!(kept.len() >= 3, "{} has {} seeds", target.name, kept.len());
        for (name, input) in &kept {
            assert!(input.len() <= target.longest, "{} {name} is too long", target.name);
            check(target, name, input);
        }
    }
}

#[test]
fn mutations_of_kept_inputs_hold() {
    let words = seeds::words().expect("the dictionary");
    assert!(words.len() > 200, "{} words", words.len());
    for (number, target) in TARGETS.iter().enumerate() {
        let mut inputs: Vec<Vec<u8>> = kept(target).into_iter().map(|(_, input)| input).collect();
        let mut chance = Chance::new(number as u64 + 1);
        let most = if target.keeps_files { MUTATIONS_WITH_FILES } else { MUTATIONS };
        for index in 0..most {
            let mut input = inputs[chance.below(inputs.len())].clone();
            mutate(&mut input, &inputs, &words, target.longest, &mut chance);
            check(target, &format!("mutation {index}"), &input);
            // What is changed again gets further away.
            if chance.below(8) == 0 {
                inputs.push(input);
            }
        }
    }
}

#[test]
fn every_folder_of_seeds_belongs_to_a_target() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), TARGETS.len(), "two targets have one name");
    let folder = seeds::folder("");
    for entry in std::fs::read_dir(folder).expect("the seeds") {
        let name = entry.expect("an entry").file_name();
        assert!(names.contains(&*name.to_string_lossy()), "{} is nobody's", name.display());
    }
}

#[test]
fn the_document_describes_every_target() {
    let path = seeds::folder("").join("../../docs/fuzzing.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let described: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
        .collect();
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(described, names);
}
