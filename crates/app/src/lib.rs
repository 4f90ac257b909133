//! Puts the parts together: configuration, wiring, the running server. The binary `a2ad` is a thin shell
//! around this; teams with executors in Rust use it as a library.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use a2ad::{App, Config};
//! let app = App::builder(Config::default()).build()?;
//! let server = app.bind().await?;
//! println!("listening on http://{}", server.local_addr());
//! server.run(std::future::pending()).await;
//! # Ok(()) }
//! ```

mod app;
mod clock;
pub mod config;
mod gauges;
mod ids;
pub mod logs;
mod server;

pub use app::{App, AppBuilder};
pub use clock::SystemClock;
pub use config::{Config, ConfigError};
pub use gauges::Gauges;
pub use ids::RandomIds;
pub use server::Server;

/// What the process says when it ends, after the numbers of sysexits.h.
pub mod exit {
    /// Everything went as it should.
    pub const OK: u8 = 0;
    /// The command line makes no sense.
    pub const USAGE: u8 = 64;
    /// The address cannot be listened on, or the server failed.
    pub const UNAVAILABLE: u8 = 69;
    /// The configuration makes no sense.
    pub const CONFIG: u8 = 78;
    /// Told a second time to stop, the process did so at once.
    pub const INTERRUPTED: u8 = 130;
}
