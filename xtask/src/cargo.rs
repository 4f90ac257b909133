//! The commands that are little more than a call of cargo.

use crate::{Result, interop, packages};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Names the folder of what the task runner keeps between runs. It is ours alone: the server, and
/// so its tests, refuse variables that look like settings and are none.
pub(crate) const CACHE: &str = "XTASK_CACHE";

/// The folder of the workspace. Cargo names it when it runs us; what the compiler saw may be
/// another checkout that has the same target folder.
pub(crate) fn root() -> PathBuf {
    let mut folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    folder.pop();
    folder
}

/// A call of the cargo that started us, in the folder of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).env_remove(CACHE);
    command
}

/// Runs a command to its end; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let name = program.rsplit('/').next().unwrap_or(&program);
    Err(format!("`{name} {}` failed: {status}", arguments.join(" ")).into())
}

/// `run`: builds the server and becomes it, so that signals reach it directly.
pub(crate) fn run(arguments: &[String]) -> Result {
    succeed(&mut cargo(&["build", "--quiet", "--package", "a2ad"]))?;
    let server = packages::read()?.target.join("debug/a2ad");
    let error = Command::new(&server).arg("serve").args(arguments).env_remove(CACHE).exec();
    Err(format!("cannot start {}: {error}", server.display()).into())
}

/// `test`: the black-box tests start the binary and the example in Rust, which cargo does not build
/// for them because they belong to other packages. Arguments choose among the tests in Rust, so the clients of
/// other languages run only without.
pub(crate) fn test(arguments: &[String]) -> Result {
    succeed(&mut cargo(&["build", "--package", "a2ad", "--package", "a2ad-example-sum"]))?;
    succeed(cargo(&["test", "--workspace"]).args(arguments))?;
    if arguments.is_empty() { interop::run(&[]) } else { Ok(()) }
}
