//! Certificates as they are in their files, and how they become what a handshake needs.

use super::TlsFiles;
use crate::auth::{Stamp, load};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use std::path::Path;
use std::sync::Arc;

/// HTTP/1.1 is what the server speaks.
const PROTOCOL: &[u8] = b"http/1.1";

type Stamps = [Option<Stamp>; 3];

/// What the files held when they were last read with success.
#[derive(Debug)]
pub(super) struct Loaded {
    config: Arc<ServerConfig>,
    /// The files as they were when they were last looked at, with success or not.
    seen: Stamps,
}

impl Loaded {
    pub(super) fn first(files: &TlsFiles) -> Result<Self, String> {
        // Looked at before they are read: what changes in between is read again.
        let seen = stamps(files);
        Ok(Self { config: read(files)?, seen })
    }

    pub(super) fn newest(&mut self, files: &TlsFiles) -> Arc<ServerConfig> {
        let now = stamps(files);
        if now != self.seen {
            self.seen = now;
            match read(files) {
                Ok(config) => {
                    tracing::info!("certificates have changed; new connections use the new ones");
                    self.config = config;
                }
                Err(error) => {
                    tracing::error!(error, "new certificates cannot be used; the old ones stay");
                }
            }
        }
        self.config.clone()
    }
}

fn stamps(files: &TlsFiles) -> Stamps {
    [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()]
        .map(|path| path.and_then(|path| Stamp::at(path)))
}

fn read(files: &TlsFiles) -> Result<Arc<ServerConfig>, String> {
    let chain = loaded(&files.certificate, certificates)?;
    let key = loaded(&files.key, key)?;
    let named = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().map_err(|it| it.to_string())?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for root in loaded(path, certificates)? {
                roots.add(root).map_err(|error| named(path, &error))?;
            }
            // A client without one is let in here, since agents may ask for something else or for nothing;
            // one that shows a bad one is not.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = verifier.allow_unauthenticated().build();
            builder.with_client_cert_verifier(verifier.map_err(|error| named(path, &error))?)
        }
    };
    let config = builder.with_single_cert(chain, key);
    let mut config = config.map_err(|error| named(&files.certificate, &error))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    if files.client_ca.is_some() {
        // A session that is taken up again would not have its certificate checked again.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(Arc::new(config))
}

fn loaded<T>(path: &Path, read: fn(&str) -> Result<T, String>) -> Result<T, String> {
    load(path, read).map(|(_, value)| value).map_err(|error| error.to_string())
}

fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, pem::Error> =
        CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err("holds no certificate in PEM".to_owned()),
        Err(error) => Err(format!("holds no certificates in PEM: {error}")),
    }
}

fn key(text: &str) -> Result<PrivateKeyDer<'static>, String> {
    // What is wrong with a key is not told: it might be told with a piece of it.
    PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|_| "holds no private key in PEM".to_owned())
}
