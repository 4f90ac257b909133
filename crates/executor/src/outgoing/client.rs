//! The HTTP client of executors that call out. The addresses are the operator's own.

use std::sync::Once;
use std::time::Duration;

/// TLS needs a provider of cryptography, once in a process. A program that embeds the server may have
/// set another one before; then that one stays.
static PROVIDER: Once = Once::new();

/// A client that gives up when no connection can be made within `connect`. It keeps connections open for
/// the next call, follows no redirects and uses no proxy of the environment: what was configured is what is
/// called, and nobody else hears of it.
pub(crate) fn client(connect: Duration) -> Result<reqwest::Client, reqwest::Error> {
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
        .connect_timeout(connect)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("a2ad/", env!("CARGO_PKG_VERSION")))
        .build()
}
