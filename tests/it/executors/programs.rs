//! Programs of the real binary: none outlives the server, however it ends.

use crate::drain::process::Process;
use crate::support::agents::soon;
use crate::support::caller::Message;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

/// A server whose programs hold a connection to the test open, as everything that they start does.
async fn server() -> (Process, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!(
        r#"read -r how
        exec 9<>/dev/tcp/127.0.0.1/{port}
        echo up >&9
        case $how in
          plain) sleep 1000 ;;
          deaf) trap '' TERM; while :; do sleep 1000; done ;;
          away) setsid sleep 1000 & wait ;;
          bare) env -i sleep 1000 ;;
        esac"#
    );
    let toml = format!(
        "[server]\ndrain = \"0s\"\n[[agent]]\nid = \"script\"\ngrace = \"1s\"\n\
         [agent.executor]\nkind = \"command\"\nprogram = \"bash\"\nargs = [\"-c\", '''{script}''']\n"
    );
    (Process::start(&toml, "error").await, listener)
}

/// Starts a program of each kind and waits until all of them are up.
async fn start(process: &Process, listener: &TcpListener) -> Vec<TcpStream> {
    let mut programs = Vec::new();
    for how in ["plain", "deaf", "away", "bare"] {
        let sent = process.call("message/send", Message::new(how).blocking(false).params()).await;
        assert_eq!(sent.0, 200);
        let (mut program, _) = soon("a program", listener.accept()).await.expect("a connection");
        let mut up = [0; 3];
        soon("its first words", program.read_exact(&mut up)).await.expect("words");
        programs.push(program);
    }
    programs
}

async fn all_gone(programs: Vec<TcpStream>) {
    for mut program in programs {
        let mut rest = Vec::new();
        // A process that is killed resets its connection, or closes it.
        let _ = soon("the end of a program", program.read_to_end(&mut rest)).await;
    }
}

#[tokio::test]
async fn killing_the_server_leaves_no_program_behind() {
    let (process, listener) = server().await;
    let programs = start(&process, &listener).await;
    process.signal("KILL").await;
    let (status, _) = process.ended().await;
    assert!(!status.success());
    all_gone(programs).await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_leaves_no_program_behind() {
    let (process, listener) = server().await;
    let programs = start(&process, &listener).await;
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    all_gone(programs).await;
}
