//! The table of targets.

mod admin;
mod answers;
mod config;
mod credentials;
mod push;
mod resume;
mod server;
mod webhooks;

use crate::memory;

/// A name and what must hold.
pub struct Target {
    /// What it is called on the command line and what its folder of seeds is called.
    pub name: &'static str,
    /// Takes one input.
    pub run: fn(&[u8]),
    /// How many bytes an input has at most.
    pub longest: usize,
    /// How much memory an input may ask for at a time: so much in any case, and so much for each of its bytes.
    pub memory: (usize, usize),
    /// Whether its servers keep files, which takes its time.
    pub keeps_files: bool,
}

impl Target {
    /// Runs one input and makes sure that it takes no more memory than it may.
    pub fn check(&self, input: &[u8]) {
        let peak = memory::peak(|| (self.run)(input));
        let (fixed, each) = self.memory;
        let most = fixed + each * input.len();
        assert!(peak <= most, "{peak} bytes of memory for {} bytes, {most} would do", input.len());
    }

    /// The target of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

/// What reading a text may cost: a tree of values is about thirty times as large as its text.
const TEXT: (usize, usize) = (256 << 10, 200);
/// What a server may cost that is made for one input.
const SERVER: (usize, usize) = (4 << 20, 2000);

const fn target(
    name: &'static str,
    run: fn(&[u8]),
    longest: usize,
    memory: (usize, usize),
) -> Target {
    Target { name, run, longest, memory, keeps_files: false }
}

const fn with_files(name: &'static str, run: fn(&[u8]), longest: usize) -> Target {
    Target { name, run, longest, memory: SERVER, keeps_files: true }
}

/// All of them.
pub const TARGETS: [Target; 15] = [
    target("envelope", a2ad_http::fuzzing::envelope, 2048, TEXT),
    target("params", a2ad_http::fuzzing::params, 4096, TEXT),
    target("paths", a2ad_http::fuzzing::paths, 1024, TEXT),
    target("tokens", a2ad_http::fuzzing::tokens, 256, TEXT),
    target("headers", a2ad_http::fuzzing::headers, 1024, TEXT),
    target("text", a2ad_http::fuzzing::text, 2048, TEXT),
    target("events", a2ad_executor::fuzzing::events, 4096, TEXT),
    target("answers", answers::run, 6144, SERVER),
    with_files("resume", resume::run, 128),
    with_files("push", push::run, 2048),
    with_files("admin", admin::run, 3072),
    with_files("server", server::run, 6144),
    target("credentials", credentials::run, 2048, SERVER),
    target("webhooks", webhooks::run, 2304, TEXT),
    target("config", config::run, 4096, (4 << 20, 2000)),
];
