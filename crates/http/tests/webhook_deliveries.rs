//! What becomes of deliveries, over receivers and names that mean no good.

#[path = "../../executor/tests/support/stub.rs"]
mod stub;

use a2ad_http::webhook::{Client, DeliveryError, Lookup, Refused, Retry, Rules, Target};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stub::{Call, Stub, nobody};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A name server that gives one answer after the other, and then no more.
#[derive(Default)]
struct Script(Mutex<VecDeque<Vec<IpAddr>>>);

impl Script {
    fn of(answers: &[&[&str]]) -> Arc<Self> {
        let read = |text: &&str| text.parse().expect("an address");
        let answers = answers.iter().map(|answer| answer.iter().map(read).collect());
        Arc::new(Self(Mutex::new(answers.collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().expect("a script").len()
    }
}

impl Lookup for Script {
    fn addresses<'l>(&'l self, _name: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>> {
        let answer = self.0.lock().expect("a script").pop_front();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// A name server that never answers.
struct Silent;

impl Lookup for Silent {
    fn addresses<'l>(&'l self, _name: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

/// A long time: no test waits for its end.
const LONG: Duration = Duration::from_secs(600);

fn for_development() -> Rules {
    Rules { allow_private: true, timeout: LONG, ..Rules::default() }
}

fn client(rules: &Rules, lookup: Arc<dyn Lookup>) -> Client {
    Client::new(rules.clone(), lookup)
}

/// A client that may reach loopback, and a target there.
fn nearby(stub: &Stub) -> (Client, Target) {
    let rules = for_development();
    let target = Target::parse(&stub.url("/hook"), &rules).expect("a target");
    (client(&rules, Script::of(&[])), target)
}

async fn post(client: &Client, target: &Target) -> Result<StatusCode, DeliveryError> {
    client.deliver(target, HeaderMap::new(), Bytes::from_static(b"{}")).await
}

/// Delivers while the receiver does what the test says.
async fn against<F>(play: impl FnOnce(Call) -> F) -> Result<StatusCode, DeliveryError>
where
    F: Future<Output = ()>,
{
    let mut stub = Stub::new().await;
    let (client, target) = nearby(&stub);
    let receive = async { play(stub.next().await).await };
    tokio::join!(post(&client, &target), receive).0
}

/// Reads until something has been read.
async fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    while !read.windows(end.len()).any(|found| found == end) {
        assert!(stream.read_buf(&mut read).await.expect("a connection") > 0, "an early end");
    }
    read
}

/// How a delivery ends that is answered with a status and one header.
async fn answered(status: u16, header: (&'static str, &'static str)) -> Retry {
    let ended = against(|call| async move { call.answer_with(status, &[header], "").await }).await;
    ended.expect_err("a failure").retry()
}

#[tokio::test]
async fn a_delivery_is_a_post_with_its_headers_and_body() {
    let mut stub = Stub::new().await;
    let (client, target) = nearby(&stub);
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-a2a-notification-token", HeaderValue::from_static("tk-1"));
    let sent = client.deliver(&target, headers, Bytes::from_static(b"{\"a\":1}"));
    let receive = async {
        let call = stub.next().await;
        assert!(call.head.starts_with("POST /hook HTTP/1.1\r\n"), "{}", call.head);
        assert_eq!(call.header("content-type"), Some("application/json"));
        assert_eq!(call.header("x-a2a-notification-token"), Some("tk-1"));
        assert_eq!(call.body, b"{\"a\":1}");
        for absent in ["cookie", "referer", "accept-encoding"] {
            assert_eq!(call.header(absent), None, "{absent}");
        }
        call.answer_with(202, &[("set-cookie", "a=b")], "").await;
    };
    assert_eq!(tokio::join!(sent, receive).0.unwrap(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_cookie_is_forgotten() {
    let mut stub = Stub::new().await;
    let (client, target) = nearby(&stub);
    for _ in 0..2 {
        let receive = async {
            let call = stub.next().await;
            assert_eq!(call.header("cookie"), None);
            call.answer_with(200, &[("set-cookie", "a=b; Path=/")], "").await;
        };
        tokio::join!(post(&client, &target), receive).0.unwrap();
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let mut elsewhere = Stub::new().await;
        let location = elsewhere.url("/secret");
        let ended = against(|call| async move {
            call.answer_with(status, &[("location", &location)], "").await;
        });
        let error = ended.await.expect_err("a failure");
        assert!(matches!(&error, DeliveryError::Status { status: it, .. } if *it == status));
        assert_eq!(error.retry(), Retry::Never);
        assert!(!elsewhere.was_called());
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut_and_counts() {
    let ended = against(|mut call| async move {
        call.begin("text/plain").await;
        let piece = "a".repeat(16 << 10);
        // Ten megabytes, of which the client reads what the limit and the buffers between hold.
        let mut taken = 0;
        while taken < 640 && call.piece(&piece).await {
            taken += 1;
        }
        assert!(taken < 640, "all of it was read");
    });
    assert_eq!(ended.await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn an_answer_within_the_limit_leaves_the_connection_for_the_next_delivery() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let rules = for_development();
    let target = Target::parse(&url, &rules).unwrap();
    let client = client(&rules, Script::of(&[]));
    let receive = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            tokio::select! {
                _ = listener.accept() => panic!("another connection"),
                _ = read_until(&mut stream, b"\r\n\r\n{}") => {}
            }
            let body = "a".repeat(64 << 10);
            let head = format!("HTTP/1.1 200 X\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(body.as_bytes()).await.unwrap();
        }
    };
    let send = async {
        for _ in 0..2 {
            assert_eq!(post(&client, &target).await.unwrap(), StatusCode::OK);
        }
    };
    tokio::join!(send, receive);
}

#[tokio::test]
async fn https_says_nothing_before_tls_and_asks_for_the_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let rules = for_development();
    let url = format!("https://hook.example.org:{port}/sekret");
    let target = Target::parse(&url, &rules).unwrap();
    let client = client(&rules, Script::of(&[&["127.0.0.1"]]));
    let receive = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        // The first message of TLS names the host in the open.
        let seen = read_until(&mut stream, b"hook.example.org").await;
        assert_eq!(seen[0], 0x16, "a handshake");
        assert!(!seen.windows(6).any(|six| six == b"sekret"));
    };
    let error = tokio::join!(post(&client, &target), receive).0.expect_err("a failure");
    assert!(matches!(error, DeliveryError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn a_success_counts_although_the_rest_never_comes() {
    let rules = Rules { timeout: Duration::from_secs(30), ..for_development() };
    let mut stub = Stub::new().await;
    let target = Target::parse(&stub.url("/hook"), &rules).unwrap();
    let client = client(&rules, Script::of(&[]));
    let receive = async {
        let mut call = stub.next().await;
        call.begin("text/plain").await;
        // From here on time passes when there is nothing left to read.
        tokio::time::pause();
        call.gone().await;
    };
    assert_eq!(tokio::join!(post(&client, &target), receive).0.unwrap(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_never_answers_is_given_up() {
    // The system takes the connection, and nobody reads from it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let rules = for_development();
    let target = Target::parse(&url, &rules).unwrap();
    let ended = post(&client(&rules, Script::of(&[])), &target).await;
    let error = ended.expect_err("a failure");
    assert!(matches!(error, DeliveryError::TimedOut(_)), "{error:?}");
    assert_eq!(error.retry(), Retry::After(Duration::ZERO));
}

#[tokio::test]
async fn a_receiver_that_closes_early_is_tried_again() {
    let error = against(|call| async move { call.break_off() }).await.expect_err("a failure");
    assert!(matches!(error, DeliveryError::Unreachable(_)), "{error:?}");
    assert_eq!(error.retry(), Retry::After(Duration::ZERO));
}

#[tokio::test]
async fn nobody_listening_is_tried_again_and_the_secret_path_is_not_shown() {
    let (_kept, address) = nobody();
    let url = format!("http://{address}/sekret?token=sekret");
    let rules = for_development();
    let target = Target::parse(&url, &rules).unwrap();
    let error = post(&client(&rules, Script::of(&[])), &target).await.expect_err("a failure");
    assert!(matches!(error, DeliveryError::Unreachable(_)), "{error:?}");
    assert_eq!(error.retry(), Retry::After(Duration::ZERO));
    let cause = error.source().expect("a cause");
    let shown = format!("{error} {error:?} {cause} {cause:?}");
    assert!(!shown.contains("sekret"), "{shown}");
    assert_eq!(error.to_string(), "the receiver cannot be reached");
}

#[tokio::test]
async fn a_status_says_whether_to_try_again() {
    let plain = ("x-nothing", "1");
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
        assert_eq!(answered(status, plain).await, Retry::After(Duration::ZERO), "{status}");
    }
    for status in [300, 304, 400, 401, 403, 404, 405, 410, 413, 422, 451] {
        assert_eq!(answered(status, plain).await, Retry::Never, "{status}");
    }
}

#[tokio::test]
async fn a_receiver_may_ask_for_time_within_bounds() {
    let wait = |seconds| Retry::After(Duration::from_secs(seconds));
    assert_eq!(answered(429, ("retry-after", "7")).await, wait(7));
    assert_eq!(answered(503, ("retry-after", "120")).await, wait(120));
    assert_eq!(answered(429, ("retry-after", "18446744073709551615")).await, wait(3600));
    for unread in ["-1", "soon", "", "99999999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT"] {
        assert_eq!(answered(429, ("retry-after", unread)).await, wait(0), "{unread:?}");
    }
    assert_eq!(answered(404, ("retry-after", "7")).await, Retry::Never);
}

#[tokio::test]
async fn the_connection_goes_to_the_address_that_was_looked_up() {
    let mut stub = Stub::new().await;
    let rules = for_development();
    let url = stub.url("/hook").replace("127.0.0.1", "hook.example.org");
    let target = Target::parse(&url, &rules).unwrap();
    // A second look-up on the way to the connection would find the next answer, where nobody is.
    let script = Script::of(&[&["127.0.0.1"], &["192.0.2.1"]]);
    let client = client(&rules, script.clone());
    let receive = async {
        let call = stub.next().await;
        assert!(call.header("host").unwrap().starts_with("hook.example.org:"));
        call.answer(200, "text/plain", "").await;
    };
    tokio::join!(post(&client, &target), receive).0.unwrap();
    assert_eq!(script.left(), 1);
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_later_reaches_nobody() {
    let mut stub = Stub::new().await;
    let port = stub.url("").rsplit(':').next().unwrap().parse().unwrap();
    let rules = Rules { allow_http: true, ports: vec![port], timeout: LONG, ..Rules::default() };
    let script = Script::of(&[&["8.8.8.8"], &["127.0.0.1"]]);
    let client = client(&rules, script.clone());
    let url = stub.url("/hook").replace("127.0.0.1", "rebinding.example.org");
    let target = client.admit(&url).await.expect("a public name");
    assert_eq!(script.left(), 1);
    let error = post(&client, &target).await.expect_err("a refusal");
    assert!(matches!(error, DeliveryError::Refused(Refused::NotPublic)), "{error:?}");
    assert_eq!(error.retry(), Retry::Never);
    assert_eq!(script.left(), 0);
    assert!(!stub.was_called());
}

#[tokio::test]
async fn one_private_address_among_public_ones_spoils_a_name() {
    let mixed: [&[&str]; 5] = [
        &["8.8.8.8", "10.0.0.1"],
        &["10.0.0.1", "8.8.8.8"],
        &["2606:4700:4700::1111", "::ffff:127.0.0.1"],
        &["8.8.8.8", "64:ff9b::a9fe:a9fe"],
        &["8.8.8.8", "1.1.1.1", "fd00::1"],
    ];
    for answer in mixed {
        let client = client(&Rules::default(), Script::of(&[answer, answer]));
        let url = "https://hook.example.org/";
        assert_eq!(client.admit(url).await, Err(Refused::NotPublic), "{answer:?}");
        let target = Target::parse(url, &Rules::default()).unwrap();
        let error = post(&client, &target).await.expect_err("a refusal");
        assert!(matches!(error, DeliveryError::Refused(Refused::NotPublic)), "{error:?}");
    }
}

#[tokio::test]
async fn a_name_that_cannot_be_looked_up_is_taken_and_tried_again() {
    for script in [Script::of(&[]), Script::of(&[&[], &[]])] {
        let client = client(&Rules::default(), script);
        let target = client.admit("https://hook.example.org/").await.expect("a target");
        let error = post(&client, &target).await.expect_err("a failure");
        assert!(matches!(error, DeliveryError::Unreachable(_)), "{error:?}");
        assert_eq!(error.retry(), Retry::After(Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_server_that_never_answers_holds_up_nobody_for_long() {
    let client = client(&Rules::default(), Arc::new(Silent));
    let target = client.admit("https://hook.example.org/").await.expect("a target");
    let error = post(&client, &target).await.expect_err("a failure");
    assert!(matches!(error, DeliveryError::TimedOut(_)), "{error:?}");
}

#[tokio::test]
async fn a_target_read_under_other_rules_is_refused_by_the_clients_own() {
    let mut stub = Stub::new().await;
    let target = Target::parse(&stub.url("/hook"), &for_development()).unwrap();
    let port = stub.url("").rsplit(':').next().unwrap().parse().unwrap();
    let plain = Rules { allow_http: true, ports: vec![port], ..Rules::default() };
    let cases = [(Rules::default(), Refused::Scheme), (plain, Refused::NotPublic)];
    for (rules, why) in cases {
        let error = post(&client(&rules, Script::of(&[])), &target).await.expect_err("a refusal");
        assert!(matches!(&error, DeliveryError::Refused(it) if *it == why), "{error:?}");
    }
    assert!(!stub.was_called());
}

#[tokio::test]
async fn the_machines_own_resolver_is_guarded_too() {
    let lookup: Arc<dyn Lookup> = Arc::new(a2ad_http::webhook::SystemLookup::default());
    let found = lookup.addresses("localhost").await.expect("every machine knows itself");
    assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    let mut stub = Stub::new().await;
    let rules = for_development();
    let url = stub.url("/hook").replace("127.0.0.1", "localhost");
    let client = client(&rules, lookup);
    let target = client.admit(&url).await.unwrap();
    let receive = async { stub.next().await.answer(200, "text/plain", "").await };
    assert_eq!(tokio::join!(post(&client, &target), receive).0.unwrap(), StatusCode::OK);
}
