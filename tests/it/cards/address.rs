//! Where cards say that agents are called: never where a stranger says.

use super::{NAMES, card};
use crate::support::caller::{Message, request};
use crate::support::{Raw, TestServer};
use a2ad::{App, Config};
use serde_json::Value;
use std::collections::BTreeSet;

/// What strangers and careless proxies put into requests.
const CLAIMS: [(&str, &str); 12] = [
    ("host", "evil.example"),
    ("x-forwarded-host", "evil.example"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-port", "6666"),
    ("x-forwarded-prefix", "/evil"),
    ("x-forwarded-server", "evil.example"),
    ("x-forwarded-for", "127.0.0.1"),
    ("x-original-host", "evil.example"),
    ("x-original-url", "/evil"),
    ("x-host", "evil.example"),
    ("forwarded", "for=127.0.0.1;host=evil.example;proto=https"),
    ("origin", "https://evil.example"),
];

/// Every address in a card or a catalog.
fn addresses(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) if text.contains("://") => [text.clone()].into(),
        Value::Array(items) => items.iter().flat_map(addresses).collect(),
        Value::Object(members) => members.values().flat_map(addresses).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

/// Everything that names addresses.
fn paths() -> Vec<String> {
    let mut paths = vec!["/api/v1/a2a/agents".to_owned()];
    for base in ["", "/api/v1/a2a/echo", "/api/v1/a2a/script"] {
        paths.extend(NAMES.map(|name| format!("{base}{name}")));
    }
    paths
}

async fn nobody_is_believed(server: &TestServer, base: &str) {
    for path in paths() {
        let own = card(server, &path, &[]).await;
        assert!(!addresses(&own).is_empty(), "{path}");
        for address in addresses(&own) {
            assert!(address.starts_with(&format!("{base}/")), "{address} is not at {base}");
        }
        for claim in CLAIMS {
            assert_eq!(card(server, &path, &[claim]).await, own, "{path} {claim:?}");
        }
        assert_eq!(card(server, &path, &CLAIMS).await, own, "{path}");
        let mut connection = Raw::connect(server.address()).await;
        for request in [
            format!("GET http://evil.example{path} HTTP/1.1\r\nhost: evil.example\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost:\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: \"><script>\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: evil.example:1\r\nhost: evil.example\r\n\r\n"),
        ] {
            connection.send(request.as_bytes()).await;
            let answer = connection.answer().await.expect("an answer");
            assert!(!String::from_utf8_lossy(&answer.body).contains("evil"), "{request}");
            if answer.status == 200 {
                assert_eq!(answer.json(), own, "{request}");
            }
        }
    }
}

#[tokio::test]
async fn a_card_names_the_address_that_the_server_listens_on_whatever_a_stranger_claims() {
    let server = TestServer::start().await;
    nobody_is_believed(&server, &format!("http://{}", server.address())).await;
    server.finish().await;
}

#[tokio::test]
async fn the_public_address_wins_over_everything() {
    for url in ["https://agents.example.org/team1/a2a", "https://agents.example.org/team1/a2a/"] {
        for trusted in ["[]", r#"["127.0.0.1/32", "::1/128"]"#] {
            let config = format!("[server]\npublic_url = \"{url}\"\ntrusted_proxies = {trusted}\n");
            let server = TestServer::with_config(&config).await;
            nobody_is_believed(&server, "https://agents.example.org/team1/a2a").await;
            let card = card(&server, "/.well-known/agent-card.json", &[]).await;
            assert_eq!(card["url"], "https://agents.example.org/team1/a2a/api/v1/a2a/echo/jsonrpc");
            server.finish().await;
        }
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_trusted_is_a_stranger() {
    let server = TestServer::with_config("[server]\ntrusted_proxies = [\"10.0.0.0/8\"]\n").await;
    nobody_is_believed(&server, &format!("http://{}", server.address())).await;
    server.finish().await;
}

const TRUSTING: &str = "[server]\ntrusted_proxies = [\"127.0.0.1/32\"]\n";

#[tokio::test]
async fn a_trusted_proxy_says_scheme_host_and_prefix() {
    let server = TestServer::with_config(TRUSTING).await;
    let cases: [(&[(&str, &str)], &str); 4] = [
        (
            &[("host", "agents.example.org"), ("x-forwarded-proto", "https")],
            "https://agents.example.org",
        ),
        (
            &[
                ("host", "agents.example.org"),
                ("x-forwarded-proto", "https"),
                ("x-forwarded-prefix", "/team1"),
            ],
            "https://agents.example.org/team1",
        ),
        (
            &[
                ("host", "inside:8000"),
                ("x-forwarded-host", "agents.example.org:8443"),
                ("x-forwarded-proto", "https"),
                ("x-forwarded-prefix", "/team1/"),
            ],
            "https://agents.example.org:8443/team1",
        ),
        (
            // The first is what the client asked; the others are proxies among themselves.
            &[
                ("x-forwarded-host", "agents.example.org, inner"),
                ("x-forwarded-proto", "https, http"),
            ],
            "https://agents.example.org",
        ),
    ];
    for (headers, base) in cases {
        for path in paths() {
            for address in addresses(&card(&server, &path, headers).await) {
                assert!(
                    address.starts_with(&format!("{base}/api/v1/a2a/")),
                    "{address}: {headers:?}"
                );
            }
        }
    }
    server.finish().await;
}

/// Even a trusted proxy passes on what clients make up.
#[tokio::test]
async fn nothing_but_hosts_and_paths_comes_through_a_trusted_proxy() {
    let server = TestServer::with_config(TRUSTING).await;
    let own = format!("http://{}/", server.address());
    let cases: [&[(&str, &str)]; 9] = [
        &[("x-forwarded-host", "a/b"), ("x-forwarded-proto", "https")],
        &[("x-forwarded-host", "user@a"), ("x-forwarded-proto", "https")],
        &[("x-forwarded-host", "a\"b"), ("x-forwarded-proto", "https")],
        &[("x-forwarded-host", "a?b#c"), ("x-forwarded-proto", "https")],
        &[("x-forwarded-host", ""), ("x-forwarded-proto", "https")],
        &[("x-forwarded-host", "a"), ("x-forwarded-proto", "javascript")],
        &[
            ("x-forwarded-host", "a"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-prefix", "evil"),
        ],
        &[
            ("x-forwarded-host", "a"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-prefix", "//evil"),
        ],
        &[
            ("x-forwarded-host", "a"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-prefix", "/\"><x"),
        ],
    ];
    for headers in cases {
        for address in addresses(&card(&server, "/.well-known/agent-card.json", headers).await) {
            assert!(address.starts_with(&own), "{address}: {headers:?}");
        }
    }
    server.finish().await;
}

/// The address of a card is one that works.
#[tokio::test]
async fn the_address_on_a_card_can_be_called() {
    let server = TestServer::start().await;
    for agent in ["echo", "script"] {
        let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
        let card = card(&server, &path, &[]).await;
        let url = card["url"].as_str().expect("an address");
        let path = url.strip_prefix(&format!("http://{}", server.address())).expect("this server");
        let answer =
            server.rpc_at(path, request("message/send", &Message::new("x").params())).await;
        assert_eq!(answer["result"]["status"]["state"], "completed");
    }
    server.finish().await;
}

/// Such an address means every address of this machine and can be called from nowhere.
#[tokio::test]
async fn an_address_that_stands_for_all_addresses_is_not_named() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let mut config = Config::parse("[store]\nkind = \"memory\"", "test").expect("a good one");
        config.server.listen = listen.parse().expect("an address");
        let Ok(app) = App::builder(config).build() else { continue };
        let Ok(server) = app.bind().await else { continue };
        let base = server.base_url();
        assert!(!base.contains("0.0.0.0") && !base.contains("[::]"), "{base}");
    }
}
