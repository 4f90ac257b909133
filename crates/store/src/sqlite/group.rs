//! One transaction for many requests, and what happens when it is lost.

use super::error::{Lost, unavailable};
use super::ledger::Ledger;
use super::shared::Shared;
use super::write::{Written, purge};
use super::writer::{Outcome, Request, Work};
use a2ad_domain::ports::StoreError;
use std::error::Error;
use std::sync::Arc;

/// What the thread that writes has.
pub(super) struct Desk {
    ledger: Ledger,
    shared: Arc<Shared>,
}

type Failure = Box<dyn Error + Send + Sync>;

impl Desk {
    pub(super) fn new(ledger: Ledger, shared: Arc<Shared>) -> Self {
        shared.publish(&ledger.room);
        Self { ledger, shared }
    }

    /// Hands on the outcomes that whoever was told of one has not handed on.
    pub(super) fn hand_on(&self) {
        self.shared.answers.hand_on();
    }

    /// Commits what can be committed of the requests and answers them all.
    ///
    /// They share a transaction. When that is lost for one of them, for a page that cannot be read or a
    /// text that has no room on the disk, each has one of its own, so that it is lost for that one only.
    pub(super) fn commit(&mut self, group: Vec<Request>) {
        if let Err(error) = self.run("BEGIN IMMEDIATE") {
            // Somebody else has the file, and each would have to wait as long for the same answer.
            self.refuse(group, error.into());
            return;
        }
        let lost = match self.attempt(&group) {
            Ok(outcomes) => {
                self.answer(group, outcomes);
                return;
            }
            Err(lost) => lost,
        };
        if group.len() == 1 {
            self.refuse(group, lost);
            return;
        }
        for request in group {
            let alone = vec![request];
            match self.run("BEGIN IMMEDIATE").map_err(Failure::from) {
                Ok(()) => match self.attempt(&alone) {
                    Ok(outcomes) => self.answer(alone, outcomes),
                    Err(lost) => self.refuse(alone, lost),
                },
                Err(lost) => self.refuse(alone, lost),
            }
        }
    }

    /// Everything in one transaction, which has begun: what the requests hear once it is committed, or why
    /// all of it was taken back.
    fn attempt(&mut self, group: &[Request]) -> Result<Vec<Outcome>, Failure> {
        let room = self.ledger.room;
        let done = self.perform(group);
        if done.is_err() {
            self.ledger.take_back(room);
            self.abandon();
        }
        done
    }

    fn perform(&mut self, group: &[Request]) -> Result<Vec<Outcome>, Failure> {
        let mut outcomes = Vec::with_capacity(group.len());
        let mut steps = Vec::with_capacity(group.len());
        for request in group {
            outcomes.push(match self.write(&request.work) {
                Ok(written) => {
                    steps.extend(written.steps);
                    Ok(written.figure)
                }
                Err(StoreError::Unavailable(error)) => return Err(error),
                Err(
                    refused @ (StoreError::Exists
                    | StoreError::Full
                    | StoreError::NotFound
                    | StoreError::Conflict { .. }),
                ) => Err(refused),
            });
        }
        // What is taken out here and not committed stays out; the file is asked for it.
        let held = self.shared.cache.take_out(&steps);
        self.run("COMMIT")?;
        self.shared.cache.put_back(held, steps);
        self.shared.tally.apply(&mut self.ledger.moves);
        self.shared.committed(&self.ledger.room);
        Ok(outcomes)
    }

    fn write(&mut self, work: &Work) -> Result<Written, StoreError> {
        match work {
            Work::Insert(insert) => insert.perform(&mut self.ledger),
            Work::Append(append) => append.perform(&mut self.ledger),
            Work::Purge(before) => purge(&mut self.ledger, *before),
            Work::Webhook(work) => work.perform(&mut self.ledger),
            Work::Agent(work) => work.perform(&self.ledger),
            Work::Probe => self.probe(),
        }
    }

    /// The number is written as it is, which is a page in the log like any other.
    fn probe(&self) -> Result<Written, StoreError> {
        let layout = super::open::LAYOUT;
        let written = self.ledger.connection.pragma_update(None, "user_version", layout);
        written.map_err(unavailable)?;
        Ok(Written::nothing())
    }

    fn answer(&self, group: Vec<Request>, outcomes: Vec<Outcome>) {
        let has_purged = group.iter().any(|request| matches!(request.work, Work::Purge(_)));
        let answers = group.into_iter().map(|request| request.answer);
        self.shared.answers.give(answers.zip(outcomes).collect());
        if has_purged {
            self.give_back();
        }
    }

    fn refuse(&self, group: Vec<Request>, error: Failure) {
        let lost = Lost::new(error);
        tracing::warn!(error = %lost, requests = group.len(), "the store failed");
        self.shared.failed();
        let outcome = || Err(unavailable(lost.clone()));
        let answers = group.into_iter().map(|request| (request.answer, outcome()));
        self.shared.answers.give(answers.collect());
    }

    fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.ledger.connection.prepare_cached(statement)?.execute([]).map(|_| ())
    }

    /// Ends a transaction that was not committed, so that the next one can begin. SQLite may have done so
    /// itself, when the disk is full for instance.
    fn abandon(&self) {
        if self.ledger.connection.is_autocommit() {
            return;
        }
        if let Err(error) = self.run("ROLLBACK") {
            tracing::error!(%error, "a transaction of the store cannot be rolled back");
        }
    }

    /// Gives the pages of what was removed back to the file system. Every row of this pragma moves a page.
    fn give_back(&self) {
        let moved = self.ledger.connection.prepare_cached("PRAGMA incremental_vacuum").and_then(
            |mut statement| {
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            },
        );
        if let Err(error) = moved {
            // They stay in the file and are used for the next tasks.
            tracing::warn!(%error, "the store's file cannot be made smaller");
        }
    }
}
