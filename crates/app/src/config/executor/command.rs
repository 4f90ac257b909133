//! A program for each run.

use super::Kind;
use super::secret::ValueConfig;
use crate::config::units::Size;
use a2ad_domain::ports::AgentExecutor;
use a2ad_executor::command::{Form, Input};
use a2ad_executor::{Command, CommandSettings, Memory};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// How a program is started and heard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandConfig {
    /// A path, or a name that is looked up in `PATH`.
    program: PathBuf,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// What it is told.
    #[serde(default)]
    input: InputConfig,
    /// What it says.
    #[serde(default)]
    output: OutputConfig,
    /// The folder that it works in.
    dir: Option<PathBuf>,
    /// Variables of its environment.
    #[serde(default)]
    env: BTreeMap<String, ValueConfig>,
    /// Whether it gets the whole environment of the server.
    #[serde(default)]
    inherit_env: bool,
    /// How many bytes it may write.
    max_output: Option<Size>,
    /// How many messages of the conversation it is told.
    history: Option<usize>,
    /// How many bytes of them.
    history_bytes: Option<Size>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum InputConfig {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutputConfig {
    #[default]
    Text,
    Events,
}

impl CommandConfig {
    fn command(&self) -> Command {
        let default = CommandSettings::new(&self.program);
        Command::new(CommandSettings {
            args: self.args.clone(),
            input: match self.input {
                InputConfig::Text => Input::Text,
                InputConfig::Json => Input::Json,
            },
            output: match self.output {
                OutputConfig::Text => Form::Text,
                OutputConfig::Events => Form::Events,
            },
            dir: self.dir.clone(),
            env: self.env.iter().map(|(name, value)| (name.clone(), value.value())).collect(),
            inherit_env: self.inherit_env,
            max_output: self.max_output.map_or(default.max_output, |size| size.0),
            memory: memory(self.history, self.history_bytes),
            ..default
        })
    }
}

/// How much of a conversation an executor is told.
pub(super) fn memory(messages: Option<usize>, bytes: Option<Size>) -> Memory {
    let default = Memory::default();
    Memory {
        messages: messages.unwrap_or(default.messages),
        bytes: bytes.map_or(default.bytes, |size| size.0),
    }
}

impl Kind for CommandConfig {
    fn check(&self) -> Result<(), String> {
        if self.program.as_os_str().is_empty() {
            return Err("program must not be empty; name a program or its path".to_owned());
        }
        let odd = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().find(odd) {
            return Err(format!("env: {name:?} cannot be the name of a variable"));
        }
        self.env.iter().try_for_each(|(name, value)| value.check(&format!("env.{name}")))
    }

    fn missing(&self) -> Vec<String> {
        self.command().missing()
    }

    fn starts_programs(&self) -> bool {
        true
    }

    fn executor(&self) -> Arc<dyn AgentExecutor> {
        Arc::new(self.command())
    }
}
