//! The signals that stop a server: the first one in order, the second one at once.

use crate::exit;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals from now on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn new() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the first signal; a second one then ends the process.
    pub(crate) async fn stop(mut self) {
        self.next().await;
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(exit::INTERRUPTED.into());
        });
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
