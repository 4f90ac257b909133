//! One agent's configuration.

use super::auth::AuthConfig;
use super::executor::ExecutorConfig;
use super::extended_card::ExtendedCardConfig;
use super::nearest::with_hint;
use super::units::{MaybeSpan, Span};
use a2ad_domain::{
    Agent, AgentId, AgentSettings, Card, Extension, OnCrash, OnOverdue, RawJson, SendDefault,
    Skill, WhileWorking,
};
use a2ad_http::CardMode;
use serde::Deserialize;
use std::num::NonZeroU32;

/// One agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Its id: 1 to 64 of a-z, 0-9, '-' and '_'.
    pub id: String,
    /// A name for people; the id, if there is none.
    pub name: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// Its own version.
    #[serde(default = "first_version")]
    pub version: String,
    /// What it can do.
    #[serde(default)]
    pub skills: Vec<SkillConfig>,
    /// Whether it can be called.
    #[serde(default = "yes")]
    pub published: bool,
    /// Whether it answers on `/` and `/a2a`; the first agent does if none says so.
    #[serde(default)]
    pub default: bool,
    /// The media types that it takes.
    #[serde(default = "anything")]
    pub input_modes: Vec<String>,
    /// The media types that it makes.
    #[serde(default = "anything")]
    pub output_modes: Vec<String>,
    /// What does its work.
    pub executor: ExecutorConfig,
    /// The longest a run may take, or `none`.
    pub deadline: Option<MaybeSpan>,
    /// What happens then.
    #[serde(default)]
    pub on_overdue: OnOverdueConfig,
    /// What happens to a run whose server has crashed.
    #[serde(default)]
    pub on_crash: OnCrashConfig,
    /// How many attempts there are with `on_crash = "retry"`.
    #[serde(default = "attempts")]
    pub max_attempts: NonZeroU32,
    /// How many runs go on at once.
    pub max_running: Option<usize>,
    /// How many more may wait for their turn.
    pub max_queued: Option<usize>,
    /// How long an executor may clean up after its task was canceled.
    pub grace: Option<Span>,
    /// How long a task may wait for its client, instead of `limits.idle`.
    pub idle: Option<Span>,
    /// What a send does that does not say whether it waits.
    #[serde(default)]
    pub send_default: SendDefaultConfig,
    /// What happens to a message for a task that is at work.
    #[serde(default)]
    pub while_working: WhileWorkingConfig,
    /// Which forms of its card it shows.
    #[serde(default)]
    pub card_mode: CardModeConfig,
    /// What it says besides to callers who have shown who they are.
    pub extended_card: Option<ExtendedCardConfig>,
    /// The extensions that it understands.
    #[serde(default)]
    pub extensions: Vec<ExtensionConfig>,
    /// What its callers may show, any of them; nothing if everybody may call. Whatever `[auth]` describes,
    /// if it does not say.
    pub auth: Option<Vec<MethodConfig>>,
    /// Whether its tasks belong to all of its callers together.
    #[serde(default)]
    pub share_tasks: bool,
}

/// A way in which callers show who they are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MethodConfig {
    /// A key.
    Key,
    /// A bearer token that is a JWT.
    Jwt,
    /// A client's certificate.
    Mtls,
}

/// An extension of the protocol.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionConfig {
    /// Its name.
    pub uri: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether a message has to name it.
    #[serde(default)]
    pub required: bool,
    /// Parameters of its own: a JSON object, as text.
    pub params: Option<String>,
}

/// See [`CardMode`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CardModeConfig {
    /// One document for both lines.
    #[default]
    Hybrid,
    /// The 1.0 form.
    V1,
    /// The 0.3 form.
    V03,
}

impl CardModeConfig {
    pub(crate) const fn mode(self) -> CardMode {
        match self {
            Self::Hybrid => CardMode::Hybrid,
            Self::V1 => CardMode::V1,
            Self::V03 => CardMode::V03,
        }
    }
}

/// One thing an agent can do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillConfig {
    /// Its id.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Keywords.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Texts that show its use.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// See [`OnOverdue`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnOverdueConfig {
    /// The task fails.
    #[default]
    Fail,
    /// The task is canceled.
    Cancel,
    /// The log says so.
    Report,
}

/// See [`OnCrash`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnCrashConfig {
    /// The task fails.
    #[default]
    Fail,
    /// The run begins again.
    Retry,
}

/// See [`SendDefault`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SendDefaultConfig {
    /// It waits.
    #[default]
    Wait,
    /// It returns.
    Return,
}

/// See [`WhileWorking`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhileWorkingConfig {
    /// It is refused.
    #[default]
    Refuse,
    /// It joins the history.
    Append,
}

fn first_version() -> String {
    "0.1.0".to_owned()
}

fn anything() -> Vec<String> {
    vec!["*/*".to_owned()]
}

/// A crash that the task itself causes comes again each time; three attempts survive two that it does not.
const fn attempts() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

const fn yes() -> bool {
    true
}

/// The agents of a server without a configuration.
pub(super) fn defaults() -> Vec<AgentConfig> {
    let agent =
        |id: &str, name: &str, description: &str, skill: SkillConfig, executor| AgentConfig {
            id: id.to_owned(),
            name: Some(name.to_owned()),
            description: description.to_owned(),
            version: first_version(),
            skills: vec![skill],
            published: true,
            default: false,
            input_modes: anything(),
            output_modes: anything(),
            executor,
            deadline: None,
            on_overdue: OnOverdueConfig::default(),
            on_crash: OnCrashConfig::default(),
            max_attempts: attempts(),
            max_running: None,
            max_queued: None,
            grace: None,
            idle: None,
            send_default: SendDefaultConfig::default(),
            while_working: WhileWorkingConfig::default(),
            card_mode: CardModeConfig::default(),
            extended_card: None,
            extensions: Vec::new(),
            auth: None,
            share_tasks: false,
        };
    let skill = |id: &str, name: &str, description: &str, tag: &str, example: &str| SkillConfig {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: vec![tag.to_owned()],
        examples: vec![example.to_owned()],
    };
    vec![
        agent(
            "echo",
            "Echo",
            "Gives back what it gets, as an artifact.",
            skill("echo", "Echo", "Gives back every part of a message.", "demo", "hello"),
            ExecutorConfig::echo(),
        ),
        agent(
            "script",
            "Script",
            "Does what its text says, so that every path of a task's life can be tried.",
            skill("script", "Script", "Asks, waits, streams, fails on demand.", "demo", "ask why?"),
            ExecutorConfig::script(),
        ),
    ]
}

impl ExtensionConfig {
    fn params(&self) -> Option<RawJson> {
        RawJson::parse(self.params.as_deref()?).ok().filter(RawJson::is_object)
    }
}

impl SkillConfig {
    pub(super) fn skill(&self) -> Skill {
        Skill {
            id: self.id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            examples: self.examples.clone(),
        }
    }
}

impl AgentConfig {
    /// Reads the members of `[[agent]]` from JSON, as they are read from a file; or the key that makes no sense,
    /// and why.
    pub(crate) fn described(members: &serde_json::Value) -> Result<Self, String> {
        let table = toml::Table::try_from(members);
        let table = table.map_err(|_| "a member is null, which is no value; leave it out")?;
        table.try_into().map_err(|error: toml::de::Error| {
            let problem = with_hint(error.message());
            let whole = error.to_string();
            let key = whole.split_once("\nin `").and_then(|(_, rest)| rest.split_once('`'));
            key.map_or(problem.clone(), |(key, _)| format!("{key}: {problem}"))
        })
    }

    /// The key that makes no sense, and why.
    pub(crate) fn check(&self, auth: &AuthConfig) -> Result<(), (&'static str, String)> {
        AgentId::new(&*self.id).map_err(|rule| ("id", format!("{:?} {rule}", self.id)))?;
        if self.id == "agents" {
            return Err((
                "id",
                "\"agents\" is the route of the catalog; choose another".to_owned(),
            ));
        }
        if self.max_running == Some(0) {
            return Err(("max_running", "must be at least 1".to_owned()));
        }
        self.executor.kind().check().map_err(|problem| ("executor", problem))?;
        auth.has_all(self.auth.as_deref().unwrap_or_default()).map_err(|it| ("auth", it))?;
        if let Some(card) = &self.extended_card {
            card.check(self, auth).map_err(|problem| ("extended_card", problem))?;
        }
        for (key, modes) in
            [("input_modes", &self.input_modes), ("output_modes", &self.output_modes)]
        {
            if modes.is_empty() {
                return Err((key, "must hold at least one media type, such as \"*/*\"".to_owned()));
            }
        }
        for extension in &self.extensions {
            if extension.uri.is_empty() || extension.uri.contains([',', ' ']) {
                return Err(("extensions", format!("{:?} is no URI", extension.uri)));
            }
            if extension.params.is_some() && extension.params().is_none() {
                return Err((
                    "extensions",
                    format!("the params of {} are no JSON object", extension.uri),
                ));
            }
        }
        Ok(())
    }

    /// The agent.
    pub(crate) fn agent(&self) -> Option<Agent> {
        let id = AgentId::new(&*self.id).ok()?;
        let default = AgentSettings::default();
        let settings = AgentSettings {
            deadline: self.deadline.map_or(default.deadline, |deadline| deadline.0),
            on_overdue: match self.on_overdue {
                OnOverdueConfig::Fail => OnOverdue::Fail,
                OnOverdueConfig::Cancel => OnOverdue::Cancel,
                OnOverdueConfig::Report => OnOverdue::Report,
            },
            on_crash: match self.on_crash {
                OnCrashConfig::Fail => OnCrash::Fail,
                OnCrashConfig::Retry => OnCrash::Retry { max_attempts: self.max_attempts },
            },
            max_running: self.max_running.unwrap_or(default.max_running),
            max_queued: self.max_queued.unwrap_or(default.max_queued),
            grace: self.grace.map_or(default.grace, |grace| grace.0),
            idle: self.idle.map(|idle| idle.0),
            send_default: match self.send_default {
                SendDefaultConfig::Wait => SendDefault::Wait,
                SendDefaultConfig::Return => SendDefault::Return,
            },
            while_working: match self.while_working {
                WhileWorkingConfig::Refuse => WhileWorking::Refuse,
                WhileWorkingConfig::Append => WhileWorking::Append,
            },
        };
        let executor = self.executor.kind().executor();
        let extensions = self.extensions.iter().map(|extension| Extension {
            uri: extension.uri.clone(),
            description: extension.description.clone(),
            required: extension.required,
            params: extension.params(),
        });
        let agent = Agent::new(id, self.card(), settings, executor);
        let agent = agent.with_extensions(extensions.collect());
        let agent = match &self.extended_card {
            Some(extended) => agent.with_extended_card(extended.over(self.card())),
            None => agent,
        };
        agent.set_published(self.published);
        Some(agent)
    }

    fn card(&self) -> Card {
        Card {
            name: self.name.clone().unwrap_or_else(|| self.id.clone()),
            description: self.description.clone(),
            version: self.version.clone(),
            skills: self.skills.iter().map(SkillConfig::skill).collect(),
            input_modes: self.input_modes.clone(),
            output_modes: self.output_modes.clone(),
        }
    }
}
