//! Encrypted connections of the server.

use super::certificates::{Authority, Files, get, url};
use super::connections::counted;
use crate::support::agents::soon;
use crate::support::{Raw, TestServer};
use a2ad::{App, Config};
use rustls::version::{TLS12, TLS13};

#[tokio::test]
async fn a_server_with_a_certificate_speaks_tls_and_says_so_everywhere() {
    let authority = Authority::new();
    let files = Files::new("tls", &authority.server());
    let server = TestServer::with_config(&files.server()).await;
    for version in [&TLS12, &TLS13] {
        let client = authority.caller_in(None, &[version]);
        let card = get(&client, &server, "/.well-known/agent-card.json").await;
        assert_eq!(card.status, 200);
        assert_eq!(card.headers["strict-transport-security"], "max-age=31536000");
        let base = format!("https://{}", server.address());
        let card = card.json();
        for said in card["supportedInterfaces"].as_array().expect("interfaces") {
            assert!(said["url"].as_str().expect("a URL").starts_with(&base), "{said}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn streams_of_an_encrypted_connection_are_whole() {
    let authority = Authority::new();
    let files = Files::new("tls-streams", &authority.server());
    let server = TestServer::with_config(&files.server()).await;
    let params = crate::support::caller::Message::new("chunks 200 encrypted").params();
    let body = crate::support::caller::request("message/stream", &params).to_string();
    let request = authority.caller(None).post(url(&server, "/api/v1/a2a/script/jsonrpc"));
    let request = request.header("content-type", "application/json").body(body);
    let events = crate::support::Events::new(request.send().await.expect("an answer"));
    let frames = soon("the end of the stream", events.collect()).await;
    let ids: Vec<_> = frames.iter().filter_map(|frame| frame.id).collect();
    assert!(ids.len() > 4 && ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ids:?}");
    server.finish().await;
}

#[tokio::test]
async fn what_is_no_handshake_is_not_answered_and_stops_nobody() {
    let authority = Authority::new();
    let files = Files::new("tls-plain", &authority.server());
    let server = TestServer::with_config(&files.server()).await;
    let mut plain = Raw::connect(server.address()).await;
    plain.send(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let mut read = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut plain.stream, &mut read).await;
    assert!(!read.starts_with(b"HTTP"), "{read:?}");
    // Nobody waits for a client that says nothing.
    let silent = Raw::connect(server.address()).await;
    assert_eq!(get(&authority.caller(None), &server, "/healthz").await.status, 200);
    drop(silent);
    server.finish().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_come_to_an_end_is_given_up() {
    let authority = Authority::new();
    let files = Files::new("tls-silent", &authority.server());
    let toml = format!("{}handshake_timeout = \"500ms\"\n", files.server());
    let server = TestServer::with_config(&toml).await;
    let mut silent = Raw::connect(server.address()).await;
    assert!(soon("the end of the connection", silent.answer()).await.is_none());
    // On a slow machine the handshake of whoever asks may not come to an end in time either.
    let metrics = soon("a handshake in time", async {
        loop {
            let asked = authority.caller(None).get(url(&server, "/metrics")).send().await;
            if let Ok(answer) = asked {
                return answer.text().await.expect("text");
            }
        }
    });
    assert!(counted(&metrics.await, "handshake") >= 1);
    server.finish().await;
}

#[tokio::test]
async fn a_new_certificate_holds_at_once_and_a_broken_one_never() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::new("tls-renewed", &old.server());
    let server = TestServer::with_config(&files.server()).await;
    let works = async |authority: &Authority| {
        authority.caller(None).get(url(&server, "/healthz")).send().await.is_ok()
    };
    assert_eq!((works(&old).await, works(&new).await), (true, false));
    let held = old.caller(None);
    assert_eq!(get(&held, &server, "/healthz").await.status, 200);
    let renewed = new.server();
    // The two files are replaced one after the other; in between they do not fit.
    files.put("server.pem", &renewed.certificate);
    assert_eq!((works(&old).await, works(&new).await), (true, false));
    files.put("server.key", &renewed.key);
    assert_eq!((works(&old).await, works(&new).await), (false, true));
    // Connections that were there go on.
    assert_eq!(get(&held, &server, "/healthz").await.status, 200);
    for broken in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n", &renewed.key] {
        files.put("server.pem", broken);
        assert!(works(&new).await, "{broken}");
    }
    std::fs::remove_file(files.path("server.pem")).expect("a file");
    assert!(works(&new).await);
    files.put("server.pem", &renewed.certificate);
    assert!(works(&new).await);
    server.finish().await;
}

#[test]
fn files_that_cannot_be_used_are_refused_at_the_start() {
    let authority = Authority::new();
    let (one, other) = (authority.server(), authority.server());
    let files = Files::new("tls-refused", &one);
    let problem = || {
        let config = Config::parse(&files.server(), "test").expect("a good file");
        let problem = App::builder(config).build().map(drop).expect_err("no certificate");
        let problem = problem.to_string();
        assert!(problem.starts_with("server.tls: "), "{problem}");
        problem
    };
    files.put("server.key", &other.key);
    assert!(problem().contains("server.pem"), "{}", problem());
    files.put("server.key", "SECRET");
    let told = problem();
    assert!(told.contains("server.key") && !told.contains("SECRET"), "{told}");
    files.put("server.key", &one.key);
    files.put("server.pem", "nothing");
    assert!(problem().contains("no certificate in PEM"));
    std::fs::remove_file(files.path("server.pem")).expect("a file");
    assert!(problem().contains("server.pem"));
}

#[test]
fn settings_that_contradict_encryption_are_refused() {
    let tls = "[server.tls]\ncertificate = \"c\"\nkey = \"k\"\n";
    for (toml, place, remedy) in [
        (format!("[server]\npublic_url = \"http://a2a.example\"\n{tls}"), "test:2: ", "https://"),
        ("[auth]\nclient_ca = \"clients.pem\"\n".to_owned(), "test:2: ", "[server.tls]"),
        (format!("{tls}handshake_timeout = \"0s\"\n"), "test:4: ", "longer than 0s"),
        ("[server.cors]\norigins = [\"app.example\"]\n".to_owned(), "test:2: ", "https://app"),
        ("[server]\nmax_head = \"1KiB\"\n".to_owned(), "test:2: ", "at least 8192"),
    ] {
        let problem = Config::parse(&toml, "test").expect_err(&toml).to_string();
        assert!(problem.starts_with(place) && problem.contains(remedy), "{problem}");
    }
}

#[tokio::test]
async fn handshakes_that_are_under_way_leave_room_for_others() {
    let authority = Authority::new();
    let files = Files::new("tls-slow", &authority.server());
    let server = TestServer::with_config(&files.server()).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut raw = Raw::connect(server.address()).await;
        // The begin of a handshake that never goes on.
        raw.send(&[22, 3, 1]).await;
        slow.push(raw);
    }
    let client = authority.caller(None);
    let reply = soon("an answer beside slow ones", get(&client, &server, "/healthz")).await;
    assert_eq!(reply.status, 200);
    drop(slow);
    server.finish().await;
}
