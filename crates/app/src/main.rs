//! The command line.

use a2ad::config::StoreKind;
use a2ad::{App, Config, Server, exit, logs};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
    /// Where tasks are kept: memory.
    #[arg(long, value_parser = store)]
    store: Option<StoreKind>,
    /// Listen to other machines although callers do not have to say who they are.
    #[arg(long)]
    allow_anonymous: bool,
}

fn store(text: &str) -> Result<StoreKind, String> {
    match text {
        "memory" => Ok(StoreKind::Memory),
        _ => Err("the store that there is is \"memory\"".to_owned()),
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
        Command::Serve(options) => serve(options),
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

fn check(path: &std::path::Path) -> Result<(), Failed> {
    let config = Config::load(Some(path), std::env::vars()).map_err(config_failed)?;
    let agents = config.agent.len();
    let _ = writeln!(std::io::stdout(), "{}: good, agents: {agents}", path.display());
    Ok(())
}

fn config_failed(error: a2ad::ConfigError) -> Failed {
    (exit::CONFIG, error.to_string())
}

fn serve(options: Serve) -> Result<(), Failed> {
    let mut config =
        Config::load(options.config.as_deref(), std::env::vars()).map_err(config_failed)?;
    if let Some(listen) = options.listen {
        config.server.listen = listen;
    }
    if let Some(kind) = options.store {
        config.store.kind = kind;
    }
    exposure(&config, options.allow_anonymous).map_err(|problem| (exit::CONFIG, problem))?;
    let app = App::builder(config).build().map_err(config_failed)?;
    let failed = |error: std::io::Error| (exit::UNAVAILABLE, error.to_string());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(failed)?;
        let server = app.bind().await.map_err(|error| {
            (exit::UNAVAILABLE, format!("the address cannot be listened on: {error}"))
        })?;
        greet(&server);
        server
            .run(async move {
                signals.next().await;
                tokio::spawn(async move {
                    signals.next().await;
                    std::process::exit(exit::INTERRUPTED.into());
                });
            })
            .await;
        Ok(())
    })
}

/// Refuses to open an unguarded server to other machines by accident.
fn exposure(config: &Config, allow_anonymous: bool) -> Result<(), String> {
    let address = config.server.listen.ip();
    if !address.is_loopback() && !allow_anonymous {
        return Err(format!(
            "listen: {address} can be reached from other machines and callers do not have to say who \
             they are; listen on 127.0.0.1, or add --allow-anonymous"
        ));
    }
    Ok(())
}

/// Says where the server is and how to try it. Whoever reads this waits for the first line.
fn greet(server: &Server) {
    let base = format!("http://{}", server.local_addr());
    let _ =
        writeln!(std::io::stdout(), "listening on {base}\ntry: {}", a2ad_http::first_call(&base));
}

/// The signals that stop the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
