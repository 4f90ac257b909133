//! Callers who show certificates.

use super::certificates::{Authority, Files, Signed, get, url};
use crate::support::caller::{Message, request};
use crate::support::{Reply, TestServer};
use rcgen::DnType;
use serde_json::{Value, json};

const AGENTS: &str = r#"
[[agent]]
id = "guarded"
executor = { kind = "echo" }
[[agent]]
id = "open"
executor = { kind = "echo" }
auth = []
"#;

/// A server that knows clients by certificates.
struct World {
    authority: Authority,
    clients: Authority,
    files: Files,
    server: TestServer,
}

impl World {
    async fn start(name: &str) -> Self {
        let (authority, clients) = (Authority::new(), Authority::new());
        let files = Files::new(name, &authority.server());
        files.trust(&clients);
        let toml = [files.server(), files.clients(), AGENTS.to_owned()].concat();
        let server = TestServer::with_config(&toml).await;
        Self { authority, clients, files, server }
    }

    fn caller(&self, shown: Option<&Signed>) -> reqwest::Client {
        self.authority.caller(shown)
    }

    async fn call(
        &self,
        client: &reqwest::Client,
        agent: &str,
        method: &str,
        params: Value,
    ) -> Reply {
        let url = url(&self.server, &format!("/api/v1/a2a/{agent}/jsonrpc"));
        let request = client.post(url).body(request(method, &params).to_string());
        let request = request.header("content-type", "application/json");
        Reply::read(request.send().await.expect("an answer")).await
    }

    async fn send(&self, client: &reqwest::Client, agent: &str) -> Reply {
        self.call(client, agent, "message/send", Message::new("x").params()).await
    }
}

#[tokio::test]
async fn a_certificate_makes_its_subject_the_owner_of_what_it_sends() {
    let world = World::start("mtls").await;
    let (ann, bob) = (world.clients.client("ann"), world.clients.client("bob"));
    let (ann, bob) = (world.caller(Some(&ann)), world.caller(Some(&bob)));
    let sent = world.send(&ann, "guarded").await;
    assert_eq!(sent.status, 200);
    let task = sent.json()["result"]["id"].clone();
    let read = async |client: &reqwest::Client| {
        world.call(client, "guarded", "tasks/get", json!({ "id": task })).await.json()
    };
    assert_eq!(read(&ann).await["result"]["id"], task);
    assert_eq!(read(&bob).await["error"]["code"], -32001);
    // Another certificate of the same subject is the same caller.
    let again = world.clients.client("ann");
    assert_eq!(read(&world.caller(Some(&again))).await["result"]["id"], task);
    world.server.finish().await;
}

#[tokio::test]
async fn subjects_that_look_alike_are_two() {
    let world = World::start("mtls-alike").await;
    let one = [(DnType::OrganizationName, "b"), (DnType::CommonName, "a")];
    let other = [(DnType::CommonName, "a,O=b")];
    let [one, other] = [&one[..], &other[..]].map(|it| world.clients.client_until(it, 4000));
    let (one, other) = (world.caller(Some(&one)), world.caller(Some(&other)));
    let task = world.send(&one, "guarded").await.json()["result"]["id"].clone();
    let read = world.call(&other, "guarded", "tasks/get", json!({ "id": task })).await;
    assert_eq!(read.json()["error"]["code"], -32001);
    world.server.finish().await;
}

#[tokio::test]
async fn a_caller_without_a_certificate_is_told_what_to_show_and_may_call_open_agents() {
    let world = World::start("mtls-none").await;
    let nobody = world.caller(None);
    let refused = world.send(&nobody, "guarded").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.headers["www-authenticate"], "ClientCertificate");
    assert_eq!(world.send(&nobody, "open").await.status, 200);
    // A name in a header is no certificate.
    let url = url(&world.server, "/api/v1/a2a/guarded/jsonrpc");
    for header in ["x-client-subject", "x-ssl-client-s-dn", "x-forwarded-client-cert"] {
        let request = nobody.post(&url).header(header, "CN=ann").body("{}");
        assert_eq!(request.send().await.expect("an answer").status(), 401, "{header}");
    }
    world.server.finish().await;
}

#[tokio::test]
async fn a_certificate_that_is_not_good_makes_no_connection() {
    let world = World::start("mtls-bad").await;
    let expired = world.clients.client_until(&[(DnType::CommonName, "ann")], 2001);
    let unknown = Authority::new().client("ann");
    // A certificate for servers is none for clients.
    let other = world.clients.server();
    for (what, bad) in [("expired", expired), ("unknown", unknown), ("for a server", other)] {
        let client = world.caller(Some(&bad));
        let call = client.get(url(&world.server, "/healthz")).send().await;
        assert!(call.is_err(), "{what}");
    }
    let nameless = world.clients.client_until(&[], 4000);
    let refused = world.send(&world.caller(Some(&nameless)), "guarded").await;
    assert_eq!(refused.status, 401, "a certificate that names nobody");
    world.server.finish().await;
}

#[tokio::test]
async fn roots_of_clients_that_change_hold_for_the_next_connection() {
    let world = World::start("mtls-renewed").await;
    let ann = world.clients.client("ann");
    assert_eq!(world.send(&world.caller(Some(&ann)), "guarded").await.status, 200);
    let other = Authority::new();
    world.files.trust(&other);
    let client = world.caller(Some(&ann));
    assert!(client.get(url(&world.server, "/healthz")).send().await.is_err());
    let new = other.client("ann");
    assert_eq!(world.send(&world.caller(Some(&new)), "guarded").await.status, 200);
    world.server.finish().await;
}

#[tokio::test]
async fn the_card_says_that_a_certificate_is_asked_for() {
    let world = World::start("mtls-card").await;
    let card = get(&world.caller(None), &world.server, "/.well-known/agent-card.json").await.json();
    assert_eq!(
        card["securitySchemes"],
        json!({ "mtls": { "type": "mutualTLS", "mtlsSecurityScheme": {} } })
    );
    assert_eq!(card["security"], json!([{ "mtls": [] }]));
    assert_eq!(card["securityRequirements"], json!([{ "schemes": { "mtls": { "list": [] } } }]));
    world.server.finish().await;
}

#[tokio::test]
async fn a_certificate_and_another_credential_are_two_where_both_are_taken() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let files = Files::new("mtls-two", &authority.server());
    files.trust(&clients);
    let keys = files.path("keys.jsonl");
    let key = a2ad_http::KeyFile::new(&keys)
        .create("ann", None, a2ad_domain::Timestamp::from_millis(0))
        .expect("a key");
    let keyed = "[[agent]]\nid = \"keyed\"\nexecutor = { kind = \"echo\" }\nauth = [\"key\"]\n";
    let both = "[[agent]]\nid = \"both\"\nexecutor = { kind = \"echo\" }\n";
    let auth = format!("{}keys = \"{}\"\n", files.clients(), keys.display());
    let toml = [&*files.server(), &auth, both, keyed].concat();
    let server = TestServer::with_config(&toml).await;
    let (with, without) = (authority.caller(Some(&clients.client("ann"))), authority.caller(None));
    let status = async |client: &reqwest::Client, agent: &str, key: Option<&str>| {
        let body = request("message/send", &Message::new("x").params()).to_string();
        let request = client.post(url(&server, &format!("/api/v1/a2a/{agent}/jsonrpc"))).body(body);
        let request = request.header("content-type", "application/json");
        let request =
            key.into_iter().fold(request, |request, key| request.header("x-api-key", key));
        request.send().await.expect("an answer").status().as_u16()
    };
    let key = Some(key.reveal());
    assert_eq!(status(&with, "both", None).await, 200);
    assert_eq!(status(&without, "both", key).await, 200);
    assert_eq!(status(&with, "both", key).await, 401);
    // Where certificates are not taken, the connection's does not count.
    assert_eq!(status(&with, "keyed", key).await, 200);
    assert_eq!(status(&with, "keyed", None).await, 401);
    server.finish().await;
}
