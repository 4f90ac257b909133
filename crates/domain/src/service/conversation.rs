//! What was said in a conversation before a turn: its other tasks whose turns are whole, and the earlier
//! turns of its own. A task that failed, was canceled or is at work is no part of it, so parallel turns do
//! not mix and nothing half-said is repeated.

use super::Core;
use crate::content::{Artifact, Content, Message, Part, Parts, Role};
use crate::ids::{MessageId, TaskKey};
use crate::ports::{Query, StoreError};
use crate::state::{Phase, TaskState};
use crate::task::Task;
use std::sync::Arc;

/// How many tasks are read at once, and how many at most: a conversation of nothing but failures is not
/// searched for ever.
const PAGE: usize = 64;
const MOST: usize = 512;

/// How much of a conversation is wanted.
pub(super) struct Wanted<'w> {
    /// How many messages at most.
    pub(super) messages: usize,
    /// How many bytes at most.
    pub(super) bytes: usize,
    /// How many bytes a part counts for.
    pub(super) weigh: &'w (dyn Fn(&Part) -> usize + Send + Sync),
}

impl Core {
    /// The newest messages before the one that `task`'s newest turn is about, oldest first.
    pub(super) async fn conversation(
        &self,
        task: &Task,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Arc<Message>>, StoreError> {
        let mut told = Told { newest_first: Vec::new(), wanted };
        let history = &task.history()[..task.turn().message];
        let artifacts = &task.artifacts()[..task.turn().artifacts];
        if told.take(task.key(), history, None, artifacts) {
            let mut others = self.others(task, told.wanted.messages).await?;
            others.sort_by_key(|other| (other.created(), other.key().id));
            // Newest first, so that what does not fit is never put together.
            others.iter().rev().all(|other| {
                told.take(other.key(), other.history(), other.status_message(), other.artifacts())
            });
        }
        told.newest_first.reverse();
        Ok(told.newest_first)
    }

    /// The newest other tasks of the conversation whose turns are whole, as many as `messages` come from.
    async fn others(&self, task: &Task, messages: usize) -> Result<Vec<Arc<Task>>, StoreError> {
        let mut query = Query {
            context: Some(task.context().clone()),
            state: None,
            since: None,
            overdue: None,
            limit: PAGE,
            after: None,
        };
        let (mut others, mut found, mut read) = (Vec::new(), 0, 0);
        while found < messages && read < MOST {
            let page = self.ports.store.list(&task.key().scope, &query).await?;
            read += PAGE;
            for other in page.tasks {
                if other.key() != task.key() && is_whole(&other) && found < messages {
                    found += other.history().len();
                    others.push(other);
                }
            }
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        Ok(others)
    }
}

/// Whether every turn of the task has ended as its agent meant it to.
fn is_whole(task: &Task) -> bool {
    let waits = task.state().phase() == Phase::Interrupted && !task.is_running();
    waits || task.state() == TaskState::Completed
}

/// What is told so far.
struct Told<'w> {
    newest_first: Vec<Arc<Message>>,
    wanted: Wanted<'w>,
}

impl Told<'_> {
    /// Takes the messages of one task, and its artifacts as a message of the agent unless its last message
    /// repeats them. Says whether there is room for more.
    fn take(
        &mut self,
        key: &TaskKey,
        history: &[Arc<Message>],
        status: Option<&Arc<Message>>,
        artifacts: &[Artifact],
    ) -> bool {
        let made = || artifacts.iter().flat_map(Artifact::parts);
        let last = status.or(history.last()).filter(|message| message.role == Role::Agent);
        let repeated = last.is_some_and(|reply| is_same_text(reply.parts.as_slice(), made()));
        if !repeated && made().next().is_some() {
            if !self.has_room(made()) {
                return false;
            }
            let parts = Parts::new(artifacts.iter().flat_map(whole_parts).collect());
            let id = MessageId::new(format!("{}-artifacts", key.id)).ok();
            let message = id.zip(parts).map(|(id, parts)| Message::new(id, Role::Agent, parts));
            self.newest_first.extend(message.map(Arc::new));
        }
        for message in status.into_iter().chain(history.iter().rev()) {
            if !self.has_room(message.parts.as_slice()) {
                return false;
            }
            self.newest_first.push(message.clone());
        }
        true
    }

    /// Whether one more message of these parts fits; they are then counted.
    fn has_room<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) -> bool {
        let weight: usize = parts.into_iter().map(self.wanted.weigh).sum();
        let Some(left) = self.wanted.bytes.checked_sub(weight) else { return false };
        if self.newest_first.len() >= self.wanted.messages {
            return false;
        }
        self.wanted.bytes = left;
        true
    }
}

/// The parts of an artifact, where neighbouring plain texts are one text that came in pieces.
fn whole_parts(artifact: &Artifact) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut text = String::new();
    let flush = |parts: &mut Vec<Part>, text: &mut String| {
        if !text.is_empty() {
            parts.push(Part::text(std::mem::take(text)));
        }
    };
    for part in artifact.parts() {
        match part.plain_text() {
            Some(piece) => text.push_str(piece),
            None => {
                flush(&mut parts, &mut text);
                parts.push(part.clone());
            }
        }
    }
    flush(&mut parts, &mut text);
    parts
}

/// Whether the texts of both are the same, however they are cut.
fn is_same_text<'a>(
    one: impl IntoIterator<Item = &'a Part>,
    two: impl IntoIterator<Item = &'a Part>,
) -> bool {
    bytes_of(one).eq(bytes_of(two))
}

fn bytes_of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> impl Iterator<Item = u8> {
    parts.into_iter().flat_map(|part| match &part.content {
        Content::Text(text) => text.bytes(),
        Content::Bytes(_) | Content::Url(_) | Content::Data(_) => "".bytes(),
    })
}
