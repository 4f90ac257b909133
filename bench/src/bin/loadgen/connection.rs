//! A connection that speaks as much HTTP/1.1 as the load needs: POST, keep-alive, and bodies
//! with a length or in chunks.

use crate::Result;
use bytes::{Buf, BytesMut};
use memchr::memmem;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How much room a read is offered, and the least that is asked for at once.
const READ: usize = 64 * 1024;

/// How the body of an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
}

pub(crate) struct Connection {
    stream: TcpStream,
    /// What has arrived and is not taken yet.
    buffer: BytesMut,
    host: String,
    /// The request under way; kept for its memory.
    request: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| format!("cannot connect to {address}: {error}"))?;
        stream.set_nodelay(true).map_err(|error| format!("cannot set TCP_NODELAY: {error}"))?;
        let host = address.to_string();
        Ok(Connection { stream, buffer: BytesMut::new(), host, request: Vec::new() })
    }

    /// Posts a call and returns the whole body of the answer.
    pub(crate) async fn call(&mut self, path: &str, body: &str) -> Result<BytesMut> {
        match self.post(path, "application/json", body).await? {
            Framing::Length(length) => {
                self.fill(length).await?;
                Ok(self.buffer.split_to(length))
            }
            Framing::Chunked => {
                let mut whole = BytesMut::new();
                while let Some(chunk) = self.chunk().await? {
                    whole.unsplit(chunk);
                }
                Ok(whole)
            }
        }
    }

    /// Posts a call that is answered with a stream; its chunks are read one by one.
    pub(crate) async fn open_stream(&mut self, path: &str, body: &str) -> Result {
        match self.post(path, "text/event-stream", body).await? {
            Framing::Chunked => Ok(()),
            Framing::Length(length) => {
                self.fill(length).await?;
                let body = String::from_utf8_lossy(&self.buffer[..length]).into_owned();
                Err(format!("a stream was asked for, and this came: {body}"))
            }
        }
    }

    /// The next chunk of a body, or none at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<BytesMut>> {
        let end = self.find(b"\r\n").await?;
        let line = self.buffer.split_to(end + 2);
        let text = String::from_utf8_lossy(&line);
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16)
            .map_err(|_| format!("not the size of a chunk: {text:?}"))?;
        self.fill(size + 2).await?;
        let chunk = self.buffer.split_to(size);
        self.buffer.advance(2);
        Ok((size > 0).then_some(chunk))
    }

    async fn post(&mut self, path: &str, accept: &str, body: &str) -> Result<Framing> {
        if !self.buffer.is_empty() {
            return Err(format!("{} bytes came after the end of an answer", self.buffer.len()));
        }
        self.request.clear();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: {accept}\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(body.as_bytes());
        let sent = self.stream.write_all(&self.request).await;
        sent.map_err(|error| format!("cannot send a request: {error}"))?;

        let end = self.find(b"\r\n\r\n").await?;
        let head = self.buffer.split_to(end + 4);
        framing(&String::from_utf8_lossy(&head))
    }

    /// Reads until the needle has arrived, and says where it begins.
    async fn find(&mut self, needle: &[u8]) -> Result<usize> {
        loop {
            if let Some(at) = memmem::find(&self.buffer, needle) {
                return Ok(at);
            }
            self.read(READ).await?;
        }
    }

    /// Reads until that many bytes have arrived.
    async fn fill(&mut self, length: usize) -> Result {
        while self.buffer.len() < length {
            self.read(READ.max(length - self.buffer.len())).await?;
        }
        Ok(())
    }

    async fn read(&mut self, room: usize) -> Result {
        self.buffer.reserve(room);
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => Err("the server closed the connection within an answer".into()),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("cannot read an answer: {error}")),
        }
    }
}

/// Checks the status, and finds out how the body ends.
fn framing(head: &str) -> Result<Framing> {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the answer is {status:?}"));
    }
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let length = value.parse().map_err(|_| format!("content-length is {value:?}"))?;
            return Ok(Framing::Length(length));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") && value == "chunked" {
            return Ok(Framing::Chunked);
        }
    }
    Err(format!("no length and no chunks in {head:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_how_the_body_ends() {
        let length = framing("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
        assert_eq!(length, Ok(Framing::Length(12)));
        let chunked = framing("HTTP/1.1 200 OK\r\nTransfer-encoding: chunked\r\n\r\n");
        assert_eq!(chunked, Ok(Framing::Chunked));
    }

    #[test]
    fn any_other_answer_is_a_failure() {
        assert!(framing("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(framing("HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
