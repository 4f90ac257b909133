//! Logs: to the standard error, for people when that is a terminal and as JSON otherwise. What messages
//! say is never logged, and neither are credentials.

use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;

/// The environment variable with the filter, such as `info` or `a2ad=debug`.
pub const FILTER: &str = "A2AD_LOG";

/// Starts logging. Does nothing when the process logs already.
pub fn start() {
    let filter = EnvFilter::try_from_env(FILTER).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let _ = if stderr().is_terminal() {
        builder.with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
    // The standard hook prints what the panic says, which may be what a message says.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
}
