//! The document of the configuration lists every key with the default that the server has.

use super::blocks::blocks;
use super::{read, rows, section};
use a2ad::config::StoreKind;
use a2ad::{App, Config, exit};
use a2ad_domain::{AgentSettings, Card};

const DOCUMENT: &str = "docs/configuration.md";

/// The file in the document that holds all defaults.
fn defaults() -> String {
    let blocks = blocks(&read(DOCUMENT));
    blocks.into_iter().find(|block| block.language == "toml").expect("a TOML block").text
}

#[test]
fn every_file_in_the_document_is_one_that_the_server_takes() {
    for block in blocks(&read(DOCUMENT)).iter().filter(|block| block.language == "toml") {
        let parsed = Config::parse(&block.text, DOCUMENT);
        assert!(parsed.is_ok(), "{DOCUMENT}:{}: {parsed:?}", block.line);
    }
}

#[test]
fn the_defaults_in_the_document_are_those_of_the_server() {
    let (written, real) = (Config::parse(&defaults(), DOCUMENT).expect("good"), Config::default());
    assert_eq!(format!("{:?}", written.server), format!("{:?}", real.server));
    assert_eq!(format!("{:?}", written.store), format!("{:?}", real.store));
    assert_eq!(format!("{:?}", written.limits), format!("{:?}", real.limits));
    assert_eq!(format!("{:?}", written.auth), format!("{:?}", real.auth));
    assert_eq!(format!("{:?}", written.push), format!("{:?}", real.push));
    assert_eq!(format!("{:?}", written.cards), format!("{:?}", real.cards));
}

#[tokio::test]
async fn the_agents_in_the_document_are_those_of_a_server_without_a_file() {
    let written = agents(Config::parse(&defaults(), DOCUMENT).expect("good")).await;
    assert_eq!(written, agents(Config::default()).await);
}

async fn agents(mut config: Config) -> Vec<(String, Card, AgentSettings, bool)> {
    config.store.kind = StoreKind::Memory;
    config.server.listen = "127.0.0.1:0".parse().expect("an address");
    let server = App::builder(config).build().expect("good").bind().await.expect("a port");
    let agents = server.service().agents().map(|agent| {
        let (card, settings) = (agent.card.clone(), agent.settings.clone());
        (agent.id.to_string(), card, settings, agent.is_published())
    });
    agents.collect()
}

/// Table of the file, and the keys that the server knows there: what it lists when it meets another one.
const TABLES: [(&str, &str); 12] = [
    ("[server]", "[server]\nother = 1"),
    ("[server.tls]", "[server.tls]\nother = 1"),
    ("[server.cors]", "[server.cors]\nother = 1"),
    ("[store]", "[store]\nother = 1"),
    ("[limits]", "[limits]\nother = 1"),
    ("[push]", "[push]\nother = 1"),
    ("[auth]", "[auth]\nother = 1"),
    ("[auth.jwt]", "[auth.jwt]\nother = 1"),
    ("[cards]", "[cards]\nother = 1"),
    ("[admin]", "[admin]\nother = 1"),
    ("[[agent]]", "[[agent]]\nother = 1"),
    (
        "[agent.extended_card]",
        "[[agent]]\nid = \"x\"\nexecutor = { kind = \"echo\" }\n[agent.extended_card]\nother = 1",
    ),
];

/// What is not there without being described has no place in the file of all defaults.
const UNSET: [&str; 4] = ["[server.tls]", "[auth.jwt]", "[admin]", "[agent.extended_card]"];

#[test]
fn every_key_that_the_server_knows_has_a_row() {
    let document = read(DOCUMENT);
    for (table, file) in TABLES {
        let rows = rows(section(&document, &format!("## `{table}`")));
        let error = Config::parse(file, "test").expect_err("an unknown key").to_string();
        let keys: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert!(!keys.is_empty(), "{error}");
        for key in &keys {
            assert!(rows.iter().any(|row| row[0] == *key), "{table} {key} has no row");
        }
        for row in rows.iter().skip(2) {
            assert!(keys.contains(&&*row[0]), "{table} {} is no key", row[0]);
        }
    }
}

#[test]
fn every_default_in_a_row_is_the_one_of_the_file() {
    let (document, file) = (read(DOCUMENT), defaults());
    for (table, _) in TABLES.into_iter().filter(|(table, _)| !UNSET.contains(table)) {
        let start = file.find(&format!("{table}\n")).expect("the table") + table.len();
        let settings = file[start..].lines().take_while(|line| !line.starts_with('['));
        let rows = rows(section(&document, &format!("## `{table}`")));
        for (key, value) in settings.filter_map(|line| line.split_once(" = ")) {
            let row = rows.iter().find(|row| row[0] == key);
            let row = row.unwrap_or_else(|| panic!("{table} {key} has no row"));
            // What an agent is called and does is its own; the rows give what holds for any.
            let own = ["id", "name", "description", "default", "executor"].contains(&key);
            assert!(own || row[1] == value, "{table} {key} is {value} and the row says {}", row[1]);
        }
    }
}

/// The defaults in the rows of a table that has no place in the file of all defaults are those that the server
/// has without them. `needed` describes the table with what it cannot do without.
fn check_rows(table: &str, needed: &str, defaults: usize, of: fn(&Config) -> String) {
    let rows = rows(section(&read(DOCUMENT), &format!("## `[{table}]`")));
    let rows = rows.iter().skip(2).filter(|row| !["required", "none"].contains(&&*row[1]));
    let written: String = rows.map(|row| format!("{} = {}\n", row[0], row[1])).collect();
    let needed = format!("[{table}]\n{needed}");
    let settings = |file: &str| of(&Config::parse(file, "test").expect("good"));
    assert_eq!(written.lines().count(), defaults, "{written}");
    assert_eq!(settings(&format!("{needed}{written}")), settings(&needed));
}

#[test]
fn the_defaults_of_tokens_in_the_rows_are_those_of_the_server() {
    let needed = "issuer = \"i\"\naudience = \"a\"\nkey_file = \"f\"\n";
    check_rows("auth.jwt", needed, 5, |config| format!("{:?}", config.auth.jwt));
}

#[test]
fn the_default_of_encryption_in_its_row_is_that_of_the_server() {
    let needed = "certificate = \"c\"\nkey = \"k\"\n";
    check_rows("server.tls", needed, 1, |config| format!("{:?}", config.server.tls));
}

#[test]
fn the_defaults_of_operators_in_the_rows_are_those_of_the_server() {
    let needed = "keys = { ann = { env = \"ANN_KEY\" } }\n";
    check_rows("admin", needed, 2, |config| format!("{:?}", config.admin));
}

#[test]
fn every_exit_code_has_a_row() {
    let rows = rows(section(&read(DOCUMENT), "## Exit codes"));
    for (name, code) in [
        ("OK", exit::OK),
        ("USAGE", exit::USAGE),
        ("UNAVAILABLE", exit::UNAVAILABLE),
        ("CANTCREAT", exit::CANTCREAT),
        ("IOERR", exit::IOERR),
        ("CONFIG", exit::CONFIG),
        ("INTERRUPTED", exit::INTERRUPTED),
    ] {
        let row = rows.iter().find(|row| row[1] == name);
        assert_eq!(row.map(|row| row[0].clone()), Some(code.to_string()), "{name}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_its_remedy() {
    let mut vague = Vec::new();
    for (file, place, remedy) in [
        ("[server]\nmax_bdoy = \"1MiB\"", "test:2: ", "`max_body`"),
        ("[server]\nwait_limit = \"soon\"", "test:2: ", "write for example"),
        ("[server]\nmax_body = \"plenty\"", "test:2: ", "write for example"),
        ("[server]\npublic_url = \"a2a.example\"", "test:2: ", "https://"),
        ("[push]\nmax_per_host = 0", "test:2: ", "at least 1"),
        ("[push]\nsecret = {}", "test:2: ", "{ env = \"NAME\" }"),
        ("[[agent]]\nid = \"x\"\nexecutor = { kind = \"y\" }", "test:3: ", "`echo`"),
        (
            "[limits]\nidle = \"1h\"\n[[agent]]\nid = \"É\"\nexecutor = { kind = \"echo\" }",
            "test:4: ",
            "a-z",
        ),
    ] {
        let error = Config::parse(file, "test").expect_err(file).to_string();
        if !(error.starts_with(place) && error.contains(remedy)) {
            vague.push(format!("{file}\n=> {error}, without {place:?} or {remedy:?}"));
        }
    }
    assert!(vague.is_empty(), "\n{}\n", vague.join("\n\n"));
}

#[test]
fn a_mistake_in_the_environment_names_the_variable() {
    for (name, value) in [
        ("A2AD_SERVER__KEEP_ALIVE", "soon"),
        ("A2AD_SERVER__KEEP_ALIVE", "10"),
        ("A2AD_SERVER__KEEP_ALIV", "10s"),
        ("A2AD_AGENT__ID", "x"),
        ("A2AD_LISTEN", "x"),
    ] {
        let variable = (name.to_owned(), value.to_owned());
        let error = Config::load(None, [variable]).expect_err(name).to_string();
        assert!(error.contains(name), "{name}={value}\n{error}");
    }
}
