//! Who may be asked for nothing, and where.

use crate::support::Folder;
use a2ad::{App, Config};

/// Whether a server starts on an address that other machines reach.
fn starts(auth: &str, agents: &[&str], allow: bool) -> Result<(), String> {
    let folder = Folder::new("addresses");
    let auth = auth.replace("KEYS", &folder.join("keys.jsonl").display().to_string());
    let agent = |(index, auth): (usize, &&str)| {
        format!("[[agent]]\nid = \"a{index}\"\nexecutor = {{ kind = \"echo\" }}\n{auth}\n")
    };
    let agents: String = agents.iter().enumerate().map(agent).collect();
    let file = format!(
        "[server]\nlisten = \"0.0.0.0:0\"\npublic_url = \"https://a2a.example\"\n\
         [store]\nkind = \"memory\"\n{auth}\n{agents}"
    );
    let config = Config::parse(&file, "test").map_err(|error| error.to_string())?;
    let built = App::builder(config).allow_anonymous(allow).build();
    built.map(drop).map_err(|error| error.to_string())
}

const KEYS: &str = "[auth]\nkeys = \"KEYS\"";

#[test]
fn other_machines_may_call_guarded_agents_and_open_ones_when_that_is_meant() {
    assert_eq!(starts(KEYS, &["", ""], false), Ok(()));
    assert_eq!(starts(KEYS, &["", "auth = [\"key\"]"], false), Ok(()));
    assert_eq!(starts("", &[""], true), Ok(()));
    assert_eq!(starts(KEYS, &["", "auth = []"], true), Ok(()));
    for (auth, agents, open) in [("", &["", ""][..], "a0"), (KEYS, &["", "auth = []"], "a1")] {
        let refused = starts(auth, agents, false).expect_err("an open agent");
        assert!(refused.contains(&format!("the agent {open} ")), "{refused}");
        assert!(refused.contains("--allow-anonymous"), "{refused}");
    }
}

#[test]
fn what_an_agent_asks_for_has_to_be_described() {
    for (auth, agent, remedy) in [
        ("", "auth = [\"key\"]", "set auth.keys"),
        (KEYS, "auth = [\"kee\"]", "did you mean `key`?"),
        (KEYS, "auth = [\"key\", \"key\"]", "twice"),
        ("[auth]\nkey = \"KEYS\"", "", "did you mean `keys`?"),
    ] {
        let refused = starts(auth, &[agent], false).expect_err(agent);
        assert!(refused.starts_with("test:") && refused.contains(remedy), "{refused}");
    }
}

#[test]
fn a_file_of_keys_that_makes_no_sense_is_refused_at_the_start() {
    let folder = Folder::new("broken");
    let path = folder.join("keys.jsonl");
    std::fs::write(&path, "{\"id\": \"secret-looking\"}\n").expect("a file");
    let config = Config::parse(&format!("[auth]\nkeys = \"{}\"", path.display()), "test");
    let refused =
        App::builder(config.expect("good")).build().map(drop).expect_err("no file of keys");
    let refused = refused.to_string();
    assert!(refused.contains("auth.keys") && refused.contains("line 1"), "{refused}");
    assert!(!refused.contains("secret-looking"), "{refused}");
}
