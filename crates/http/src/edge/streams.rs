//! How many streams a caller may have open, where that is limited.

use super::Who;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Open streams.
pub(super) struct Streams {
    most: usize,
    open: Mutex<HashMap<Who, usize>>,
}

/// One open stream.
pub(crate) struct Seat {
    streams: Arc<Streams>,
    who: Who,
}

impl Streams {
    pub(super) fn new(most: usize) -> Self {
        Self { most, open: Mutex::default() }
    }

    /// A place for one more; `None` when the caller has as many as one may.
    pub(super) fn take(self: &Arc<Self>, who: &Who) -> Option<Seat> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.entry(who.clone()).or_default();
        if *own >= self.most {
            return None;
        }
        *own += 1;
        Some(Seat { streams: self.clone(), who: who.clone() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.who) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2ad_domain::Owner;

    #[test]
    fn a_stream_that_is_over_makes_room_for_another() {
        let streams = Arc::new(Streams::new(2));
        let owner = |name: &str| Who::Owner(Owner::new(name).expect("a name"));
        let (ann, bob) = (owner("ann"), owner("bob"));
        let (first, second) = (streams.take(&ann), streams.take(&ann));
        assert!(first.is_some() && second.is_some() && streams.take(&ann).is_none());
        assert!(streams.take(&bob).is_some());
        drop(first);
        assert!(streams.take(&ann).is_some());
        drop(second);
        assert!(streams.open.lock().expect("no panic").is_empty(), "nobody is left");
    }
}
