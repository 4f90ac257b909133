//! How often the server asks for memory: a count that does not depend on the machine, so it can be a limit.
//! The server runs on a thread of its own and only that thread is counted.

use a2ad::{App, Config};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without; this one only counts")]
// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.try_with(Cell::get).unwrap_or(false) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if COUNTED.try_with(Cell::get).unwrap_or(false) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Starts a server on its own counted thread, with a store that is soon at its cap.
fn server() -> SocketAddr {
    let (address, told) = mpsc::channel();
    std::thread::spawn(move || {
        COUNTED.set(true);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let config = "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nkind = \"memory\"\nmax_tasks = 50\n\
                [[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n\
                [[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
            let config = Config::parse(config, "test").expect("a good configuration");
            let app = App::builder(config).build().expect("parts that fit");
            let server = app.bind().await.expect("a free port");
            address.send(server.local_addr()).expect("the test listens");
            server.run(std::future::pending()).await;
        });
    });
    told.recv().expect("an address")
}

struct Client(TcpStream);

impl Client {
    fn call(&mut self, agent: &str, method: &str, params: &str) -> String {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let request = format!(
            "POST /api/v1/a2a/{agent}/jsonrpc HTTP/1.1\r\nhost: test\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.write_all(request.as_bytes()).expect("a connection");
        let mut answer = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        // Everything that is asked here ends with one of these.
        while !(answer.ends_with(b"}}") || answer.ends_with(b"\r\n0\r\n\r\n")) {
            let read = self.0.read(&mut buffer).expect("an answer");
            assert!(read > 0, "the server closed the connection");
            answer.extend_from_slice(&buffer[..read]);
        }
        String::from_utf8(answer).expect("text")
    }

    /// Allocations per call, after the buffers have found their sizes.
    fn count(&mut self, agent: &str, method: &str, params: &str) -> u64 {
        const CALLS: u64 = 200;
        (0..CALLS).for_each(|_| drop(self.call(agent, method, params)));
        let before = ALLOCATIONS.load(Ordering::SeqCst);
        (0..CALLS).for_each(|_| drop(self.call(agent, method, params)));
        (ALLOCATIONS.load(Ordering::SeqCst) - before) / CALLS
    }
}

fn message(text: &str) -> String {
    format!(
        r#"{{"message":{{"role":"user","messageId":"m-1","parts":[{{"kind":"text","text":"{text}"}}]}}}}"#
    )
}

#[test]
fn a_call_asks_for_memory_no_more_often_than_it_may() {
    let mut client = Client(TcpStream::connect(server()).expect("a server"));
    let send = client.count("echo", "message/send", &message(&"x".repeat(1024)));
    println!("message/send of 1 KB: {send} allocations");
    assert!(send <= 70, "message/send of 1 KB: {send} allocations");

    let few = client.count("script", "message/stream", &message("chunks:100|x"));
    let many = client.count("script", "message/stream", &message("chunks:1100|x"));
    let chunk = (many - few) as f64 / 1000.0;
    println!("one more chunk of a stream: {chunk:.2} allocations");
    assert!(chunk <= 8.0, "one more chunk of a stream: {chunk:.2} allocations");
}
