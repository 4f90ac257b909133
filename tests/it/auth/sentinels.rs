//! What was entrusted to the server, planted and looked for in everything that it says to anybody else.

use super::issuer::{AUDIENCE, ISSUER, Pair, Site};
use crate::drain::process::{Process, command};
use crate::support::Folder;
use crate::support::caller::{Message, request};
use crate::support::receiver::{EAGER, Reaction, Receiver};
use a2ad_domain::Timestamp;
use a2ad_http::KeyFile;
use serde_json::{Value, json};

const OPERATOR: &str = "sentinel-of-an-operator-and-long-enough";
const CONTENT: &str = "sentinel-of-a-message";
const CLAIM: &str = "sentinel-of-a-claim";
const HOOK_TOKEN: &str = "sentinel-of-a-webhook";
const HOOK_PATH: &str = "sentinel-of-its-path";
const HOOK_CREDENTIALS: &str = "sentinel-of-its-credentials";
const RPC: &str = "/api/v1/a2a/script/jsonrpc";

/// What a token says that is good for years, with something that is nobody's business.
fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": 4_102_444_800_i64, "x": CLAIM })
}

/// Every call that holds something secret. `url` is that of a webhook.
fn calls(url: &str) -> Vec<String> {
    let config = json!({
        "url": url,
        "token": HOOK_TOKEN,
        "authentication": { "schemes": ["Bearer"], "credentials": HOOK_CREDENTIALS },
    });
    let set = json!({ "taskId": "x", "pushNotificationConfig": config });
    let mut wrong = config.clone();
    wrong["token"] = format!("{HOOK_TOKEN}\n").into();
    let wrong = Message::new(CONTENT).configured("pushNotificationConfig", wrong);
    let inline = Message::new(CONTENT).configured("pushNotificationConfig", config);
    vec![
        request("message/send", &Message::new(format!("fail {CONTENT}")).params()).to_string(),
        request("message/send", &Message::new(CONTENT).params()).to_string(),
        request("message/send", &inline.params()).to_string(),
        request("message/send", &wrong.params()).to_string(),
        request("tasks/pushNotificationConfig/set", &set).to_string(),
        format!("{{\"{CONTENT}"),
    ]
}

/// What the command line prints.
async fn prints(arguments: &[&str]) -> String {
    let output = command(arguments).env("A2AD_LOG", "trace").output().await.expect("a process");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
}

/// What somebody with an operator's key is told, and somebody with nearly one.
async fn told_to_operators(process: &Process) -> String {
    let mut told = String::new();
    for (shown, good) in [(OPERATOR, true), (&OPERATOR[1..], false)] {
        for (verb, path, body) in [
            ("GET", "/api/v1/admin/agents", String::new()),
            ("GET", "/api/v1/admin/tasks", String::new()),
            ("PUT", "/api/v1/admin/agents/script", json!({ "x": CONTENT }).to_string()),
            ("GET", &format!("/api/v1/admin/{CONTENT}"), String::new()),
        ] {
            let headers = [("content-type", "application/json"), ("x-api-key", shown)];
            let (status, answer) = process.exchange(verb, path, &headers, body).await;
            assert_eq!(status == 401, !good, "{path}: {answer}");
            told.push_str(&answer);
        }
    }
    told
}

/// What is told without credentials.
async fn told_to_everybody(process: &Process) -> String {
    let mut told = String::new();
    for path in
        ["/metrics", "/status", "/readyz", "/.well-known/agent-card.json", "/api/v1/a2a/agents"]
    {
        let (status, answer) = process.exchange("GET", path, &[], String::new()).await;
        assert_eq!(status, 200, "{path}");
        told.push_str(&answer);
    }
    told
}

#[tokio::test]
async fn nothing_that_was_entrusted_to_the_server_is_told_to_anybody_else() {
    let folder = Folder::new("sentinels");
    let (config, keys) = (folder.join("a2ad.toml"), folder.join("keys.jsonl"));
    let (site, pair, stranger) = (Site::new().await, Pair::ec(), Pair::ec());
    site.publish(&[pair.jwk("1")]);
    let operator = folder.join("operator.key");
    std::fs::write(&operator, OPERATOR).expect("a file");
    let receiver = Receiver::start().await;
    let path = format!("/{HOOK_PATH}");
    // What a webhook may do that is worth a line in the log.
    receiver.react(&path, [Reaction::Answer(410), Reaction::Answer(503), Reaction::Break]);
    let toml = format!(
        "{EAGER}[admin.keys]\nann = {{ file = \"{}\" }}\n[auth]\nkeys = \"{}\"\n[auth.jwt]\nissuer = \"{ISSUER}\"\naudience = \"{AUDIENCE}\"\n\
         jwks_url = \"{}\"\n[[agent]]\nid = \"script\"\nexecutor = {{ kind = \"script\" }}\n",
        operator.display(),
        keys.display(),
        site.url()
    );
    std::fs::write(&config, &toml).expect("a file");
    let create = |owner| KeyFile::new(&keys).create(owner, None, Timestamp::from_millis(0));
    let (key, revoked) = (create("ann").expect("a key"), create("ann").expect("a key"));
    KeyFile::new(&keys).revoke(revoked.id(), Timestamp::from_millis(1)).expect("a key");
    let token = format!("Bearer {}", pair.token("1", &claims()));
    let forged = format!("Bearer {}", stranger.token("1", &claims()));
    let unknown = format!("Bearer {}", pair.token("2", &claims()));
    let process = Process::start(&toml, "trace").await;
    let mut told = String::new();

    let json_type = ("content-type", "application/json");
    for (shown, good) in [
        (("x-api-key", key.reveal()), true),
        (("authorization", &*token), true),
        (("x-api-key", revoked.reveal()), false),
        (("authorization", &*forged), false),
        (("authorization", &*unknown), false),
        (("authorization", key.reveal()), false),
        (("x-api-key", &*token), false),
    ] {
        for body in calls(&receiver.url(&path)) {
            let (status, answer) = process.exchange("POST", RPC, &[json_type, shown], body).await;
            assert_eq!(status, if good { 200 } else { 401 }, "{answer}");
            // Who has sent something is told it back; nobody else is told anything.
            told.push_str(if good { "" } else { &answer });
        }
    }
    receiver.until_ended(&path).await;
    told.push_str(&told_to_operators(&process).await);
    told.push_str(&told_to_everybody(&process).await);
    let config = config.to_str().expect("text");
    told.push_str(&prints(&["check", "--config", config]).await);
    told.push_str(&prints(&["key", "list", "--config", config]).await);
    process.signal("TERM").await;
    let (_, output) = process.ended().await;
    // It is the log that was read: what was refused is in it, with the reason.
    assert!(
        ["a token was refused", "an executor failed", "a webhook was not told"]
            .iter()
            .all(|said| output.contains(said)),
        "{output}"
    );
    told.push_str(&output);

    let secret = |key: &str| key.rsplit_once('_').expect("a key").1[..16].to_owned();
    let signature = |token: &str| token.rsplit_once('.').expect("a token").1[..16].to_owned();
    let payload = |token: &str| token.split('.').nth(1).expect("a token")[..32].to_owned();
    let digests = std::fs::read_to_string(&keys).expect("text");
    let digests = digests.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line["sha256"].as_str().expect("a digest").to_owned()
    });
    let mut sentinels: Vec<String> = digests.collect();
    assert_eq!(sentinels.len(), 2);
    let planted = [CONTENT, CLAIM, HOOK_TOKEN, HOOK_CREDENTIALS, HOOK_PATH, &OPERATOR[1..]];
    sentinels.extend(planted.map(str::to_owned));
    sentinels.extend([key.reveal(), revoked.reveal()].map(secret));
    sentinels.extend([&*token, &forged, &unknown].map(signature));
    sentinels.push(payload(&token));
    for sentinel in sentinels {
        let lines: Vec<&str> = told.lines().filter(|line| line.contains(&sentinel)).collect();
        assert!(lines.is_empty(), "{sentinel} is told: {lines:#?}");
    }
}
