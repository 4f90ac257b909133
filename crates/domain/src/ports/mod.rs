//! What the domain needs from outside, as traits. Adapters implement them; the contract suites in
//! `testing::contract` say what an implementation must hold to.

mod agents;
mod bus;
mod environment;
mod executor;
mod push;
mod spawner;
mod store;
mod survey;

pub use agents::{AgentStore, KeptAgent};
pub use bus::{Delivery, EventBus, Interest, Subscription};
pub use environment::{Clock, IdGenerator};
pub use executor::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Stopped, Turn,
};
pub use push::{Bell, Letter, Notice, PushSender, PushStore, Undelivered};
pub use spawner::{NoSlot, Slot, Spawner};
pub use store::{Changes, Cursor, Page, Query, StoreError, TaskStore};
pub use survey::{Survey, TaskSummary};

#[cfg(feature = "testing")]
pub use store::MockTaskStore;
