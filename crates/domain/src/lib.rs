//! The life of an A2A task, without I/O: what a task is, which step may follow which, who may see it,
//! and the use cases of the protocol over ports. Nothing here reads a clock, a socket or a random
//! number; every such need is a trait in [`ports`].
//!
//! Open [`state`], [`task`] and [`service`] first.

pub mod agent;
mod caught;
mod causes;
pub mod change;
pub mod content;
pub mod error;
pub mod ids;
pub mod modes;
pub mod ports;
pub mod push;
pub mod raw_json;
pub mod service;
pub mod signal;
pub mod state;
pub mod task;
#[cfg(feature = "testing")]
pub mod testing;
pub mod time;

pub use agent::{
    Agent, AgentSettings, Card, Extension, OnCrash, OnOverdue, SendDefault, Skill, Unfinished,
    WhileWorking,
};
pub use caught::caught;
pub use causes::causes;
pub use change::{ArtifactUpdate, Change, Recorded, StatusChange, StatusDetails};
pub use content::{Artifact, Content, Details, Message, Part, PartLabel, Parts, Role};
pub use error::{Error, ErrorCode};
pub use ids::{
    AgentId, ArtifactId, ContextId, IdMap, MessageId, Owner, PushConfigId, Scope, TaskId, TaskKey,
    Tenant, Version,
};
pub use push::{Confidential, PushAuthentication, PushConfig, PushForm, Webhook, WebhookName};
pub use raw_json::RawJson;
pub use service::Service;
pub use signal::CancelSignal;
pub use state::{Phase, TaskState};
pub use task::{Inconsistent, Refusal, Task, TaskParts, TurnStart};
pub use time::Timestamp;
