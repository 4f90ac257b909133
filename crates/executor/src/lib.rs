//! Runs executors ([`Runtime`]), and the ones that need no Rust: a program ([`Command`]), a service
//! ([`HttpService`]), a model ([`OpenAi`]), and two to try the server with ([`Echo`], [`Script`]).

mod admission;
mod cancel;
pub mod command;
mod echo;
mod exchange;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod http;
pub mod openai;
mod outgoing;
mod runtime;
mod script;
mod secret;

pub use command::{Command, CommandSettings};
pub use echo::Echo;
pub use exchange::Memory;
pub use http::{HttpService, HttpServiceSettings};
pub use openai::{OpenAi, OpenAiSettings};
pub use outgoing::{CallSettings, check_header, check_url};
pub use runtime::{Drained, Runtime};
pub use script::Script;
pub use secret::{Secret, SecretError, Value};
