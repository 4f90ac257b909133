//! Takes connections: limits how many, how long a request's head may take, and ends them gracefully.

use crate::card::Peer;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// How many at once; further ones wait to be taken.
    pub max: usize,
    /// How long a request's head may take, which is also how long a connection may idle.
    pub head_timeout: Duration,
    /// How long connections may take to end after `stop`.
    pub linger: Duration,
    /// Whether requests are told over which connection they came.
    pub name_peers: bool,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 16_384,
            head_timeout: Duration::from_secs(75),
            linger: Duration::from_secs(1),
            name_peers: false,
        }
    }
}

/// Serves until `stop`, then lets open connections finish what they are at.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Connections,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(limits.max.min(Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { break };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // A lack of file handles passes; spinning on it would not help.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        // Without this every frame of a stream waits for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let router = if limits.name_peers {
            router.clone().layer(Extension(Peer(peer.ip())))
        } else {
            router.clone()
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // Clients may go at any time; that is no error of ours.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.linger, open.shutdown()).await;
}
