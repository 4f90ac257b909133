//! What receivers know the server's notices by.

use super::{call, full, message};
use crate::support::receiver::{HOOKS, Receiver};
use crate::support::{Folder, TestServer};
use ring::hmac;

#[tokio::test]
async fn a_notice_is_signed_with_the_secret_that_receivers_share() {
    let (folder, receiver) = (Folder::new("signed"), Receiver::start().await);
    let secret = folder.join("secret");
    std::fs::write(&secret, "correct horse\n").expect("a file");
    let config = format!("{HOOKS}secret = {{ file = \"{}\" }}\n", secret.display());
    let server = TestServer::with_config(&config).await;
    let params = message(false, "plums", full(false, &receiver.url("/a")));
    call(&server, "script", "SendMessage", params).await.result();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"correct horse");
    for told in receiver.until_ended("/a").await {
        let header = told.header("a2a-notification-signature").expect("a signature");
        let (time, digest) = header.split_once(",v1=").expect("two parts");
        let time = time.strip_prefix("t=").expect("a time");
        let signed = [time.as_bytes(), b".", &told.body].concat();
        let bytes: Vec<u8> = (0..digest.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digest[at..at + 2], 16).expect("hex"))
            .collect();
        hmac::verify(&key, &signed, &bytes).expect("a signature of this very body");
    }
    server.finish().await;
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let params = message(false, "plums", full(false, &receiver.url("/a")));
    call(&server, "script", "SendMessage", params).await.result();
    for told in receiver.until_ended("/a").await {
        assert_eq!(told.header("a2a-notification-signature"), None);
    }
    server.finish().await;
}
