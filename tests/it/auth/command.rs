//! `a2ad key`, beside a server that runs.

use super::issuer::Pair;
use crate::drain::process::{Process, command};
use crate::support::Folder;
use a2ad_http::{SigningAlgorithm, SigningKey};
use std::os::unix::fs::PermissionsExt;

/// Runs `a2ad key` and gives its exit code and what it printed to each output.
async fn key(config: &str, arguments: &[&str]) -> (i32, String, String) {
    let arguments = ["key"].iter().chain(arguments).copied().chain(["--config", config]);
    let output = command(arguments).output().await.expect("a process");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit"), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn a_key_is_made_shown_once_taken_by_the_server_and_refused_when_it_is_revoked() {
    let folder = Folder::new("command");
    let (config, keys) = (folder.join("a2ad.toml"), folder.join("data/keys.jsonl"));
    let toml = format!("[auth]\nkeys = \"{}\"\n", keys.display());
    std::fs::write(&config, &toml).expect("a file");
    let config = config.to_str().expect("text");
    let process = Process::start(&toml, "info").await;
    assert_eq!(process.get("/api/v1/a2a/echo/tasks").await, Some(401));

    let (code, printed, said) = key(config, &["create", "--owner", "ann"]).await;
    assert_eq!((code, printed.lines().count()), (0, 1), "{said}");
    let shown = printed.trim();
    assert!(shown.len() > 64 && said.contains("not shown again"), "{said}");
    let mode = |path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(keys.clone()), mode(folder.join("data"))), (0o600, 0o700));
    let held = std::fs::read_to_string(&keys).expect("text");
    let secret = shown.rsplit_once('_').expect("a key").1;
    assert!(!held.contains(&secret[..8]) && !said.contains(&secret[..8]), "{held}");

    let status = process.get_with("/api/v1/a2a/echo/tasks", &[("x-api-key", shown)]).await;
    assert_eq!(status, Some(200));
    let (code, listed, _) = key(config, &["list"]).await;
    assert_eq!(code, 0);
    assert!(listed.contains("\tann\tevery agent\t") && listed.contains("\tgood"), "{listed}");
    let id = listed.split('\t').next().expect("an id");
    assert!(shown.contains(id), "{listed}");

    assert_eq!(key(config, &["revoke", id]).await.0, 0);
    let status = process.get_with("/api/v1/a2a/echo/tasks", &[("x-api-key", shown)]).await;
    assert_eq!(status, Some(401));
    let (_, listed, _) = key(config, &["list"]).await;
    assert!(listed.contains("\trevoked 2"), "{listed}");

    for (arguments, wrong) in [
        (&["revoke", "nobody"][..], "there is no key nobody"),
        (&["create", "--owner", "a\nb"], "an owner's name"),
        (&["create", "--owner", "ann", "--agent", "É"], "a-z"),
    ] {
        let (code, _, said) = key(config, arguments).await;
        assert!(code == 64 && said.contains(wrong), "{code} {said}");
    }
    std::fs::write(config, "").expect("a file");
    let (code, _, said) = key(config, &["list"]).await;
    assert!(code == 78 && said.contains("auth.keys is not set"), "{code} {said}");
    process.signal("TERM").await;
    let (_, output) = process.ended().await;
    assert!(!output.contains(&secret[..8]), "{output}");
    let first = output.lines().find(|line| line.starts_with("try: ")).expect("a first call");
    assert!(first.contains("-H 'x-api-key: KEY'"), "{first}");
}

#[tokio::test]
async fn a_check_finds_files_that_are_missing_or_make_no_sense() {
    let folder = Folder::new("check");
    let (config, file) = (folder.join("a2ad.toml"), folder.join("file"));
    let jwt = "[auth.jwt]\nissuer = \"i\"\naudience = \"a\"\nkey_file";
    for (setting, missing) in [("[auth]\nkeys", "a2ad key create"), (jwt, "public key")] {
        let _ = std::fs::remove_file(&file);
        std::fs::write(&config, format!("{setting} = \"{}\"\n", file.display())).expect("a file");
        let check = async || {
            let arguments = ["check", "--config", config.to_str().expect("text")];
            let output = command(arguments).output().await.expect("a process");
            (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
        };
        let (code, said) = check().await;
        assert!(code == Some(78) && said.contains(missing), "{said}");
        std::fs::write(&file, "no sense").expect("a file");
        let (code, said) = check().await;
        let place = file.display().to_string();
        assert!(code == Some(78) && said.contains(&place) && !said.contains("no sense"), "{said}");
    }
}

#[tokio::test]
async fn keys_that_are_made_at_the_same_time_are_all_there() {
    let folder = Folder::new("together");
    let config = folder.join("a2ad.toml");
    let keys = folder.join("keys.jsonl");
    std::fs::write(&config, format!("[auth]\nkeys = \"{}\"\n", keys.display())).expect("a file");
    let config = config.to_str().expect("text");
    let owners: Vec<String> = (0..8).map(|number| format!("owner-{number}")).collect();
    let create = |owner| async move { key(config, &["create", "--owner", owner]).await.0 };
    let codes = futures_util::future::join_all(owners.iter().map(|owner| create(owner))).await;
    assert_eq!(codes, [0; 8]);
    let (_, listed, _) = key(config, &["list"]).await;
    for owner in owners {
        assert!(listed.contains(&owner), "{owner} is missing: {listed}");
    }
}

#[tokio::test]
async fn a_key_to_sign_with_is_made_once_for_this_user_only_and_its_public_half_is_shown() {
    let folder = Folder::new("signing-key");
    let file = folder.join("data/key.pem");
    let path = file.to_str().expect("text");
    let make = async |more: &[&str]| {
        let arguments = ["key", "signing", path].into_iter().chain(more.iter().copied());
        let output = command(arguments).output().await.expect("a process");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, said) = make(&["--algorithm", "RS256"]).await;
    assert!(code == Some(64) && said.contains("ES256 and EdDSA"), "{said}");
    for (more, kind) in [(&[][..], "\"crv\":\"P-256\""), (&["--algorithm", "EdDSA"], "Ed25519")] {
        let _ = std::fs::remove_file(&file);
        let (code, shown, said) = make(more).await;
        assert!(code == Some(0) && shown.contains(kind), "{shown} {said}");
        let private = std::fs::read_to_string(&file).expect("a file");
        assert!(private.starts_with("-----BEGIN PRIVATE KEY-----\n"), "{kind}");
        let mode =
            |path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(file.clone()), mode(folder.join("data"))), (0o600, 0o700));
        let lines = private.lines().filter(|line| !line.contains("PRIVATE"));
        let told = format!("{shown}{said}");
        assert!(lines.into_iter().all(|line| !told.contains(line)), "{told}");
        // A key that is there is never written over.
        let (code, shown, said) = make(more).await;
        assert!(code == Some(73) && shown.is_empty() && said.contains("name a new file"), "{said}");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), private);
    }
}

/// Files that hold no key to sign with: what is in them, their rights, and what is said of them.
fn unusable() -> Vec<(String, u32, &'static str)> {
    let made = SigningAlgorithm::Es256;
    let folder = Folder::new("good-key");
    SigningKey::create(&folder.join("key"), made).expect("a key");
    let good = std::fs::read_to_string(folder.join("key")).expect("text");
    let rsa = include_str!("rsa_key.b64");
    let (chmod, make) = ("make it yours with chmod 600", "make one with a2ad key signing");
    vec![
        (good.clone(), 0o644, chmod),
        (good.clone(), 0o620, chmod),
        ("no sense".to_owned(), 0o600, make),
        (String::new(), 0o600, make),
        (good.replace("PRIVATE", "PUBLIC"), 0o600, make),
        (good.replace("PRIVATE", "EC PRIVATE"), 0o600, make),
        (good[..good.len() / 2].to_owned(), 0o600, make),
        (format!("-----BEGIN PRIVATE KEY-----\n{rsa}\n-----END PRIVATE KEY-----\n"), 0o600, make),
        (Pair::ed().pem(), 0o600, make),
    ]
}

#[tokio::test]
async fn a_key_that_cannot_be_signed_with_is_told_in_one_line_before_anything_is_served() {
    let folder = Folder::new("no-key");
    let (config, file) = (folder.join("a2ad.toml"), folder.join("key.pem"));
    let path = file.to_str().expect("text");
    let run = async |command_line: &str, table: &str, keys: &[&str]| {
        let text = format!("[store]\nkind = \"memory\"\n[{table}]\nkeys = {keys:?}\n");
        std::fs::write(&config, text).expect("a file");
        let arguments = [command_line, "--config", config.to_str().expect("text")];
        let output = command(arguments).output().await.expect("a process");
        assert!(output.stdout.is_empty() || output.status.success(), "{output:?}");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    for table in ["cards", "push"] {
        let refused = async |keys: &[&str], wrong: &str| {
            for command_line in ["check", "serve"] {
                let (code, said) = run(command_line, table, keys).await;
                assert_eq!(code, Some(78), "{command_line} {said}");
                assert_eq!(said.lines().count(), 1, "{command_line} {said}");
                let place = format!("{table}.keys: {}", keys[0]);
                assert!(said.contains(&place) && said.contains(wrong), "{wrong}: {said}");
            }
        };
        let _ = std::fs::remove_file(&file);
        refused(&[path], "cannot be read (No such file or directory").await;
        refused(&[path], "make it with a2ad key signing").await;
        std::fs::create_dir(&file).expect("a folder");
        refused(&[path], "name a file that holds a key").await;
        std::fs::remove_dir(&file).expect("ours");
        let made = std::process::Command::new("mkfifo").arg(&file).status().expect("coreutils");
        assert!(made.success());
        refused(&[path], "it is no ordinary file").await;
        std::fs::remove_file(&file).expect("ours");
        for (content, mode, wrong) in unusable() {
            std::fs::write(&file, &content).expect("a file");
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("ours");
            refused(&[path], wrong).await;
            let (_, said) = run("check", table, &[path]).await;
            let told = content.lines().filter(|line| !line.is_empty() && said.contains(line));
            assert_eq!(told.count(), 0, "{said}");
        }
        std::fs::remove_file(&file).expect("ours");
        SigningKey::create(&file, SigningAlgorithm::Es256).expect("a key");
        refused(&[path, path], "named already").await;
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).expect("ours");
        assert_eq!(run("check", table, &[path]).await.0, Some(0), "a group may read it");
    }
}
