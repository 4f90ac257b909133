//! The life of a task: what opens one, what continues it, how it ends, and that it then stays as it is.

mod endings;
mod messages;
mod waiting;
