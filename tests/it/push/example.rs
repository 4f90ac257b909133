//! The verifier of the example, which receivers copy: it believes what the server has signed and nothing else.

use super::published::{JWT, files, make};
use super::{call, message};
use crate::support::receiver::{HOOKS, Receiver};
use crate::support::{Folder, TestServer};
use a2ad_domain::ports::Clock;
use a2ad_domain::testing::ManualClock;
use a2ad_http::SigningAlgorithm;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64_URL};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Reads cases and says of each what the verifier says.
const ASK: &str = r"
import { readFileSync } from 'node:fs';
const { Verifier, NotGenuine } = await import(process.argv[1]);
const { issuer, audience, now, cases } = JSON.parse(readFileSync(0));
const verifier = new Verifier({ issuer, audience });
for (const { token, body, later } of cases) {
  try {
    const claims = await verifier.claims(token, Buffer.from(body, 'base64'), now + later);
    console.log(`${claims.notification_id}`);
  } catch (error) {
    if (!(error instanceof NotGenuine)) throw error;
    console.log(error.message);
  }
}
";

/// Asks with tokens that anybody can make, while the server answers and while it does not, and says how often it
/// was asked for its keys.
const COUNT: &str = r"
const { Verifier } = await import(process.argv[1]);
let [asked, up] = [0, true];
globalThis.fetch = async () => {
  asked += 1;
  return up ? { ok: true, json: async () => ({ keys: [] }) } : { ok: false, status: 503 };
};
const verifier = new Verifier({ issuer: 'http://a.example', audience: 'http://b.example' });
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const made = (kid) => `${part({ alg: 'ES256', typ: 'JWT', kid })}.${part({})}.AA`;
const says = (token, now) => verifier.claims(token, '', now).then(() => 'good', (it) => it.message);
const all = (now) => Promise.all(Array.from({ length: 50 }, (_, kid) => says(made(kid), now)));
const different = async (now) => [...new Set(await all(now))].join();
console.log(await different(1000), asked);
up = false;
for (const now of [1005, 1011, 1012, 1020]) console.log(await different(now), asked);
up = true;
console.log(await different(1022), asked);
console.log(await says(`${part(null)}.${part({})}.AA`, 1022));
console.log(await says(`${made(1)}=`, 1022));
";

async fn run(script: &str, question: Value) -> Vec<String> {
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/webhook/verify.mjs");
    let mut node = Command::new("node")
        .args(["--input-type=module", "-e", script, module])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is missing: install Node.js 20 or newer");
    let mut stdin = node.stdin.take().expect("its input");
    stdin.write_all(question.to_string().as_bytes()).await.expect("it reads");
    drop(stdin);
    let output = node.wait_with_output().await.expect("a process");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

async fn says(question: Value) -> Vec<String> {
    run(ASK, question).await
}

/// Anybody can make up the id of a key.
#[tokio::test]
async fn the_verifier_of_the_example_asks_for_keys_once_in_a_while_whoever_comes() {
    let down = "the keys cannot be fetched: 503";
    let wanted = [
        "no key of the server 1".to_owned(),
        "no key of the server 1".to_owned(),
        format!("{down} 2"),
        format!("{down} 2"),
        format!("{down} 2"),
        "no key of the server 3".to_owned(),
        "no token that can be read".to_owned(),
        "no token".to_owned(),
    ];
    assert_eq!(run(COUNT, Value::Null).await, wanted);
}

fn encoded(value: &Value) -> String {
    BASE64_URL.encode(value.to_string())
}

#[tokio::test]
async fn the_verifier_of_the_example_believes_what_the_server_has_signed_and_nothing_else() {
    for algorithm in SigningAlgorithm::ALL {
        let (folder, receiver) = (Folder::new("example"), Receiver::start().await);
        let key = make(&folder, "key", algorithm);
        let keys = files(&folder, &["key"]);
        // Tokens are good for some minutes, and here for as long as the test takes.
        let clock = Arc::new(ManualClock::default());
        let now = clock.now().as_millis() / 1000;
        let config = format!("{HOOKS}keys = {keys}\n");
        let server = TestServer::custom(&config, |parts| parts.clock(clock)).await;
        let params = message(false, "plums", json!({ "url": receiver.url("/a") }));
        call(&server, "script", "SendMessage", params).await.result();
        let notices = receiver.until_ended("/a").await;
        let (notice, last) = (&notices[0], &notices[notices.len() - 1]);
        let token = notice.header(JWT).expect("a token");
        let parts: Vec<&str> = token.split('.').collect();
        let mut changed = notice.body.clone();
        changed[0] ^= 1;
        // The public half as a secret, and no signature at all, under the id of the key.
        let under = |alg: &str, sign: &str| {
            let header = encoded(&json!({ "alg": alg, "typ": "JWT", "kid": key.id() }));
            format!("{header}.{}.{sign}", parts[1])
        };
        let id = notice.header("a2a-notification-id").expect("an id");
        let rows = [
            (token.to_owned(), &notice.body, 0, id),
            (token.to_owned(), &changed, 0, "of another body"),
            (token.to_owned(), &last.body, 0, "of another body"),
            (token.to_owned(), &notice.body, 7200, "not of this time"),
            (token.to_owned(), &notice.body, -7200, "not of this time"),
            (under("none", ""), &notice.body, 0, "no key of the server"),
            (under("HS256", parts[2]), &notice.body, 0, "no key of the server"),
            (under(algorithm.name(), ""), &notice.body, 0, "not signed by the key that it names"),
            (String::new(), &notice.body, 0, "no token"),
        ];
        let cases: Vec<Value> = rows
            .iter()
            .map(|(token, body, later, _)| {
                json!({ "token": token, "body": BASE64_STANDARD.encode(body), "later": later })
            })
            .collect();
        let issuer = format!("http://{}", server.address());
        let asked = |issuer: &str, audience: &str, cases: &[Value]| json!({ "issuer": issuer, "audience": audience, "now": now, "cases": cases });
        let (audience, one) = (receiver.url(""), &cases[..1]);
        let told = says(asked(&issuer, &audience, &cases)).await;
        assert_eq!(told, rows.map(|(_, _, _, wanted)| wanted), "{algorithm:?}");
        // Who is called by another name is another receiver, and an issuer is known by the name it gives itself.
        let elsewhere = says(asked(&issuer, "http://b.example", one)).await;
        assert_eq!(elsewhere, ["for another receiver"]);
        let alias = format!("http://localhost:{}", server.address().port());
        assert_eq!(says(asked(&alias, &audience, one)).await, ["from another server"]);
        server.finish().await;
    }
}
