//! How much of a conversation an executor is told.

use a2ad_domain::ports::Stopped;
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Message, Part};
use std::sync::Arc;

/// The limits of what is told of a conversation. The newest messages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// How many messages at most.
    pub messages: usize,
    /// How many bytes at most.
    pub bytes: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self { messages: 50, bytes: 256 << 10 }
    }
}

impl Memory {
    /// What was said before this turn, oldest first, within the limits. `weigh` says how many bytes of a
    /// part go out.
    pub(crate) async fn recall(
        self,
        out: &mut TaskWriter,
        weigh: fn(&Part) -> usize,
    ) -> Result<Vec<Arc<Message>>, Stopped> {
        out.conversation_within(self.messages, self.bytes, weigh).await
    }
}
