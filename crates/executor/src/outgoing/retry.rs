//! When a call is made again: only as long as nothing of it can have been worked on.

use reqwest::header::RETRY_AFTER;
use reqwest::{Error, RequestBuilder, Response, StatusCode};
use std::time::Duration;

/// The first pause; it doubles.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest that a service is waited for because it asks for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends until the service takes the call, at most `retries` times again. No connection, or one of the
/// statuses `busy`, means that it has not. A call that broke after it was sent may have been worked on, so
/// it is not made again.
pub(super) async fn send(
    request: RequestBuilder,
    retries: u32,
    busy: &[StatusCode],
) -> Result<Response, Error> {
    let mut pause = PAUSE;
    for _ in 0..retries {
        let Some(copy) = request.try_clone() else { break };
        let sent = copy.send().await;
        let wait = match &sent {
            Ok(response) if busy.contains(&response.status()) => asked_for(response, pause),
            Err(error) if error.is_connect() => Some(pause),
            Ok(_) | Err(_) => None,
        };
        let Some(wait) = wait else { return sent };
        tokio::time::sleep(wait).await;
        pause *= 2;
    }
    request.send().await
}

/// How long to wait; `None` when the service asks for longer than anybody waits.
fn asked_for(response: &Response, pause: Duration) -> Option<Duration> {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let asked = header.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    Some(asked.unwrap_or(pause)).filter(|wait| *wait <= PATIENCE)
}
