//! What must hold of the inside of this crate whatever a program, a service or a model says. The package `fuzz`
//! runs it; nothing else has the feature.

mod answer;
mod events;

pub use answer::{Said, take};
pub use events::events;
