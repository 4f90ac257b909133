//! What the thread that writes has at hand while it writes a transaction.

use super::heads::Heads;
use super::room::Room;
use super::tally::Moves;
use rusqlite::Connection;

/// The file, and what is known of it as of the transaction under way.
pub(super) struct Ledger {
    pub(super) connection: Connection,
    pub(super) room: Room,
    pub(super) heads: Heads,
    /// What the transaction does to the counts.
    pub(super) moves: Moves,
}

impl Ledger {
    pub(super) fn new(connection: Connection, room: Room) -> Self {
        Self { connection, room, heads: Heads::default(), moves: Moves::default() }
    }

    /// The transaction was lost: `room` is how much the file holds without it.
    pub(super) fn take_back(&mut self, room: Room) {
        self.room = room;
        self.heads.forget();
        self.moves.clear();
    }
}
