//! Programs of the real binary that go on when the test says so, however long that takes.

use crate::support::agents::soon;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// Where the programs come up.
pub(super) struct Programs(TcpListener);

impl Programs {
    pub(super) async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a free port"))
    }

    /// An agent `held` whose programs wait for a word and give it back.
    pub(super) fn agent(&self) -> String {
        let port = self.0.local_addr().expect("an address").port();
        let script =
            format!("exec 9<>/dev/tcp/127.0.0.1/{port}; read -r word <&9; printf %s \"$word\"");
        format!(
            "[[agent]]\nid = \"held\"\n[agent.executor]\nkind = \"command\"\n\
             program = \"bash\"\nargs = [\"-c\", '''{script}''']\n"
        )
    }

    /// Waits until so many more are up.
    pub(super) async fn up(&self, count: usize) -> Vec<TcpStream> {
        let mut programs = Vec::new();
        for _ in 0..count {
            let (program, _) = soon("a program", self.0.accept()).await.expect("a connection");
            programs.push(program);
        }
        programs
    }
}

/// Lets programs end.
pub(super) async fn release(programs: Vec<TcpStream>) {
    for mut program in programs {
        program.write_all(b"done\n").await.expect("a program that waits");
    }
}
