//! Everything a caller can make grow has a limit, a clear refusal, and leaves nothing behind.

mod deadlines;
mod leftovers;
mod runs;
mod store;
