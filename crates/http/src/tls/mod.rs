//! Encrypted connections: the certificate of the server, and those of clients.

mod files;

use crate::auth::ClientSubject;
use files::Loaded;
use rustls::ServerConfig;
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Where certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate and those that lead from it to a root, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
    /// The roots of clients' certificates, in PEM; without it clients are not asked for any.
    pub client_ca: Option<PathBuf>,
}

/// Encrypts connections. Each handshake looks whether a file has changed, which costs next to nothing beside
/// the rest of a handshake; so a new certificate holds at once and nobody has to be told of it.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    timeout: Duration,
    last: Mutex<Loaded>,
}

impl Tls {
    /// Reads the files. A handshake may take as long as `timeout`.
    ///
    /// # Errors
    /// Which file cannot be used, and why.
    pub fn open(files: TlsFiles, timeout: Duration) -> std::result::Result<Self, String> {
        let last = Mutex::new(Loaded::first(&files)?);
        Ok(Self { files, timeout, last })
    }

    /// What holds for the next handshake. What cannot be used does not take the place of what can: the files
    /// of a certificate are replaced one by one.
    fn config(&self) -> Arc<ServerConfig> {
        // Nothing panics while the lock is held, and what is loaded is loaded whole.
        self.last.lock().unwrap_or_else(PoisonError::into_inner).newest(&self.files)
    }

    /// Does the handshake of one connection; says whom the client's certificate names, if it has shown one.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> Result<(TlsStream<S>, Option<ClientSubject>)> {
        let handshake = TlsAcceptor::from(self.config()).accept(stream);
        let late = |_| Error::new(ErrorKind::TimedOut, "the handshake takes too long");
        let stream = tokio::time::timeout(self.timeout, handshake).await.map_err(late)??;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let subject = shown.and_then(|certificate| ClientSubject::of(certificate));
        Ok((stream, subject))
    }
}
