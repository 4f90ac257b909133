//! Runs executors ([`Runtime`]) and the built-in ones: [`Echo`] and [`Script`].

mod cancel;
mod echo;
mod runtime;
mod script;

pub use echo::Echo;
pub use runtime::{Drained, Runtime};
pub use script::Script;
