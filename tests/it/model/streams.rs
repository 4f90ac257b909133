//! Open streams: each shows exactly the changes of its task, and says when it is over.

use super::reference::{Seen, Task, Until};
use super::seen;
use crate::support::Events;
use crate::support::agents::soon;
use crate::support::caller;
use serde_json::json;

/// A stream that somebody follows.
pub(super) struct Stream {
    /// The number of its task.
    pub(super) task: usize,
    pub(super) events: Events,
    pub(super) until: Until,
    /// The version up to which its events were read.
    pub(super) seen: u64,
}

impl Stream {
    /// Reads what the stream has to show by now; says whether it goes on.
    pub(super) async fn goes_on(&mut self, id: &str, task: &Task) -> bool {
        let expected = task.events_after(self.seen, self.until);
        self.seen = task.version();
        let over = matches!(expected.last(), Some(Seen::Status { last: true, .. }));
        for event in expected {
            assert_eq!(next(&mut self.events, id, &task.context).await, event);
        }
        if over {
            let more = soon("the end of a stream", self.events.next()).await;
            assert!(more.is_none(), "after the end: {more:?}");
        }
        !over
    }
}

impl Stream {
    /// The connection breaks, and nothing had come that was not read.
    pub(super) async fn breaks(&mut self) {
        let end = soon("the end of a connection", self.events.next_unless_cut()).await;
        assert!(end.is_err(), "the server has crashed and says {end:?}");
    }
}

/// The next event of a task's stream, in the words of the model.
pub(super) async fn next(events: &mut Events, task: &str, context: &str) -> Seen {
    let event = soon("an event", events.next()).await.expect("one more event");
    caller::check(&event.data);
    seen::event(event.id, &event.data["result"], task, context)
}

/// A call that would have streamed and was refused: one event, without an id.
pub(super) async fn refused(mut events: Events, code: i64) {
    let event = soon("an event", events.next()).await.expect("the error");
    assert_eq!((event.id, &event.data["error"]["code"]), (None, &json!(code)));
    assert!(events.next().await.is_none());
}
