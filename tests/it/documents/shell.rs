//! Runs the commands of a document: a folder of their own, a server of their own, and the binary on the
//! path.

use a2ad_domain::testing::PATIENCE;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the documents call the server's address.
const WRITTEN: &str = "127.0.0.1:8000";

/// Where the commands of one document are run.
pub(super) struct Shell {
    folder: PathBuf,
    server: Process,
}

impl Shell {
    /// A folder and a server for a document of this name.
    pub(super) fn open(name: &str) -> Self {
        Self::with_config(name, "")
    }

    /// The same with a configuration.
    pub(super) fn with_config(name: &str, config: &str) -> Self {
        let folder = Self::folder(name);
        std::fs::write(folder.join("served.toml"), config).expect("a file");
        let server =
            Process::start(&folder, "a2ad serve --config served.toml --listen 127.0.0.1:0");
        Self { folder, server }
    }

    /// A copy of an example's folder with another configuration, and the server that `command` starts there.
    pub(super) fn example(name: &str, command: &str, adjust: impl FnOnce(&mut String)) -> Self {
        let folder = Self::folder(name);
        let example = super::root().join("examples").join(name);
        for entry in std::fs::read_dir(example).expect("an example") {
            let entry = entry.expect("an entry");
            if entry.path().is_file() {
                std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
            }
        }
        let file = folder.join("a2ad.toml");
        if let Ok(mut toml) = std::fs::read_to_string(&file) {
            adjust(&mut toml);
            std::fs::write(file, toml).expect("a file");
        }
        let server = Process::start(&folder, command);
        Self { folder, server }
    }

    /// A folder for commands.
    fn folder(name: &str) -> PathBuf {
        for tool in ["bash", "curl"] {
            let found = Command::new(tool).arg("--version").stdout(Stdio::null()).status();
            assert!(
                found.is_ok_and(|status| status.success()),
                "{tool} is missing: install it, the commands of the documents are run with it"
            );
        }
        let name = name.replace(['/', '.'], "-");
        let folder =
            std::env::temp_dir().join(format!("a2ad-documents-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the commands");
        // A command that does not end is a failure and no hanging test.
        let curlrc = format!("max-time = {}\nshow-error\n", PATIENCE.as_secs());
        std::fs::write(folder.join(".curlrc"), curlrc).expect("a file");
        folder
    }

    /// Puts a file into the folder.
    pub(super) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("a file");
    }

    /// The text with the address of this server.
    pub(super) fn addressed(&self, text: &str) -> String {
        text.replace(WRITTEN, &self.server.address)
    }

    /// Runs commands to their end and gives what they print.
    pub(super) fn run(&self, commands: &str) -> Result<String, String> {
        let script = format!("set -euo pipefail\n{}", self.addressed(commands));
        let output = bash(&self.folder, &script).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        Err(format!("{}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }

    /// Runs a command that serves, until it listens.
    pub(super) fn serves(&self, command: &str) {
        // The port that the document names may be taken.
        Process::start(&self.folder, &command.replace(":8000", ":0"));
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A service that an example's agent calls.
pub(super) struct Service(Process);

impl Service {
    /// Starts it in the folder of the example, on a free port.
    pub(super) fn start(example: &str, command: &str) -> Self {
        Self(Process::start(&super::root().join("examples").join(example), command))
    }

    /// Puts its address where the example's configuration has the usual one.
    pub(super) fn stands_for(&self, usual: &str, toml: &mut String) {
        assert!(toml.contains(usual), "{usual} is not in {toml}");
        *toml = toml.replace(usual, &self.0.address);
    }
}

/// A server under a shell, with a process group of its own.
struct Process {
    shell: Child,
    address: String,
}

impl Process {
    fn start(folder: &Path, command: &str) -> Self {
        // Servers of one folder would have the same file.
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let mut shell = bash(folder, command)
            .env("A2AD_STORE__PATH", format!("data-{number}/tasks.db"))
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let mut line = String::new();
        let out = shell.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("text");
        let mut started = Self { shell, address: String::new() };
        match line.trim_end().strip_prefix("listening on http://") {
            Some(address) => address.clone_into(&mut started.address),
            None => panic!("`{command}` does not serve; it says {line:?} {}", started.problem()),
        }
        started
    }

    /// What a server that did not start says.
    fn problem(&mut self) -> String {
        self.stop();
        let mut problem = String::new();
        if let Some(mut stderr) = self.shell.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut stderr, &mut problem);
        }
        problem
    }

    fn stop(&mut self) {
        let group = format!("kill -KILL -- -{}", self.shell.id());
        let _ = Command::new("bash").args(["-c", &group]).stderr(Stdio::null()).status();
        let _ = self.shell.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A shell in `folder` with the server's binary on its path and nothing of ours in its environment.
fn bash(folder: &Path, script: &str) -> Command {
    let mut path = std::ffi::OsString::from(binary().parent().expect("a folder"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("A2AD_") {
            command.env_remove(name);
        }
    }
    command.env("PATH", path).env("HOME", folder).env("CURL_HOME", folder);
    command.env("no_proxy", "*").env("A2AD_LOG", "error");
    command
}

/// The server, which is built into the folder above the one of the tests.
fn binary() -> PathBuf {
    let mut folder = std::env::current_exe().expect("this test's path");
    folder.pop();
    folder.pop();
    let binary = folder.join("a2ad");
    assert!(
        binary.is_file(),
        "{} is missing: run `cargo xtask test`, which builds it",
        binary.display()
    );
    binary
}
