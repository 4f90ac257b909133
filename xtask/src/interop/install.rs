//! Installs what is pinned, with the ordinary tools of each language, unless it is there.

use super::cache::{self, Place};
use super::sdk::{Language, SDKS, Sdk};
use crate::Result;
use crate::cargo::CACHE;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Python and Node.js that the SDKs run with.
const PYTHON: (u32, u32) = (3, 10);
const NODE: u32 = 20;

/// The folders of the SDKs.
pub(super) struct Installed(Vec<(Sdk, PathBuf)>);

impl Installed {
    pub(super) fn folder(&self, sdk: Sdk) -> Result<&Path> {
        let found = self.0.iter().find(|(known, _)| *known == sdk);
        let (_, folder) = found.ok_or_else(|| format!("{sdk} is not installed"))?;
        Ok(folder)
    }
}

/// Installs what is missing, and says all that keeps it from doing so.
pub(super) fn all() -> Result<Installed> {
    let caches = cache::folder()?;
    fs::create_dir_all(&caches)?;
    // Two runs at the same time would write into the same folders. The lock ends with the file.
    let lock = File::create(caches.join("interop.lock"))?;
    lock.lock()?;
    let (mut installed, mut problems) = (Vec::new(), Vec::new());
    for sdk in SDKS {
        match place(sdk, &caches) {
            Ok(folder) => installed.push((sdk, folder)),
            Err(error) => problems.push(format!("\n  {sdk}: {error}")),
        }
    }
    if problems.is_empty() {
        return Ok(Installed(installed));
    }
    Err(format!(
        "interop cannot run:{}\n  What was installed once is taken from {}; set {CACHE} to a \
         folder that `cargo xtask interop --install-only` has filled where there is a network.",
        problems.concat(),
        caches.display()
    )
    .into())
}

fn place(sdk: Sdk, caches: &Path) -> Result<PathBuf> {
    let place = Place::of(sdk, caches)?;
    if sdk.language == Language::Node {
        check_node()?;
    }
    // An environment of Python points to the interpreter that made it, which may be gone.
    let runs = || sdk.language != Language::Python || answers(&python_of(&place.folder));
    if place.is_filled() && runs() {
        return Ok(place.folder);
    }
    println!("interop: installing {sdk} into {}", place.folder.display());
    place.clear()?;
    match sdk.language {
        Language::Python => install_python(sdk, &place.folder)?,
        Language::Node => install_node(sdk, &place.folder)?,
    }
    place.fill()?;
    Ok(place.folder)
}

/// The interpreter of an environment.
pub(super) fn python_of(folder: &Path) -> PathBuf {
    folder.join("bin/python")
}

fn install_python(sdk: Sdk, folder: &Path) -> Result {
    check_python()?;
    let hint = "Python needs its modules venv and ensurepip (package python3-venv)";
    quietly(Command::new("python3").args(["-m", "venv"]).arg(folder), hint)?;
    let hint = "pip needs a package index that it can reach";
    let pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    let mut install = Command::new(python_of(folder));
    quietly(install.args(pip).arg("--requirement").arg(&sdk.pins()[0]), hint)
}

fn install_node(sdk: Sdk, folder: &Path) -> Result {
    for pin in sdk.pins() {
        fs::copy(&pin, folder.join(pin.file_name().ok_or("a pin without a name")?))?;
    }
    let hint = "npm (it comes with Node.js) needs a package registry that it can reach";
    let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    quietly(Command::new("npm").args(npm).current_dir(folder), hint)
}

fn check_python() -> Result {
    let (major, minor) = PYTHON;
    let print = "import sys; print(*sys.version_info[:2])";
    let version = said(Command::new("python3").args(["-c", print]))
        .ok_or_else(|| format!("there is no python3; install Python {major}.{minor} or newer"))?;
    let mut parts = version.split_whitespace().map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(a)), Some(Ok(b))) if (a, b) >= PYTHON => Ok(()),
        _ => Err(format!("python3 is {version}; install {major}.{minor} or newer").into()),
    }
}

fn check_node() -> Result {
    let version = said(Command::new("node").arg("--version"))
        .ok_or_else(|| format!("there is no node; install Node.js {NODE} or newer, with npm"))?;
    match major(&version) {
        Some(major) if major >= NODE => Ok(()),
        _ => Err(format!("node is {version}; install {NODE} or newer").into()),
    }
}

fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn answers(program: &Path) -> bool {
    said(Command::new(program).arg("--version")).is_some()
}

/// What a command says on its standard output, if it runs and succeeds.
fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Runs a command and shows what it said only when it fails, with what it may need.
fn quietly(command: &mut Command, hint: &str) -> Result {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start {program}: {error}; {hint}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // The end is where the reason is.
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(5)..].join("\n    ");
    Err(format!("{program} failed; {hint}\n    {end}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("20"), None);
    }

    #[test]
    fn a_command_that_fails_is_shown_with_what_it_needs() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no route >&2; exit 3"]);
        let error = quietly(&mut command, "sh needs a network").err().unwrap().to_string();
        assert_eq!(error, "sh failed; sh needs a network\n    no route");
        let missing = quietly(&mut Command::new("no-such-program"), "install it");
        assert!(missing.err().unwrap().to_string().ends_with("; install it"));
    }
}
