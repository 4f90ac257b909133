//! The task runner of the project: `cargo xtask <command>`.

mod announced;
mod bench;
mod cargo;
mod ci;
mod fuzz;
mod interop;
mod packages;
mod tidy;
mod tree;

use std::error::Error;
use std::process::ExitCode;

/// What every command returns: nothing, or the reason why it failed.
pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "\
usage: cargo xtask <command>

  run [args]                   build the server and serve; the arguments go to `a2ad serve`
  test [args]                  build the server and run every test; with arguments, which go to
                               `cargo test`, only the tests in Rust
  interop [--server BINARY]    run the clients of other languages against the server
  tidy                         check the rules of the project that the compiler does not know
  ci                           fmt, clippy, tidy, test, doc: everything that a change must pass
  fuzz [targets] [--seconds S] look for inputs for which something does not hold, guided by coverage
  bench [rows] [--seconds S]   measure the server against the yardstick; see `bench --list`
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("run") => cargo::run(rest),
        Some("test") => cargo::test(rest),
        Some("interop") => interop::run(rest),
        Some("tidy") => tidy::run(),
        Some("ci") => ci::run(),
        Some("fuzz") => fuzz::run(rest),
        Some("bench") => bench::run(rest),
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        Some(unknown) => {
            eprintln!("xtask: there is no command `{unknown}`\n\n{USAGE}");
            return ExitCode::from(2);
        }
        None => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
