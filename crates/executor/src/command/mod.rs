//! A program for each run: told of the turn on its standard input, heard on its standard output, and gone
//! with everything it has started when the run ends.

mod group;
pub mod guard;
pub(crate) mod output;
mod tail;

use crate::Memory;
use crate::exchange::{Sink, document};
use crate::secret::{SecretError, Value, misconfigured, redacted};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Stopped, Turn};
use a2ad_domain::service::TaskWriter;
use async_trait::async_trait;
use group::Group;
use output::Output;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tail::Tail;
use tokio::io::AsyncWriteExt;

/// What a program is told on its standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// The text of the message, and a line's end.
    #[default]
    Text,
    /// The document of the turn, on one line.
    Json,
}

/// What a program says on its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Text, which becomes an artifact as it comes.
    #[default]
    Text,
    /// An event on each line.
    Events,
}

/// How a program is started and heard.
#[derive(Clone, Debug)]
pub struct CommandSettings {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// What it is told.
    pub input: Input,
    /// What it says.
    pub output: Form,
    /// The folder that it works in; that of the server by default.
    pub dir: Option<PathBuf>,
    /// Variables of its environment.
    pub env: Vec<(String, Value)>,
    /// Whether it gets all variables of the server's environment, and not only the harmless ones.
    pub inherit_env: bool,
    /// How many bytes it may write.
    pub max_output: usize,
    /// How much of the conversation it is told, with [`Input::Json`].
    pub memory: Memory,
}

impl CommandSettings {
    /// The defaults for a program.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            input: Input::default(),
            output: Form::default(),
            dir: None,
            env: Vec::new(),
            inherit_env: false,
            max_output: 64 << 20,
            memory: Memory::default(),
        }
    }
}

/// What every program gets of the server's environment: nothing in which secrets are kept.
fn is_harmless(name: &str) -> bool {
    const NAMES: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SHELL"];
    NAMES.contains(&name) || name.starts_with("LC_")
}

/// Starts a program for each run.
#[derive(Clone, Debug)]
pub struct Command {
    settings: CommandSettings,
}

impl Command {
    /// An executor that starts this program.
    #[must_use]
    pub fn new(settings: CommandSettings) -> Self {
        Self { settings }
    }

    /// What is missing on this machine to start the program, in words for an operator.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let settings = &self.settings;
        let mut missing = Vec::new();
        if let Some(dir) = settings.dir.as_ref().filter(|dir| !dir.is_dir()) {
            missing.push(format!("the folder {} does not exist; make it", dir.display()));
        }
        if !self.is_found() {
            let program = settings.program.display();
            let fix = "install it, or name its path";
            missing.push(format!("the program {program} is not found or cannot be run; {fix}"));
        }
        for (_, value) in &settings.env {
            missing.extend(value.read().err().map(|error| error.to_string()));
        }
        missing
    }

    /// The program as it is started. A path is meant from the folder of the server, also when the program
    /// works in another one.
    fn program(&self) -> PathBuf {
        let program = &self.settings.program;
        if has_folder(program) {
            std::path::absolute(program).unwrap_or_else(|_| program.clone())
        } else {
            program.clone()
        }
    }

    /// Whether the program is where the system would look for it.
    fn is_found(&self) -> bool {
        let program = &self.settings.program;
        if has_folder(program) {
            return is_executable(program);
        }
        let own = self.settings.env.iter().find(|(name, _)| name == "PATH");
        let own = own.and_then(|(_, value)| value.read().ok()).map(std::ffi::OsString::from);
        let path = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
    }

    fn command(&self, turn: &Turn) -> Result<tokio::process::Command, SecretError> {
        let settings = &self.settings;
        let mut command = tokio::process::Command::new(self.program());
        command.args(&settings.args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !settings.inherit_env {
            command.env_clear();
            let harmless =
                std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_harmless));
            command.envs(harmless);
        }
        for (name, value) in &settings.env {
            command.env(name, value.read()?);
        }
        if let Some(dir) = &settings.dir {
            command.current_dir(dir);
        }
        command.env("A2A_AGENT", turn.request.scope.agent().as_str());
        command.env("A2A_TASK_ID", turn.task.key().id.to_string());
        command.env("A2A_ATTEMPT", turn.attempt().to_string());
        let context = turn.request.context.as_str();
        // A name that no variable can hold is in the document only.
        if !context.contains('\0') {
            command.env("A2A_CONTEXT_ID", context);
        }
        command.env(guard::VARIABLE, guard::id());
        Ok(command)
    }

    async fn input(&self, turn: &Turn, out: &mut TaskWriter) -> Result<Vec<u8>, AgentError> {
        let mut input = match self.settings.input {
            Input::Text => turn.request.text().into_bytes(),
            Input::Json => {
                document(turn, &self.settings.memory.recall(out, a2ad_domain::Part::weight).await?)?
            }
        };
        input.push(b'\n');
        Ok(input)
    }
}

fn has_folder(program: &Path) -> bool {
    program.as_os_str().as_encoded_bytes().contains(&b'/')
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// How long a program may take to end by itself when it has nothing more to say, or when nothing that it
/// says is taken.
const PATIENCE: Duration = Duration::from_secs(1);

#[async_trait]
impl AgentExecutor for Command {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let input = self.input(&turn, out).await?;
        let mut sink = Sink::open(out).await?;
        let command = self.command(&turn).map_err(misconfigured)?;
        let mut group = Group::start(command).map_err(|error| {
            let why = std::iter::once(error.to_string()).chain(self.missing());
            misconfigured(format!("cannot be started: {}", why.collect::<Vec<_>>().join("; ")))
        })?;
        let mut tail = Tail::default();
        let mut output = Output::new(&self.settings, &mut sink);
        let attended = tokio::select! {
            biased;
            attended = attend(&mut group, &input, &mut output, &mut tail) => attended,
            () = turn.cancel.raised() => Err(Stopped.into()),
        };
        let ended = match attended {
            Ok(ended) => ended,
            // The task is over, or takes nothing more. The program may put its things in order: when the
            // grace period has passed, this future is dropped, and with it the group. What is being
            // written when the task ends is refused before the signal is heard, so that counts as well.
            Err(AgentError::Stopped(stopped)) => {
                if tokio::time::timeout(PATIENCE, turn.cancel.raised()).await.is_ok() {
                    group.terminate(&mut tail).await;
                } else {
                    // Nobody has ended the task and nobody drops this: it is full, or its store has failed.
                    let _ = tokio::time::timeout(PATIENCE, group.terminate(&mut tail)).await;
                }
                let says = self.says(&tail);
                tracing::info!(task = %turn.task.key().id, says, "a program was ended with its task");
                return Err(stopped.into());
            }
            Err(error) => return Err(self.with_last_words(error, &tail)),
        };
        let status = group.reap().await.map_err(AgentError::failed)?;
        // One that had to be killed after it had decided has not failed.
        let well = ended == Ended::Lingering || status.success() || output.has_failed();
        if !well {
            return Err(self.with_last_words(
                AgentError::explained(spoken(status), status.to_string()),
                &tail,
            ));
        }
        output.finish().await.map_err(|error| self.with_last_words(error, &tail))?;
        sink.finish().await
    }
}

impl Command {
    /// The last words of a program without the secrets that it was told.
    fn says(&self, tail: &Tail) -> String {
        redacted(self.settings.env.iter().map(|(_, value)| value), &tail.text())
    }

    /// A failure with what the log should know of the program.
    fn with_last_words(&self, error: AgentError, tail: &Tail) -> AgentError {
        match error {
            AgentError::Explained { reason, source } => {
                let (name, says) = (self.settings.program.display(), self.says(tail));
                AgentError::explained(
                    reason,
                    format!("the program {name}: {source}; it says: {says}"),
                )
            }
            other @ (AgentError::Stopped(_) | AgentError::Failed(_)) => other,
        }
    }
}

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// By itself.
    ByItself,
    /// It had said how the turn ends and went on nevertheless.
    Lingering,
}

/// Serves the three pipes side by side, so that no program can block on one of them, until the program
/// itself has ended and what it wrote is read. What it has started and left is killed then.
async fn attend(
    group: &mut Group,
    input: &[u8],
    output: &mut Output<'_, '_>,
    tail: &mut Tail,
) -> Result<Ended, AgentError> {
    let Group { stdin, stdout, stderr, leader, .. } = group;
    let feed = async {
        if let Some(mut pipe) = stdin.take() {
            // A program that does not want to hear all of it is none that has failed.
            let _ = pipe.write_all(input).await;
        }
        std::future::pending::<()>().await;
    };
    let hear = async {
        tail.follow(stderr).await;
        std::future::pending::<()>().await;
    };
    let read = async {
        output.follow(stdout, leader.ended()).await?;
        if !output.is_decided() {
            leader.ended().await;
            return Ok(Ended::ByItself);
        }
        let waited = tokio::time::timeout(PATIENCE, leader.ended()).await;
        Ok::<_, AgentError>(waited.map_or(Ended::Lingering, |()| Ended::ByItself))
    };
    let ended = tokio::select! {
        read = read => read?,
        // These two never end: they only do their work while the other does.
        () = feed => Ended::ByItself,
        () = hear => Ended::ByItself,
    };
    leader.kill();
    output.rest(stdout).await?;
    tail.rest(stderr);
    Ok(ended)
}

/// How a program ended, for a caller.
fn spoken(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("The program ended with exit status {code}"),
        (None, Some(signal)) => format!("The program was ended by signal {signal}"),
        (None, None) => "The program failed".to_owned(),
    }
}
