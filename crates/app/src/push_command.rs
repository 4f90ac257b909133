//! `a2ad push`: what webhooks were not told of, and having them told after all. Beside a server that may be
//! running.

use crate::{Failed, configured, store};
use a2ad::config::StoreKind;
use a2ad::exit;
use a2ad_store::{DeadLetter, LettersError, letters, send_again};
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the changes that webhooks were not told of, the oldest first.
    Dead {
        #[command(flatten)]
        place: Place,
    },
    /// Have webhooks told after all. A running server notices within a minute.
    Resend {
        #[command(flatten)]
        place: Place,
        /// Only this webhook: the number that the list begins with.
        #[arg(long)]
        webhook: Option<i64>,
    },
}

#[derive(Args)]
pub(crate) struct Place {
    /// The configuration of the server whose store it is.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The store: sqlite, or sqlite:PATH.
    #[arg(long, value_parser = store)]
    store: Option<(StoreKind, Option<PathBuf>)>,
}

pub(crate) fn run(command: Command) -> Result<(), Failed> {
    match command {
        Command::Dead { place } => {
            for letter in letters(&file(place)?).map_err(failed)? {
                let _ = writeln!(std::io::stdout(), "{}", line(&letter));
            }
        }
        Command::Resend { place, webhook } => {
            let again = send_again(&file(place)?, webhook).map_err(failed)?;
            let _ = writeln!(std::io::stdout(), "to be sent again: {again}");
        }
    }
    Ok(())
}

/// The file that the tasks are in.
fn file(place: Place) -> Result<PathBuf, Failed> {
    let config = configured(place.config.as_deref(), place.store)?;
    match config.store.kind {
        StoreKind::Sqlite => Ok(config.store.path),
        StoreKind::Memory => {
            let problem = "the configuration keeps tasks in memory, and with them what was not sent: only \
                           the log of their server names it; name the store that is meant, with \
                           --store sqlite:PATH or --config FILE";
            Err((exit::CONFIG, problem.to_owned()))
        }
    }
}

fn failed(error: LettersError) -> Failed {
    (exit::CONFIG, error.to_string())
}

/// A letter on one line, with tabs, for people and for `cut`.
fn line(letter: &DeadLetter) -> String {
    let DeadLetter { webhook, version, agent, task, id, at, why, again } = letter;
    let state = if *again { "to be sent again" } else { "given up" };
    format!("{webhook}\t{agent}\t{task}\t{}\t{version}\t{state} {at}\t{why}", id.escape_debug())
}
