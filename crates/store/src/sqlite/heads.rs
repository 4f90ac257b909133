//! Where the tasks stand that were written lately, so that a write need not look them up.
//!
//! Only the thread that writes has this, and the process has the file to itself; so what is here is what
//! the transaction under way would read. When a transaction is lost it is forgotten.

use super::record::state_of;
use super::write::tenant;
use a2ad_domain::{IdMap, Scope, TaskId, TaskKey, TaskState};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::error::Error;

/// How many tasks and scopes are known at most; then all are forgotten, which costs each a look into the
/// file.
const MOST: usize = 65_536;

/// Where a task stands.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The number of its row.
    pub(super) number: i64,
    /// The number of its scope.
    pub(super) scope: i64,
    pub(super) version: i64,
    pub(super) state: TaskState,
    pub(super) weight: i64,
}

#[derive(Default)]
pub(super) struct Heads {
    tasks: IdMap<TaskId, Head>,
    scopes: HashMap<Scope, i64>,
}

type Read<T> = Result<T, Box<dyn Error + Send + Sync>>;

impl Heads {
    /// The task of a key, if there is one.
    pub(super) fn find(&mut self, file: &Connection, key: &TaskKey) -> Read<Option<Head>> {
        let Some(scope) = self.scope(file, &key.scope)? else { return Ok(None) };
        if let Some(head) = self.tasks.get(&key.id) {
            return Ok(Some(*head).filter(|head| head.scope == scope));
        }
        let found = look_up(file, key.id, scope)?;
        if let Some(head) = found {
            self.put(key.id, head);
        }
        Ok(found)
    }

    /// A task is at this place now. One that has ended is not written again.
    pub(super) fn put(&mut self, id: TaskId, head: Head) {
        if head.state.is_terminal() {
            self.tasks.remove(&id);
            return;
        }
        if self.tasks.len() >= MOST {
            self.tasks.clear();
        }
        self.tasks.insert(id, head);
    }

    /// The number of a scope that has tasks or had some.
    fn scope(&mut self, file: &Connection, scope: &Scope) -> rusqlite::Result<Option<i64>> {
        if let Some(number) = self.scopes.get(scope) {
            return Ok(Some(*number));
        }
        let number = scope_number(file, scope)?;
        if let Some(number) = number {
            self.keep(scope, number);
        }
        Ok(number)
    }

    /// The number of a scope, which is given one if it has none.
    pub(super) fn scope_or_new(
        &mut self,
        file: &Connection,
        scope: &Scope,
    ) -> rusqlite::Result<i64> {
        if let Some(number) = self.scope(file, scope)? {
            return Ok(number);
        }
        let mut statement =
            file.prepare_cached("INSERT INTO scope (agent, tenant, owner) VALUES (?1, ?2, ?3)")?;
        let number = statement.insert(names(scope))?;
        self.keep(scope, number);
        Ok(number)
    }

    fn keep(&mut self, scope: &Scope, number: i64) {
        if self.scopes.len() >= MOST {
            self.scopes.clear();
        }
        self.scopes.insert(scope.clone(), number);
    }

    pub(super) fn forget(&mut self) {
        self.tasks.clear();
        self.scopes.clear();
    }
}

fn names(scope: &Scope) -> [&str; 3] {
    [scope.agent().as_str(), tenant(scope), scope.owner().as_str()]
}

/// The number of a scope, if it has one.
pub(super) fn scope_number(file: &Connection, scope: &Scope) -> rusqlite::Result<Option<i64>> {
    file.prepare_cached("SELECT number FROM scope WHERE agent = ?1 AND tenant = ?2 AND owner = ?3")?
        .query_row(names(scope), |row| row.get(0))
        .optional()
}

fn look_up(file: &Connection, id: TaskId, scope: i64) -> Read<Option<Head>> {
    let mut statement = file.prepare_cached(
        "SELECT number, version, state, weight FROM task WHERE id = ?1 AND scope = ?2",
    )?;
    let mut rows = statement.query(params![id.as_uuid().as_bytes(), scope])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let state = state_of(row.get_ref(2)?.as_str()?)?;
    Ok(Some(Head { number: row.get(0)?, scope, version: row.get(1)?, state, weight: row.get(3)? }))
}
