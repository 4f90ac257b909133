//! Shutting down: no message is taken any more, runs may end, what does not end is ended, and everybody
//! is told.

mod file;
mod held;
pub(crate) mod in_process;
pub(crate) mod process;
mod signals;
