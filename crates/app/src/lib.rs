//! Puts the parts together: configuration, wiring, the running server. The binary `a2ad` is a thin shell
//! around this; teams with executors in Rust use it as a library, and find here what an executor needs.
//! `docs/extending-executors.md` leads from nothing to one that streams, asks and can be canceled.
//!
//! ```no_run
//! use a2ad::{AgentError, AgentExecutor, Card, Outcome, Parts, Server, TaskWriter, Turn, async_trait};
//!
//! struct Shout;
//!
//! #[async_trait]
//! impl AgentExecutor for Shout {
//!     async fn run(&self, turn: Turn, _out: &mut TaskWriter) -> Result<Outcome, AgentError> {
//!         Ok(Outcome::Completed(Some(Parts::text(turn.request.text().to_uppercase()))))
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//!     let card = Card::new("Shout", "Says loudly what it is told.");
//!     Server::builder().agent("shout", card, Shout).serve("127.0.0.1:8000").await?;
//!     Ok(())
//! }
//! ```

mod app;
mod backup;
mod clock;
pub mod config;
mod directory;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gauges;
mod guards;
mod ids;
mod kept;
pub mod logs;
mod post;
mod server;
mod signals;

/// The snippets of the document are tests: each is compiled, and run where it does not serve.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/extending-executors.md")]
struct ExtendingExecutors;

#[cfg(feature = "testing")]
pub use a2ad_domain::executor_contract;
pub use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Stopped, Turn,
};
pub use a2ad_domain::service::{Service, TaskWriter};
pub use a2ad_domain::{
    Agent, AgentId, AgentSettings, ArtifactId, ArtifactUpdate, CancelSignal, Card, Content,
    Message, OnCrash, OnOverdue, Part, Parts, RawJson, Role, SendDefault, Skill, WhileWorking,
};
pub use a2ad_executor::Drained;
pub use async_trait::async_trait;

pub use app::{App, AppBuilder};
pub use backup::back_up;
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
    /// A file cannot be written.
    pub const CANTCREAT: u8 = 73;
    /// Told to stop, the server could not store the end of some tasks.
    pub const IOERR: u8 = 74;
    /// The configuration makes no sense.
    pub const CONFIG: u8 = 78;
    /// Told a second time to stop, the process did so at once.
    pub const INTERRUPTED: u8 = 130;
}
