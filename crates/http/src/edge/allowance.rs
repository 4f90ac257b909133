//! What one caller may take of what all of them share: requests in a time, and open streams. A caller is an
//! owner, or, where callers do not say who they are, the address that a request comes from.

use super::address;
use super::requests::{Rate, Requests};
use super::streams::{Seat, Streams};
use a2ad_domain::Owner;
use axum::http::request::Parts;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Somebody whose requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Owner(Owner),
    Address(IpAddr),
    /// A request whose address is not known: all of them together.
    Unknown,
}

/// What one caller may take.
pub struct Allowance {
    rate: Option<Requests>,
    streams: Option<Arc<Streams>>,
    trusted: Vec<IpNet>,
}

impl Allowance {
    /// What is limited; `None` where it is not. `trusted` are the proxies that say whose requests they pass on.
    #[must_use]
    pub fn new(rate: Option<Rate>, streams: Option<usize>, trusted: Vec<IpNet>) -> Self {
        let streams = streams.map(|most| Arc::new(Streams::new(most)));
        Self { rate: rate.and_then(Requests::new), streams, trusted }
    }

    /// Whether anything is.
    #[must_use]
    pub fn limits_anything(&self) -> bool {
        self.rate.is_some() || self.streams.is_some()
    }

    /// Who sends a request, where that matters. `owner` is whom its credentials show.
    pub(crate) fn who(&self, owner: Option<&Owner>, head: &Parts) -> Option<Who> {
        if !self.limits_anything() {
            return None;
        }
        Some(match owner {
            Some(owner) => Who::Owner(owner.clone()),
            None => address::of(head, &self.trusted).map_or(Who::Unknown, Who::Address),
        })
    }

    /// Counts a request; an error says when there may be one more.
    pub(crate) fn request(&self, who: Option<&Who>) -> Result<(), Duration> {
        match (&self.rate, who) {
            (Some(requests), Some(who)) => requests.count(who),
            _ => Ok(()),
        }
    }

    /// A place for an open stream, until it is dropped; `Err` when there is none.
    pub(crate) fn stream(&self, who: Option<&Who>) -> Result<Option<Seat>, ()> {
        match (&self.streams, who) {
            (Some(streams), Some(who)) => streams.take(who).map(Some).ok_or(()),
            _ => Ok(None),
        }
    }
}
