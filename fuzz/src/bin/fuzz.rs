//! The loop that looks for inputs, guided by coverage. `FUZZ_TARGET` names the target; the arguments are those of
//! libFuzzer. Half of the changes are our own, which know words and values, the other half libFuzzer's.
#![no_main]

use a2ad_fuzz::memory::Counting;
use a2ad_fuzz::mutate::{Chance, mutate};
use a2ad_fuzz::{Target, seeds};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::Path;
use std::sync::LazyLock;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    Target::named(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name} is no target"))
});

/// What changes are made of.
struct Material {
    inputs: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

static MATERIAL: LazyLock<Material> = LazyLock::new(|| {
    let inputs = seeds::read(TARGET.name).expect("seeds");
    let inputs = inputs.into_iter().map(|(_, input)| input).collect();
    Material { inputs, words: seeds::words().expect("words") }
});

fuzz_target!(
    // The kept inputs, each in a file, are what the search begins with.
    init: if let Some(corpus) = std::env::var_os("FUZZ_CORPUS") {
        write_seeds(Path::new(&corpus));
    },
    |input: &[u8]| -> Corpus {
        if input.len() > TARGET.longest {
            return Corpus::Reject;
        }
        TARGET.check(input);
        Corpus::Keep
    }
);

fn write_seeds(corpus: &Path) {
    for (name, input) in seeds::read(TARGET.name).expect("seeds") {
        let file = corpus.join(name.replace(':', "-"));
        std::fs::write(file, input).expect("a folder that can be written");
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, longest: usize, seed: u32| {
    let mut chance = Chance::new(u64::from(seed));
    if chance.below(2) == 0 {
        return fuzzer_mutate(data, size, longest);
    }
    let Material { inputs, words } = &*MATERIAL;
    let mut input = data[..size].to_vec();
    mutate(&mut input, inputs, words, longest.min(TARGET.longest), &mut chance);
    data[..input.len()].copy_from_slice(&input);
    input.len()
});
