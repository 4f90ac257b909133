//! What the binary says about encryption when it starts.

use super::certificates::{Authority, Files};
use crate::drain::process::command;
use crate::support::Folder;
use crate::support::agents::soon;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

/// The first two lines of the output, and the log, of a server that is started and ended.
async fn said(toml: &str, listen: &str) -> ([String; 2], String) {
    let folder = Folder::new("announced");
    let file = folder.join("a2ad.toml");
    std::fs::write(&file, toml).expect("a file");
    let mut command =
        command(["serve", "--store", "memory", "--allow-anonymous", "--listen", listen]);
    command.arg("--config").arg(file).env("A2AD_LOG", "warn").env("NO_COLOR", "1");
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    let mut output = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut lines = [const { String::new() }; 2];
    for line in &mut lines {
        *line = soon("a line", output.next_line()).await.expect("text").expect("a line");
    }
    child.kill().await.expect("a process that ends");
    let mut log = String::new();
    let mut errors = child.stderr.take().expect("its errors");
    errors.read_to_string(&mut log).await.expect("text");
    (lines, log)
}

#[tokio::test]
async fn the_first_lines_name_the_address_as_it_is_to_be_called() {
    let authority = Authority::new();
    let files = Files::new("announced-tls", &authority.server());
    let (lines, log) = said(&files.server(), "127.0.0.1:0").await;
    assert!(lines[0].starts_with("listening on https://127.0.0.1:"), "{lines:?}");
    let base = lines[0].trim_start_matches("listening on ");
    assert!(lines[1].starts_with(&format!("try: curl -s {base}/ ")), "{lines:?}");
    assert!(!log.contains("nothing is encrypted"), "{log}");
    // Who has to show a certificate is told how.
    files.trust(&authority);
    let toml = [files.server(), files.clients()].concat();
    let (lines, _) = said(&toml, "127.0.0.1:0").await;
    assert!(lines[1].contains(" --cert CERTIFICATE --key KEY "), "{lines:?}");
}

#[tokio::test]
async fn a_server_that_others_can_reach_in_plain_text_says_so_once() {
    let authority = Authority::new();
    let files = Files::new("announced-plain", &authority.server());
    for (url, tls, warned) in [
        ("http://a2a.example", "", 1),
        ("https://a2a.example", "", 0),
        ("https://a2a.example", &*files.server(), 0),
    ] {
        let toml = format!("[server]\npublic_url = \"{url}\"\n{tls}");
        let (_, log) = said(&toml, "0.0.0.0:0").await;
        assert_eq!(log.matches("nothing is encrypted").count(), warned, "{url} {tls}\n{log}");
    }
    let (_, log) = said("", "127.0.0.1:0").await;
    assert!(!log.contains("nothing is encrypted"), "{log}");
}
