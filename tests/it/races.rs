//! Races: whoever is first, everybody then sees the same, and nothing happens twice.

mod answers;
mod cancels;
mod replicas;
mod subscribers;

/// How often a race is run. Many of them end differently, which is the point.
const ROUNDS: usize = 150;

/// After how many rounds nobody waits any more for one that ends differently.
const FOR_EVER: usize = 100 * ROUNDS;
