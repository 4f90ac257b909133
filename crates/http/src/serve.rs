//! Takes connections: limits how many, how long each step of a request may take, and ends them gracefully.

use crate::card::Peer;
use crate::edge::{Cors, Limit, Paced, Tally, Threshold};
use crate::reply::Reply;
use crate::tls::Tls;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of connections, and what holds for all of them.
#[derive(Clone, Debug)]
pub struct Connections {
    /// How many at once; further ones wait to be taken.
    pub max: usize,
    /// How long a request's head may take, which is also how long a connection may idle.
    pub head_timeout: Duration,
    /// The longest head, in bytes.
    pub max_head: usize,
    /// How long a client may take nothing of what it is sent.
    pub write_timeout: Duration,
    /// How long connections may take to end after `stop`.
    pub linger: Duration,
    /// Whether requests are told over which connection they came.
    pub name_peers: bool,
    /// Encrypts them.
    pub tls: Option<Arc<Tls>>,
    /// The pages in browsers that may call; `None` for none.
    pub cors: Option<Arc<Cors>>,
    /// Counts refusals.
    pub tally: Arc<Tally>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 16_384,
            head_timeout: Duration::from_secs(75),
            max_head: 64 << 10,
            write_timeout: Duration::from_secs(120),
            linger: Duration::from_secs(1),
            name_peers: false,
            tls: None,
            cors: None,
            tally: Arc::default(),
        }
    }
}

/// Serves until `stop`, then lets open connections finish what they are at.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Connections,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(connections.max.min(Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    let linger = connections.linger;
    let host = Arc::new(Host { router, connections });
    let mut stop = pin!(stop);
    loop {
        let (place, stream) = tokio::select! {
            taken = next(&listener, &places, &host.connections.tally) => match taken {
                Some(taken) => taken,
                None => break,
            },
            () = &mut stop => break,
        };
        tokio::spawn(host.clone().take(stream, place, open.watcher()));
    }
    drop(listener);
    let _ = tokio::time::timeout(linger, open.shutdown()).await;
}

/// The next connection, as soon as there is a place for it.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    tally: &Tally,
) -> Option<(OwnedSemaphorePermit, TcpStream)> {
    if places.available_permits() == 0 {
        tally.count(Limit::Connections);
    }
    let place = places.clone().acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Some((place, stream)),
            Err(error) => {
                // A lack of file handles passes; spinning on it would not help.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// What all connections share.
struct Host {
    router: Router,
    connections: Connections,
}

impl Host {
    /// Serves one connection to its end.
    async fn take(
        self: Arc<Self>,
        stream: TcpStream,
        _place: OwnedSemaphorePermit,
        watcher: Watcher,
    ) {
        let Connections { write_timeout, name_peers, tls, cors, tally, .. } = &self.connections;
        // Without this every frame of a stream waits for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let peer = stream.peer_addr().ok().filter(|_| *name_peers);
        let mut threshold = Threshold {
            peer: peer.map(|peer| Peer(peer.ip().to_canonical())),
            subject: None,
            encrypted: tls.is_some(),
            cors: cors.clone(),
            tally: tally.clone(),
        };
        let stream = Paced::new(stream, *write_timeout, tally.clone());
        let Some(tls) = tls else { return self.speak(stream, threshold, watcher).await };
        match tls.accept(stream).await {
            Ok((stream, subject)) => {
                threshold.subject = subject;
                self.speak(stream, threshold, watcher).await;
            }
            Err(error) => {
                if error.kind() == ErrorKind::TimedOut {
                    tally.count(Limit::Handshake);
                }
                // Anybody can cause this, so it must not fill the log.
                tracing::debug!(%error, "no encrypted connection was made");
            }
        }
    }

    /// Speaks HTTP over a connection.
    async fn speak(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        threshold: Threshold,
        watcher: Watcher,
    ) {
        let limits = &self.connections;
        let threshold = Arc::new(threshold);
        let routes = TowerToHyperService::new(self.router.clone());
        let answer = service_fn(move |mut request: Request<Incoming>| {
            let threshold = threshold.clone();
            let entered = threshold.enter(&mut request);
            let asked = entered.map(|entered| (entered, routes.call(request)));
            async move {
                let (entered, reply) = match asked {
                    Ok((entered, reply)) => (entered, reply.await?),
                    Err(reply) => return Ok::<Reply, Infallible>(*reply),
                };
                Ok(threshold.leave(&entered, reply))
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .max_buf_size(limits.max_head)
            .serve_connection(TokioIo::new(stream), answer);
        // Clients may go at any time; that is no error of ours.
        if let Err(error) = watcher.watch(connection).await {
            if error.is_parse_too_large() {
                limits.tally.count(Limit::Head);
            } else if error.is_timeout() {
                limits.tally.count(Limit::HeadTime);
            }
        }
    }
}
