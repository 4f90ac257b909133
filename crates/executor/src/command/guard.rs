//! The guard: a process that outlives the server and kills what the server has left.
//!
//! A server that is killed with SIGKILL runs no code any more, and its programs would go on. The guard waits
//! for its standard input to end, whose only writer is the server, and then kills
//!
//! - the process groups that it was told of, which are those of the runs under way;
//! - every process that carries a variable whose value is the server's alone. Every program has it in its
//!   environment and hands it on to what it starts, so this finds those that have left their group, and
//!   those that were started just before the guard could be told.
//!
//! Nothing slips through between a start and a kill: the writing end is closed by `exec` and not before, so
//! a process that was forked and is no program yet still holds it, and the input ends only when all of them
//! carry the variable.
//!
//! The variable is looked for in `/proc`; on systems without it only the groups are killed.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The variable that every program carries.
pub const VARIABLE: &str = "A2A_GUARD";

/// How many times the guard looks before it gives up on a process that cannot be killed.
const ROUNDS: usize = 1000;

/// How long it waits in between.
const PAUSE: Duration = Duration::from_millis(10);

/// The value that the programs of this process carry. One for all servers in a process, since a guard is
/// for the end of the process.
#[must_use]
pub fn id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        // The keys of a hasher are random; that makes it unlike that of any other process.
        let random = || RandomState::new().build_hasher().finish();
        format!("{}-{:016x}{:016x}", std::process::id(), random(), random())
    })
}

/// The way to the guard of this process. A short lock: a line fits into a pipe, and the guard always reads.
static WAY: Mutex<Option<ChildStdin>> = Mutex::new(None);

fn way() -> MutexGuard<'static, Option<ChildStdin>> {
    WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the guard, if there is one, of a group that has begun.
pub(super) fn began(group: Pid) {
    tell('+', group);
}

/// Tells the guard, if there is one, of a group whose number may be somebody else's from now on.
pub(super) fn ended(group: Pid) {
    tell('-', group);
}

fn tell(sign: char, group: Pid) {
    if let Some(way) = &mut *way() {
        // A guard that is gone cannot be told.
        let _ = writeln!(way, "{sign}{}", group.as_raw_nonzero());
    }
}

/// A guard that is on watch. It notices when this is dropped, too, and goes when it has looked.
#[derive(Debug)]
pub struct Guard {
    process: Child,
}

impl Drop for Guard {
    fn drop(&mut self) {
        *way() = None;
        // It ends by itself, and nobody else would take its end note.
        let _ = self.process.wait();
    }
}

impl Guard {
    /// Starts a guard: `command` with the value as its last argument, which has to end in [`watch`].
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mut command: Command) -> std::io::Result<Self> {
        // In a group of its own, so that what is typed at the server's terminal does not reach it.
        command.arg(id()).process_group(0).env_remove(VARIABLE);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        *way() = process.stdin.take();
        Ok(Self { process })
    }
}

/// What a guard does: waits for the end of the server, and then kills what is left of its programs.
pub fn watch(id: &str) {
    let mut groups = HashSet::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (sign, number) = line.split_at(line.len().min(1));
        let Some(group) = number.parse().ok().and_then(Pid::from_raw) else { continue };
        if sign == "+" {
            groups.insert(group);
        } else {
            groups.remove(&group);
        }
    }
    for group in groups {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let carried = format!("{VARIABLE}={id}");
    for _ in 0..ROUNDS {
        let found = carriers(carried.as_bytes());
        if found.is_empty() {
            return;
        }
        for process in found {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The processes with this line in their environment. One that has ended and was not reaped has none.
fn carriers(line: &[u8]) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let carries = |process: std::fs::DirEntry| {
        let number: i32 = process.file_name().to_str()?.parse().ok()?;
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let carries = environment.split(|byte| *byte == 0).any(|entry| entry == line);
        Pid::from_raw(number).filter(|_| carries)
    };
    processes.filter_map(|process| carries(process.ok()?)).collect()
}
