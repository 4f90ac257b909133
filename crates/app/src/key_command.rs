//! `a2ad key`: makes, lists and revokes the keys that callers show, and makes those that the server signs with.

use crate::Failed;
use a2ad::{Config, SystemClock, exit};
use a2ad_domain::AgentId;
use a2ad_domain::ports::Clock;
use a2ad_http::{KeyFile, KeyRecord, SigningAlgorithm, SigningKey};
use clap::{Args, Subcommand};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a key and print it, once: the file keeps only what is needed to recognize it.
    Create {
        #[command(flatten)]
        place: Place,
        /// Whom it belongs to; keys of one owner see the same tasks.
        #[arg(long)]
        owner: String,
        /// An agent that it is for; may be given several times. Without any it is for every agent.
        #[arg(long = "agent", value_parser = agent)]
        agents: Vec<AgentId>,
    },
    /// List the keys by their ids.
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Revoke a key; a running server refuses it from the next request on.
    Revoke {
        #[command(flatten)]
        place: Place,
        /// Its id, as the list shows it.
        id: String,
    },
    /// Make a key that cards and notifications are signed with, and print its public half.
    #[command(visible_alias = "card")]
    Signing {
        /// The file of the private half; a new one.
        file: PathBuf,
        /// What it signs with: ES256, which every verifier knows, or `EdDSA`.
        #[arg(long, default_value = SigningAlgorithm::Es256.name(), value_parser = algorithm)]
        algorithm: SigningAlgorithm,
    },
}

#[derive(Args)]
pub(crate) struct Place {
    /// The configuration file; its auth.keys says where keys are kept.
    #[arg(long)]
    config: Option<PathBuf>,
}

fn agent(text: &str) -> Result<AgentId, String> {
    AgentId::new(text).map_err(|rule| rule.to_string())
}

fn algorithm(text: &str) -> Result<SigningAlgorithm, String> {
    let found = SigningAlgorithm::ALL.into_iter().find(|known| known.name() == text);
    found.ok_or_else(|| {
        format!(
            "the algorithms are {}",
            SigningAlgorithm::ALL.map(SigningAlgorithm::name).join(" and ")
        )
    })
}

pub(crate) fn run(command: Command) -> Result<(), Failed> {
    match command {
        Command::Create { place, owner, agents } => create(&place, &owner, agents),
        Command::List { place } => list(&place),
        Command::Revoke { place, id } => {
            let revoked = file(&place)?.revoke(&id, SystemClock.now());
            revoked.map_err(failed)
        }
        Command::Signing { file, algorithm } => signing(&file, algorithm),
    }
}

/// The file that the configuration names.
fn file(place: &Place) -> Result<KeyFile, Failed> {
    let config = Config::load(place.config.as_deref(), std::env::vars());
    let config = config.map_err(|error| (exit::CONFIG, error.to_string()))?;
    match config.auth.keys {
        Some(path) => Ok(KeyFile::new(&path)),
        None => Err((
            exit::CONFIG,
            "auth.keys is not set; name the file of keys there, or in A2AD_AUTH__KEYS".to_owned(),
        )),
    }
}

/// What was asked for makes no sense, or the file cannot be used.
fn failed(error: std::io::Error) -> Failed {
    let asked = error.kind() == ErrorKind::InvalidInput;
    (if asked { exit::USAGE } else { exit::CONFIG }, error.to_string())
}

fn create(place: &Place, owner: &str, agents: Vec<AgentId>) -> Result<(), Failed> {
    let agents = Some(agents).filter(|agents| !agents.is_empty());
    let key = file(place)?.create(owner, agents, SystemClock.now()).map_err(failed)?;
    let id = key.id();
    if let Err(error) = shown(key.reveal()) {
        let problem = format!("key {id} cannot be shown ({error}); revoke it and make another");
        return Err((exit::IOERR, problem));
    }
    let _ = writeln!(
        std::io::stderr(),
        "This is key {id}, and it is not shown again. Callers send it in the header x-api-key."
    );
    Ok(())
}

fn signing(file: &Path, algorithm: SigningAlgorithm) -> Result<(), Failed> {
    let made = SigningKey::create(file, algorithm);
    let key = made.map_err(|error| (exit::CANTCREAT, error.to_string()))?;
    if let Err(error) = shown(&key.public_jwk()) {
        let problem = format!(
            "{} holds the key, and its public half cannot be shown ({error}); the server shows it",
            file.display()
        );
        return Err((exit::IOERR, problem));
    }
    let _ = writeln!(
        std::io::stderr(),
        "This is the public half of key {}. Cards are signed with it once cards.keys names {}, and \
         notifications once push.keys does.",
        key.id(),
        file.display()
    );
    Ok(())
}

/// Prints what is not printed again.
fn shown(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}

fn list(place: &Place) -> Result<(), Failed> {
    let records = match file(place)?.records() {
        Ok(records) => records,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(error)),
    };
    for record in &records {
        let _ = writeln!(std::io::stdout(), "{}", line(record));
    }
    Ok(())
}

/// A key on one line, with tabs, for people and for `cut`.
fn line(record: &KeyRecord) -> String {
    let KeyRecord { id, owner, created, agents, revoked, .. } = record;
    let agents = match agents {
        None => "every agent".to_owned(),
        Some(agents) => agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(","),
    };
    let state = match revoked {
        None => "good".to_owned(),
        Some(time) => format!("revoked {time}"),
    };
    format!("{id}\t{owner}\t{agents}\tmade {created}\t{state}")
}
