//! The limits whose refusals are counted, for `/metrics`. `docs/limits.md` has a row for each.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! limits {
    ($($(#[$doc:meta])* $limit:ident = $name:literal,)*) => {
        /// A limit that has kept somebody from something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Limit {
            $($(#[$doc])* $limit,)*
        }

        impl Limit {
            /// All of them.
            pub const ALL: &'static [Limit] = &[$(Limit::$limit,)*];

            /// Its name in `/metrics`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Limit::$limit => $name,)*
                }
            }
        }
    };
}

limits! {
    /// A connection had to wait until another one ended.
    Connections = "connections",
    /// A handshake took too long.
    Handshake = "handshake",
    /// The head of a request took too long.
    HeadTime = "head_time",
    /// The head of a request was too long, or had too many headers.
    Head = "head",
    /// The path and query were too long.
    Target = "target",
    /// A client paused within a body, or took too long for all of it.
    BodyTime = "body_time",
    /// A body was too long.
    Body = "body",
    /// A client did not take its answer.
    WriteTime = "write_time",
    /// A caller asked too often.
    Rate = "rate",
    /// A caller has as many live tasks as one may have.
    OwnerTasks = "owner_tasks",
    /// A caller follows as many tasks as one may.
    OwnerStreams = "owner_streams",
    /// A message had too many parts.
    Parts = "parts",
    /// Data or metadata of a message was nested too deep.
    Depth = "depth",
    /// Metadata of a message was too long.
    Metadata = "metadata",
    /// An id or a name in a message was too long.
    Id = "id",
    /// A message referred to too many tasks, or named too many extensions.
    References = "references",
    /// A task could not hold one more message.
    TaskSize = "task_size",
    /// As many runs as the agent may have were under way or queued.
    Runs = "runs",
    /// The store was full of live tasks.
    Store = "store",
}

/// How often each limit has been met.
#[derive(Debug)]
pub struct Tally([AtomicU64; Limit::ALL.len()]);

impl Default for Tally {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Tally {
    pub(crate) fn count(&self, limit: Limit) {
        // Declared without values, so a limit is its own place in `ALL`.
        self.0[limit as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often this limit has been met.
    #[must_use]
    pub fn of(&self, limit: Limit) -> u64 {
        self.0[limit as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_counted_apart() {
        let tally = Tally::default();
        for (index, limit) in Limit::ALL.iter().enumerate() {
            (0..index).for_each(|_| tally.count(*limit));
        }
        for (index, limit) in Limit::ALL.iter().enumerate() {
            assert_eq!(tally.of(*limit), index as u64, "{limit:?}");
        }
    }
}
