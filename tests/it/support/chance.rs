//! Chance that can be had again: all of it comes from one number.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::hash::{BuildHasher, Hasher, RandomState};

/// The variable that names the number.
const SEED: &str = "TEST_SEED";

/// The number that the environment names, or a fresh one. It is printed, so that whoever reads of a
/// failure can have the same values again; what they meet is up to the machine.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var(SEED) {
        Ok(named) => named.parse().expect("a number in TEST_SEED"),
        Err(_) => RandomState::new().build_hasher().finish(),
    };
    println!("seed: {SEED}={seed}");
    seed
}

/// Draws values for one party, so that none depends on how quick the others are.
pub(crate) struct Chance(TestRunner);

impl Chance {
    pub(crate) fn new(seed: u64, party: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&party.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let config = Config { failure_persistence: None, ..Config::default() };
        Self(TestRunner::new_with_rng(config, random))
    }

    pub(crate) fn draw<S: Strategy>(&mut self, from: &S) -> S::Value {
        from.new_tree(&mut self.0).expect("a value").current()
    }
}
