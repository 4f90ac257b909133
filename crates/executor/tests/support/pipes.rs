//! Named pipes between a test and the programs that it starts: one that they hold open as long as they
//! live, and one that lets them go on.
#![allow(dead_code, unreachable_pub)] // Each test file is a crate of its own and uses its part of this.

use a2ad_domain::testing::PATIENCE;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::time::timeout;

/// Both pipes.
pub struct Pipes {
    folder: PathBuf,
    life: Receiver,
    go: Sender,
    heard: Vec<u8>,
}

impl Pipes {
    pub fn new() -> Self {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("a2ad-pipes-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        for pipe in ["life", "go"] {
            let made = std::process::Command::new("mkfifo").arg(folder.join(pipe)).status();
            assert!(made.expect("mkfifo").success());
        }
        let life = OpenOptions::new().open_receiver(folder.join("life")).expect("a pipe");
        // Held open both ways, so that neither side waits for the other to open it.
        let go = OpenOptions::new().read_write(true).open_sender(folder.join("go"));
        Self { life, go: go.expect("a pipe"), folder, heard: Vec::new() }
    }

    /// The variables that name them.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        let path = |name: &str| self.folder.join(name).display().to_string();
        [("LIFE", path("life")), ("GO", path("go"))]
    }

    /// Lets a program read one more line.
    pub async fn go(&mut self) {
        self.go.write_all(b"\n").await.expect("a pipe");
    }

    /// Waits for these words.
    pub async fn hear(&mut self, words: &str) {
        while self.heard.len() < words.len() {
            assert!(self.read().await, "everybody has gone");
        }
        let rest = self.heard.split_off(words.len());
        assert_eq!(std::mem::replace(&mut self.heard, rest), words.as_bytes());
    }

    /// Waits until nobody holds the pipe any more: every process that had it has ended.
    pub async fn all_gone(&mut self) {
        // Somebody must have been there; a pipe that nobody has opened yet looks just the same.
        if self.heard.is_empty() {
            self.read().await;
        }
        while self.read().await {}
    }

    async fn read(&mut self) -> bool {
        let mut buffer = [0; 256];
        let length =
            timeout(PATIENCE, self.life.read(&mut buffer)).await.expect("a program that ends");
        let length = length.expect("a pipe");
        self.heard.extend_from_slice(&buffer[..length]);
        length > 0
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
