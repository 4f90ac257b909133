//! Readers come and go, and some do not read. The task and everybody else take no notice.

use crate::support::TestServer;
use crate::support::agents::{Burst, Puppet, agent, soon};
use crate::support::caller::{Caller, Message, artifact, id, request, state, text};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection that has asked for a stream and reads by hand.
struct Raw {
    socket: TcpStream,
    read: Vec<u8>,
    /// How many events have begun in what was read.
    begun: usize,
}

/// How the data of an event begins.
const BEGIN: &[u8] = b"\ndata: {";

impl Raw {
    async fn open(
        address: SocketAddr,
        agent: &str,
        method: &str,
        params: &serde_json::Value,
    ) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        // Small, so that the server soon has nowhere to write to.
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let mut socket = soon("a connection", socket.connect(address)).await.expect("a connection");
        let body = request(method, params).to_string();
        let head = format!(
            "POST /api/v1/a2a/{agent}/jsonrpc HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\
             Accept: text/event-stream\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).await.expect("a request that is taken");
        socket.write_all(body.as_bytes()).await.expect("a request that is taken");
        Self { socket, read: Vec::new(), begun: 0 }
    }

    /// Reads until so many events have begun.
    async fn events(&mut self, count: usize) {
        while self.begun < count {
            let mut buffer = vec![0; 65_536];
            let read =
                soon("more of a stream", self.socket.read(&mut buffer)).await.expect("bytes");
            assert!(read > 0, "the stream is over");
            let unseen = self.read.len().saturating_sub(BEGIN.len() - 1);
            self.read.extend_from_slice(&buffer[..read]);
            let windows = self.read[unseen..].windows(BEGIN.len());
            self.begun += windows.filter(|window| *window == BEGIN).count();
        }
    }

    /// Closes the connection with a reset instead of a farewell.
    fn reset(self) {
        self.socket.set_zero_linger().expect("an open socket");
    }
}

const PIECES: usize = 6;

/// Streams a task of some pieces, and leaves after `seen` events.
async fn leave_after(seen: usize, reset: bool) {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let address = server.address();
    let params = Message::new("go").params();
    let mut reader = Some(Raw::open(address, "puppet", "message/stream", &params).await);
    let run = stage.next().await;
    let task = run.task.clone();
    let mut sent = 1;
    for piece in 0..PIECES {
        if sent == seen {
            let mut leaving = reader.take().expect("a reader");
            leaving.events(seen).await;
            if reset { leaving.reset() } else { drop(leaving) }
        }
        run.chunk(&piece.to_string(), piece + 1 == PIECES).await.expect("a live task");
        sent += 1;
    }
    run.complete().await;
    if let Some(mut reader) = reader {
        reader.events(sent.min(seen)).await;
        if reset { reader.reset() } else { drop(reader) }
    }
    let task = caller.rest(&task).await;
    assert_eq!((state(&task), artifact(&task)), ("completed", "012345".to_owned()));
    server.finish().await;
}

#[tokio::test]
async fn a_reader_that_leaves_ends_nothing_whenever_it_leaves() {
    for seen in 1..=PIECES + 2 {
        for reset in [false, true] {
            soon("the end of a task without its reader", leave_after(seen, reset)).await;
        }
    }
}

#[tokio::test]
async fn a_reader_that_leaves_does_not_take_the_others_with_it() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let first = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    let mut others = Vec::new();
    for _ in 0..4 {
        let mut other = caller.attach(&run.task, None).await;
        other.next().await.expect("the task");
        others.push(other);
    }
    run.chunk("a", false).await.expect("a live task");
    let stays = others.pop().expect("a reader");
    drop(first);
    drop(others);
    run.chunk("b", true).await.expect("a live task");
    run.complete().await;
    let frames = soon("the end of the stream", stays.collect()).await;
    let pieces = frames.iter().filter_map(|frame| frame.data["result"].get("artifact"));
    assert_eq!(pieces.map(text).collect::<String>(), "ab");
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_that_does_not_read_delays_nobody() {
    // More than the buffers of both ends hold.
    let burst = Arc::new(Burst { pieces: 3000, length: 768 });
    let events = burst.pieces + 3;
    let bursting = agent("burst", burst.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(bursting)).await;
    let caller = Caller::new(&server, "burst");
    let params = Message::new("go").params();
    let mut stalled = Raw::open(server.address(), "burst", "message/stream", &params).await;
    stalled.events(1).await;
    let task = caller.list().await.pop().expect("the task");
    let readers = async {
        let follow = async || caller.attach(id(&task), None).await.collect().await;
        futures_util::future::join3(follow(), follow(), follow()).await
    };
    let echo = Caller::new(&server, "echo");
    let others = async {
        for _ in 0..20 {
            assert_eq!(server.get("/.well-known/agent-card.json", &[]).await.status, 200);
            assert_eq!(artifact(&echo.send(Message::new("me too")).await), "me too");
        }
    };
    let both = futures_util::future::join(readers, others);
    let ((first, second, third), ()) = soon("what the others do", both).await;
    let task = caller.rest(id(&task)).await;
    assert_eq!((state(&task), artifact(&task) == burst.whole()), ("completed", true));
    for frames in [first, second, third] {
        // A reader that came after the end is told so; any other sees all that it had not seen.
        let last = &frames[frames.len() - 1].data;
        assert!(last["error"]["code"] == -32004 || state(&last["result"]) == "completed", "{last}");
        let ids: Vec<_> = frames.iter().filter_map(|frame| frame.id).collect();
        assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "an event is missing");
    }
    // Who reads again gets all of it, in order.
    stalled.events(events).await;
    let read = String::from_utf8_lossy(&stalled.read).into_owned();
    let ids = read.lines().filter_map(|line| line.strip_prefix("id: "));
    let ids: Vec<usize> = ids.filter_map(|id| id.trim().parse().ok()).collect();
    assert_eq!(ids, (1..=events).collect::<Vec<_>>());
    drop(stalled);
    server.finish().await;
}
