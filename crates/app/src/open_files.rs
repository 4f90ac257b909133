//! How many files the process may have open. Each connection is one, and what the system lets a process have
//! to begin with is often less than it lets it have when asked.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no connections: the store, the log, programs.
const OTHERS: u64 = 256;

/// Asks for as many as there may be, and says so where that is less than so many connections need.
pub(super) fn raise(connections: usize) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let may = if raised.is_ok() { maximum } else { current };
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHERS);
    if let Some(may) = may.filter(|may| *may < needed) {
        tracing::warn!(
            may,
            needed,
            "the process may open fewer files than server.max_connections needs; raise the limit \
             (ulimit -n, LimitNOFILE) or lower the setting"
        );
    }
}
