//! An agent: something callable, with what it says about itself, its settings and its executor.

use crate::ids::AgentId;
use crate::ports::AgentExecutor;
use crate::raw_json::RawJson;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One thing an agent can do (specification 1.0 §4.4.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its id, unique in the agent.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// A description for people and models.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Texts that show its use.
    pub examples: Vec<String>,
}

/// What an agent says about itself. Addresses and protocol versions are added where they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// A name for people.
    pub name: String,
    /// A description for people and models.
    pub description: String,
    /// The agent's own version.
    pub version: String,
    /// What it can do.
    pub skills: Vec<Skill>,
    /// The media types that it takes.
    pub input_modes: Vec<String>,
    /// The media types that it makes.
    pub output_modes: Vec<String>,
}

impl Card {
    /// A card that says what the agent is called and what it does. It takes and makes anything; members
    /// can be set and skills added afterwards.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            version: "0.1.0".to_owned(),
            skills: Vec::new(),
            input_modes: vec!["*/*".to_owned()],
            output_modes: vec!["*/*".to_owned()],
        }
    }

    /// The card with one more skill; keywords and examples can be added to it afterwards.
    #[must_use]
    pub fn with_skill(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        self.skills.push(Skill {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            tags: Vec::new(),
            examples: Vec::new(),
        });
        self
    }
}

/// An extension of the protocol that an agent understands (specification 1.0 §4.4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name.
    pub uri: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether a message has to name it.
    pub required: bool,
    /// Parameters of its own; always an object.
    pub params: Option<RawJson>,
}

/// What happens to a run at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOverdue {
    /// The task fails.
    Fail,
    /// The task is canceled.
    Cancel,
    /// The log says so and the run goes on.
    Report,
}

/// What happens to a task whose run was under way when its server ended without having told it, as in a
/// crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCrash {
    /// The task fails.
    Fail,
    /// The run begins again, with the same message. What it had done stays done.
    Retry {
        /// How many attempts there are, the first one included; then the task fails.
        max_attempts: NonZeroU32,
    },
}

/// What a send does that does not say whether it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendDefault {
    /// It waits for the task to end or to ask for something.
    Wait,
    /// It returns the task at once.
    Return,
}

/// What happens to a message for a task that is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhileWorking {
    /// It is refused.
    Refuse,
    /// It joins the history, where the running executor finds it.
    Append,
}

/// How an agent's runs are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// How long after its message was taken a run has to end; `None` for no limit.
    pub deadline: Option<Duration>,
    /// What happens then.
    pub on_overdue: OnOverdue,
    /// What happens to a run whose server has crashed.
    pub on_crash: OnCrash,
    /// How many runs go on at once.
    pub max_running: usize,
    /// How many more may wait for their turn; beyond that a send is refused as busy.
    pub max_queued: usize,
    /// How long an executor may clean up after its task was canceled.
    pub grace: Duration,
    /// How long a task may wait for its client; `None` for the server's limit.
    pub idle: Option<Duration>,
    /// What a send does that does not say whether it waits.
    pub send_default: SendDefault,
    /// What happens to a message for a task that is at work.
    pub while_working: WhileWorking,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            deadline: Some(Duration::from_secs(600)),
            on_overdue: OnOverdue::Fail,
            on_crash: OnCrash::Fail,
            max_running: 64,
            max_queued: 1024,
            grace: Duration::from_secs(5),
            idle: None,
            send_default: SendDefault::Wait,
            while_working: WhileWorking::Refuse,
        }
    }
}

/// Something callable.
pub struct Agent {
    /// Its id, which is also its place in the routes.
    pub id: AgentId,
    /// What it says about itself.
    pub card: Card,
    /// What it says to callers who have shown who they are, if that is more.
    pub extended_card: Option<Card>,
    /// How its runs are treated.
    pub settings: AgentSettings,
    /// The extensions that it understands.
    pub extensions: Vec<Extension>,
    /// What does its work.
    pub executor: Arc<dyn AgentExecutor>,
    standing: Arc<Standing>,
}

/// Whether an agent takes messages. The versions of an agent that follow one another have one, so that whoever
/// still holds an earlier one sees what has been decided since.
struct Standing {
    published: AtomicBool,
    /// Whether its tasks are ended: one that is opened all the same, by a message that had passed before, is
    /// ended at once. Set before the tasks are looked through, and read after a task was stored, so that one
    /// of the two sees the other.
    ends_tasks: AtomicBool,
}

/// What becomes of the tasks of an agent that is withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unfinished {
    /// What is at work goes on to its end.
    #[default]
    Drain,
    /// All of them are canceled.
    Cancel,
}

impl Agent {
    /// A published agent.
    #[must_use]
    pub fn new(
        id: AgentId,
        card: Card,
        settings: AgentSettings,
        executor: Arc<dyn AgentExecutor>,
    ) -> Self {
        let (extended_card, extensions) = (None, Vec::new());
        let standing =
            Standing { published: AtomicBool::new(true), ends_tasks: AtomicBool::new(false) };
        let standing = Arc::new(standing);
        Self { id, card, extended_card, settings, extensions, executor, standing }
    }

    /// The agent with a card for callers who have shown who they are (specification 1.0 §3.1.11). It needs
    /// callers who do.
    #[must_use]
    pub fn with_extended_card(mut self, card: Card) -> Self {
        self.extended_card = Some(card);
        self
    }

    /// The agent with these extensions.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Vec<Extension>) -> Self {
        self.extensions = extensions;
        self
    }

    /// Whether it can be called. An unpublished agent cannot be told from an unknown one.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.standing.published.load(Ordering::Relaxed)
    }

    /// Publishes or withdraws it; its tasks stay as they are.
    pub fn set_published(&self, published: bool) {
        self.standing.ends_tasks.store(false, Ordering::SeqCst);
        self.standing.published.store(published, Ordering::SeqCst);
    }

    /// From now on it takes no messages. `Service::withdraw` sees to its tasks.
    pub(crate) fn withdraw(&self, tasks: Unfinished) {
        self.standing.published.store(false, Ordering::SeqCst);
        self.standing.ends_tasks.store(tasks == Unfinished::Cancel, Ordering::SeqCst);
    }

    /// Whether a task that was just stored has to end at once.
    pub(crate) fn ends_tasks(&self) -> bool {
        self.standing.ends_tasks.load(Ordering::SeqCst)
    }

    /// The agent as the next version of an earlier one: it is published if that is.
    #[must_use]
    pub fn in_place_of(mut self, earlier: &Agent) -> Self {
        self.standing = earlier.standing.clone();
        self
    }
}
