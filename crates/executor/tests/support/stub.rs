//! A service on loopback that a test plays by hand, call by call.
#![allow(dead_code, unreachable_pub)] // Each test file is a crate of its own and uses its part of this.

use a2ad_domain::testing::PATIENCE;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

/// An address that nobody listens on, nor can as long as the socket is kept.
pub fn nobody() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// A service that is being called.
pub struct Stub {
    address: SocketAddr,
    calls: UnboundedReceiver<Call>,
}

impl Stub {
    pub async fn new() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"))
    }

    /// A service on a port that is listened on already.
    pub fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().expect("an address");
        let (told, calls) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let told = told.clone();
                tokio::spawn(async move {
                    if let Some(call) = Call::read(stream).await {
                        let _ = told.send(call);
                    }
                });
            }
        });
        Self { address, calls }
    }

    /// Its address with a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next call.
    pub async fn next(&mut self) -> Call {
        let call = timeout(PATIENCE, self.calls.recv()).await.expect("a call that comes");
        call.expect("a stub that listens")
    }

    /// Whether a call has come that nobody has taken.
    pub fn was_called(&mut self) -> bool {
        self.calls.try_recv().is_ok()
    }

    /// Answers every call from now on with this, and counts nothing.
    pub fn always(mut self, media_type: &'static str, body: &'static str) {
        tokio::spawn(async move {
            while let Some(call) = self.calls.recv().await {
                tokio::spawn(call.answer(200, media_type, body));
            }
        });
    }
}

/// A call that waits for its answer.
pub struct Call {
    pub head: String,
    pub body: Vec<u8>,
    stream: TcpStream,
}

impl Call {
    async fn read(mut stream: TcpStream) -> Option<Self> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 16384];
        let end = loop {
            if let Some(at) = all.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            let length = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
            all.extend_from_slice(&buffer[..length]);
        };
        let head = String::from_utf8(all[..end].to_vec()).ok()?;
        let mut body = all.split_off(end);
        let length: usize = header_of(&head, "content-length")?.parse().ok()?;
        while body.len() < length {
            let read = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
            body.extend_from_slice(&buffer[..read]);
        }
        Some(Self { head, body, stream })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header_of(&self.head, name)
    }

    /// The path that is called.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// Answers at once.
    pub async fn answer(self, status: u16, media_type: &str, body: impl AsRef<[u8]>) {
        self.answer_with(status, &[("content-type", media_type)], body).await;
    }

    /// Answers at once with these headers.
    pub async fn answer_with(
        mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) {
        let body = body.as_ref();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        // Whoever called may have gone.
        let _ = self.stream.write_all(head.as_bytes()).await;
        let _ = self.stream.write_all(body).await;
        let _ = self.stream.shutdown().await;
    }

    /// Begins an answer that comes piece by piece.
    pub async fn begin(&mut self, media_type: &str) {
        let head = format!(
            "HTTP/1.1 200 X\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\
             connection: close\r\n\r\n"
        );
        self.stream.write_all(head.as_bytes()).await.expect("somebody who reads");
    }

    /// The next piece; says whether anybody reads it.
    pub async fn piece(&mut self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        let mut piece = format!("{:x}\r\n", text.len()).into_bytes();
        piece.extend_from_slice(text);
        piece.extend_from_slice(b"\r\n");
        self.stream.write_all(&piece).await.is_ok()
    }

    /// Ends an answer that came piece by piece.
    pub async fn finish(mut self) {
        let _ = self.stream.write_all(b"0\r\n\r\n").await;
        let _ = self.stream.shutdown().await;
    }

    /// Closes the connection where it stands.
    pub fn break_off(self) {}

    /// Waits until whoever called has closed the connection.
    pub async fn gone(mut self) {
        let mut buffer = [0; 64];
        let closed =
            async { while self.stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {} };
        timeout(PATIENCE, closed).await.expect("a connection that is closed");
    }
}

fn header_of<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
