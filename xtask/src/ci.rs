//! `ci`: everything that a change must pass, in the order of what is quick to know.

use crate::cargo::{cargo, succeed};
use crate::{Result, cargo as commands, tidy};

/// A step and its name.
type Step = (&'static str, fn() -> Result);

const STEPS: [Step; 5] =
    [("fmt", fmt), ("clippy", clippy), ("tidy", tidy::run), ("test", test), ("doc", doc)];

/// Runs the steps; the first that fails ends it.
pub(crate) fn run() -> Result {
    for (name, step) in STEPS {
        println!("ci: {name}");
        step().map_err(|error| format!("ci step {name} failed: {error}"))?;
    }
    println!("ci: all {} steps passed", STEPS.len());
    Ok(())
}

fn fmt() -> Result {
    succeed(&mut cargo(&["fmt", "--all", "--", "--check"]))
}

fn clippy() -> Result {
    succeed(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn test() -> Result {
    commands::test(&[])
}

fn doc() -> Result {
    succeed(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}
