//! A program and everything that it starts: a process group, which is gone when this is dropped.

use super::guard;
use super::tail::Tail;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncReadExt, Interest};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A running program.
pub(super) struct Group {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    pub(super) leader: Leader,
    child: Child,
}

/// The process that leads the group. The group bears its number, and the system gives that number to
/// nobody else before the leader was reaped; so a signal is only ever sent while it has not been.
pub(super) struct Leader {
    group: Option<Pid>,
    /// Readable when the process has ended, and does not reap it.
    handle: AsyncFd<OwnedFd>,
}

impl Group {
    /// Starts a program in a process group of its own.
    pub(super) fn start(mut command: Command) -> std::io::Result<Self> {
        let mut child = command.process_group(0).spawn()?;
        let gone = || std::io::Error::other("the program has no pipes");
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).ok_or_else(gone)?;
        let handle = pidfd_open(group, PidfdFlags::NONBLOCK).map_err(std::io::Error::from);
        guard::began(group);
        let leader = match handle.and_then(watched) {
            Ok(handle) => Leader { group: Some(group), handle },
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                guard::ended(group);
                return Err(error);
            }
        };
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = stdout.zip(stderr).ok_or_else(gone)?;
        Ok(Self { stdin, stdout, stderr, leader, child })
    }

    /// Asks the whole group to end, and waits until the program has and nobody holds its output any more;
    /// what is still written is not heard. Whoever is left then is killed.
    pub(super) async fn terminate(&mut self, tail: &mut Tail) {
        self.stdin = None;
        self.leader.signal(Signal::TERM);
        let Self { stdout, stderr, leader, .. } = self;
        tokio::join!(leader.ended(), ignore(stdout), tail.follow(stderr));
        leader.kill();
    }

    /// How the program ended. Whatever it has left is killed before.
    pub(super) async fn reap(&mut self) -> std::io::Result<ExitStatus> {
        self.leader.ended().await;
        self.leader.let_go();
        self.child.wait().await
    }
}

impl Leader {
    /// Waits until the program itself has ended; others of its group may go on.
    pub(super) async fn ended(&self) {
        // It stays readable, so that this may be asked again.
        let _ = self.handle.readable().await.map(|mut ready| ready.retain_ready());
    }

    /// Kills what is there of the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills what is there of the group, and forgets it: its number may soon be somebody else's.
    fn let_go(&mut self) {
        self.kill();
        if let Some(group) = self.group.take() {
            guard::ended(group);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // There may be nobody left, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Its successor is `unsafe`, since a type may answer with another descriptor each time it is asked; this
/// one always has the same.
#[expect(deprecated)]
fn watched(handle: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}

/// Reads to the end, so that nobody who writes has to wait.
async fn ignore(pipe: &mut (impl AsyncRead + Unpin)) {
    let mut buffer = vec![0; 8192];
    while pipe.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
}
