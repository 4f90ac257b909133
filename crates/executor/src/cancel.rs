//! For executors with nothing to clean up: they end when their task does, and do not wait for their grace
//! period to pass.

use a2ad_domain::CancelSignal;
use a2ad_domain::ports::Stopped;
use std::future::Future;

/// What `work` comes to, unless the task is over before; then `work` is dropped where it stands.
pub(crate) async fn unless_canceled<T, E: From<Stopped>>(
    cancel: &CancelSignal,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        result = work => result,
        () = cancel.raised() => Err(Stopped.into()),
    }
}
