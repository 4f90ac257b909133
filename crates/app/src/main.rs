//! The command line.

mod key_command;
mod open_files;
mod push_command;

use a2ad::config::StoreKind;
use a2ad::{App, Config, exit, logs};
use a2ad_executor::command::guard::{self, Guard};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// A server of many small tasks lives from its allocator; this one also gives memory back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A2A task server: turns programs, services, models and Rust types into agents.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server.
    Serve(Serve),
    /// Wait for the end of the server that started this, and kill what it has left.
    #[command(hide = true)]
    Guard {
        /// What its programs carry.
        id: String,
    },
    /// Copy the store of a server that may be running.
    Backup(Backup),
    /// Make, list and revoke keys of callers, and make keys that the server signs with.
    Key {
        #[command(subcommand)]
        command: key_command::Command,
    },
    /// List what webhooks were not told of, and have it sent again.
    Push {
        #[command(subcommand)]
        command: push_command::Command,
    },
    /// Check a configuration and say what is wrong with it.
    Check {
        /// The file.
        #[arg(long)]
        config: PathBuf,
    },
}

#[derive(Args)]
struct Serve {
    /// The configuration file; without one there are two agents, echo and script.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The address to listen on.
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Where tasks are kept: memory, sqlite, or sqlite:PATH.
    #[arg(long, value_parser = store)]
    store: Option<(StoreKind, Option<PathBuf>)>,
    /// Listen to other machines although callers do not have to say who they are.
    #[arg(long)]
    allow_anonymous: bool,
}

#[derive(Args)]
struct Backup {
    /// The configuration of the server whose store is copied.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The store: sqlite, or sqlite:PATH.
    #[arg(long, value_parser = store)]
    store: Option<(StoreKind, Option<PathBuf>)>,
    /// The copy; a new file.
    file: PathBuf,
}

fn store(text: &str) -> Result<(StoreKind, Option<PathBuf>), String> {
    match text.split_once(':') {
        None if text == "memory" => Ok((StoreKind::Memory, None)),
        None if text == "sqlite" => Ok((StoreKind::Sqlite, None)),
        Some(("sqlite", path)) if !path.is_empty() => {
            Ok((StoreKind::Sqlite, Some(PathBuf::from(path))))
        }
        _ => Err("the stores are memory, sqlite and sqlite:PATH".to_owned()),
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::OK }.into();
        }
    };
    logs::start();
    let result = match cli.command {
        Command::Check { config } => check(&config),
        Command::Guard { id } => watch(&id),
        Command::Key { command } => key_command::run(command),
        Command::Push { command } => push_command::run(command),
        Command::Serve(options) => serve(options),
        Command::Backup(options) => back_up(options),
    };
    match result {
        Ok(()) => exit::OK.into(),
        Err((code, problem)) => {
            let _ = writeln!(std::io::stderr(), "a2ad: {problem}");
            code.into()
        }
    }
}

type Failed = (u8, String);

const LEFT: &str =
    "the store fails, so tasks are left at work; the next start on it ends them. tasks";

/// Is the guard. What stops a server is not meant for it: it ends when the server has.
fn watch(id: &str) -> Result<(), Failed> {
    let failed = |error: std::io::Error| (exit::UNAVAILABLE, error.to_string());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let _entered = runtime.enter();
    let ignored = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let _signals = ignored.map(signal);
    guard::watch(id);
    Ok(())
}

/// The guard over the programs of this server: the same binary.
fn guard() -> Result<Guard, Failed> {
    let started = std::env::current_exe().and_then(|binary| {
        let mut command = std::process::Command::new(binary);
        command.arg("guard");
        Guard::start(command)
    });
    started.map_err(|error| (exit::UNAVAILABLE, format!("the guard cannot be started: {error}")))
}

fn check(path: &Path) -> Result<(), Failed> {
    let config = Config::load(Some(path), std::env::vars()).map_err(config_failed)?;
    let missing = config.missing();
    if !missing.is_empty() {
        return Err((exit::CONFIG, format!("{}: {}", path.display(), missing.join("\na2ad: "))));
    }
    let agents = config.agent.len();
    let _ = writeln!(std::io::stdout(), "{}: good, agents: {agents}", path.display());
    Ok(())
}

fn config_failed(error: a2ad::ConfigError) -> Failed {
    (exit::CONFIG, error.to_string())
}

/// The configuration with the store that the command line names.
fn configured(
    file: Option<&Path>,
    store: Option<(StoreKind, Option<PathBuf>)>,
) -> Result<Config, Failed> {
    let mut config = Config::load(file, std::env::vars()).map_err(config_failed)?;
    if let Some((kind, path)) = store {
        config.store.kind = kind;
        config.store.path = path.unwrap_or(config.store.path);
    }
    Ok(config)
}

fn back_up(options: Backup) -> Result<(), Failed> {
    let config = configured(options.config.as_deref(), options.store)?;
    let tasks = a2ad::back_up(&config, &options.file)?;
    let _ = writeln!(std::io::stdout(), "{}: good, tasks: {tasks}", options.file.display());
    Ok(())
}

fn serve(options: Serve) -> Result<(), Failed> {
    let mut config = configured(options.config.as_deref(), options.store)?;
    if let Some(listen) = options.listen {
        config.server.listen = listen;
    }
    let lacks = config.missing();
    open_files::raise(config.server.max_connections);
    let _guard = config.starts_programs().then(guard).transpose()?;
    let app = App::builder(config)
        .allow_anonymous(options.allow_anonymous)
        .build()
        .map_err(config_failed)?;
    // What it cannot start without has been told by now, once.
    for missing in lacks {
        tracing::warn!(missing, "an agent cannot do its work");
    }
    let failed = |error: std::io::Error| (exit::UNAVAILABLE, error.to_string());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let server = app.bind().await.map_err(failed)?;
        match server.run_until_told().await.map_err(failed)?.left {
            0 => Ok(()),
            left => Err((exit::IOERR, format!("{LEFT}: {left}"))),
        }
    })
}
