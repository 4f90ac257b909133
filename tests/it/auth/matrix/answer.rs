//! What was answered, in the words of the table.

use crate::support::agents::soon;
use std::fmt;

/// An id of the right form that no task has.
pub(super) const NOBODY: &str = "3b9f6f0e-0000-4000-8000-00000000000d";

/// An answer; of a stream, its first piece.
#[derive(PartialEq)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) async fn read(mut response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().iter().filter(|(name, _)| *name != "date");
        let mut headers: Vec<(String, String)> = headers
            .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()))
            .collect();
        headers.sort();
        let streams = headers.iter().any(|(_, value)| value == "text/event-stream");
        let body = if streams {
            let first = soon("an event", response.chunk()).await.expect("a stream");
            first.expect("an event").to_vec()
        } else {
            response.bytes().await.expect("a whole body").to_vec()
        };
        Self { status, headers, body }
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    /// The answer without the id that was asked for.
    pub(super) fn masked(&self, id: &str) -> (u16, Vec<(String, String)>, String) {
        (self.status, self.headers.clone(), self.text().replace(id, "…"))
    }

    /// The word of the table.
    pub(super) fn word(&self, task: &str) -> &'static str {
        let text = self.text();
        let fails = |code: &str, reason: &str| {
            text.contains(&format!("\"code\":{code},")) || text.contains(reason)
        };
        match self.status {
            401 => "401",
            403 => "403",
            _ if fails("-32001", "TASK_NOT_FOUND") => "unknown",
            _ if fails("-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED") => "not offered",
            _ if fails("-32007", "EXTENDED_AGENT_CARD_NOT_CONFIGURED") => "not offered",
            _ if fails("-32004", "UNSUPPORTED_OPERATION") => "not offered",
            200 if text.contains("\"error\"") => "another error",
            200 if text.contains("\"tasks\":[") && !text.contains(task) => "not listed",
            200 => "done",
            _ => "something else",
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.text())
    }
}
