//! Secrets go to whom they are meant for and nowhere else.

use crate::drain::process::Process;
use crate::support::agents::soon;
use crate::support::caller::{Message, state};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-very-secret-key";

/// A model server that repeats in its refusals what it was sent, as some do.
async fn tattling() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut heard = Vec::new();
            while !String::from_utf8_lossy(&heard).contains("\r\n\r\n{") {
                let mut piece = [0; 4096];
                match stream.read(&mut piece).await {
                    Ok(length) if length > 0 => heard.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            // Far enough behind that it is at the edge of what is logged.
            let body = format!("{} {}", "x".repeat(2040), String::from_utf8_lossy(&heard));
            let head = format!(
                "HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    address
}

#[tokio::test]
async fn a_key_is_in_no_answer_and_no_log_even_when_it_is_repeated() {
    let address = tattling().await;
    let model = "kind = \"openai\", model = \"m\"";
    for executor in [
        format!("{{ {model}, base_url = \"http://{address}/v1\", api_key = {{ env = \"KEY\" }} }}"),
        format!(
            "{{ kind = \"http\", url = \"http://{address}/\", headers = {{ x-api-key = {{ env = \"KEY\" }} }} }}"
        ),
        "{ kind = \"command\", program = \"sh\", args = [\"-c\", \"echo $KEY >&2; exit 1\"], \
         env = { KEY = { env = \"KEY\" } } }"
            .to_owned(),
    ] {
        let toml = format!("[[agent]]\nid = \"script\"\nexecutor = {executor}\n");
        let process = Process::start_with(&toml, "trace", &[("KEY", KEY)]).await;
        let sent = process.call("message/send", Message::new("x").params());
        let (_, answer) = soon("an answer", sent).await;
        assert_eq!(state(&answer["result"]), "failed", "{answer}");
        process.signal("TERM").await;
        let (_, output) = process.ended().await;
        assert!(output.contains("an executor failed") && output.contains('…'), "{output}");
        for part in [KEY, "sk-very"] {
            assert!(!answer.to_string().contains(part) && !output.contains(part), "{output}");
        }
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_hears_nothing() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let through = format!("http://{}", proxy.local_addr().expect("an address"));
    let address = tattling().await;
    let toml = format!(
        "[[agent]]\nid = \"script\"\nexecutor = {{ kind = \"http\", url = \"http://{address}/\" }}\n"
    );
    let variables = ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, &*through));
    let process = Process::start_with(&toml, "error", &variables).await;
    let sent = process.call("message/send", Message::new("x").params());
    let (_, answer) = soon("an answer", sent).await;
    assert!(answer.to_string().contains("HTTP status 401"), "{answer}");
    process.signal("TERM").await;
    process.ended().await;
    let heard = tokio::select! {
        biased;
        _ = proxy.accept() => true,
        () = std::future::ready(()) => false,
    };
    assert!(!heard, "the proxy was called");
}
