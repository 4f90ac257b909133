//! The one way to a URL that a caller gave. Everything that is sent to a webhook is sent by [`Client`], to
//! a [`Target`] that has been checked, over a connection to an address that has been checked.
//!
//! Open `target.rs` first, then `lookup.rs`: what is checked before a name is looked up, and after. Who is told
//! what and when is `courier.rs`.

mod client;
mod courier;
mod failure;
mod header;
mod lookup;
mod places;
mod public;
mod refused;
mod rules;
mod sender;
mod signature;
mod target;
mod token;

pub use client::Client;
pub use courier::Courier;
pub use failure::{DeliveryError, Retry};
pub use header::{HeaderText, MOST_HEADER, Unsendable};
pub use lookup::{Lookup, SystemLookup};
pub use refused::Refused;
pub use rules::Rules;
pub use sender::Sender;
pub use signature::{SIGNATURE, Signer};
pub use target::{MOST_URL, Target};
pub use token::{JWT, NoticeSigner};
