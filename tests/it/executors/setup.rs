//! Executors that cannot work as they are set up: found by `check`, and no reason not to serve.

use crate::drain::process::{Process, command};
use crate::support::caller::{Message, state, status_text};
use a2ad::Config;

fn agent(executor: &str) -> String {
    format!("[[agent]]\nid = \"script\"\nexecutor = {executor}\n")
}

/// Executors with what is missing in them, in a word.
const MISSING: [(&str, &str); 6] = [
    ("{ kind = \"command\", program = \"no-such-program\" }", "no-such-program"),
    ("{ kind = \"command\", program = \"cat\", dir = \"/no/such/folder\" }", "/no/such/folder"),
    ("{ kind = \"command\", program = \"cat\", env = { KEY = { env = \"NOT_SET\" } } }", "NOT_SET"),
    (
        "{ kind = \"http\", url = \"http://127.0.0.1:9/\", headers = { authorization = { file = \"/no/key\" } } }",
        "/no/key",
    ),
    ("{ kind = \"openai\", model = \"m\", api_key = { env = \"NO_KEY\" } }", "NO_KEY"),
    ("{ kind = \"openai\", model = \"m\", api_key = { file = \"/no/key\" } }", "/no/key"),
];

#[tokio::test]
async fn what_is_missing_is_found_by_a_check_and_fails_only_the_runs_that_need_it() {
    for (executor, cause) in MISSING {
        let toml = agent(executor);
        let file = std::env::temp_dir().join(format!("a2ad-missing-{}", std::process::id()));
        std::fs::write(&file, &toml).expect("a temporary file");
        let arguments = ["check".as_ref(), "--config".as_ref(), file.as_os_str()];
        let checked = command(arguments).output().await.expect("a process");
        std::fs::remove_file(file).expect("a temporary file");
        let said = String::from_utf8(checked.stderr).expect("UTF-8");
        assert_eq!(checked.status.code(), Some(78), "{said}");
        assert!(said.contains("agent script: ") && said.contains(cause), "{said}");

        let process = Process::start(&toml, "warn").await;
        let (status, answer) = process.call("message/send", Message::new("x").params()).await;
        let task = &answer["result"];
        assert_eq!((status, state(task)), (200, "failed"), "{answer}");
        let told = status_text(task);
        assert!(told.starts_with("The agent is not set up correctly (reference "), "{told}");
        assert!(!answer.to_string().contains(cause), "{answer}");
        process.signal("TERM").await;
        let (_, output) = process.ended().await;
        let reference = told.split_once("reference ").and_then(|(_, rest)| rest.split_once(')'));
        let reference = reference.expect("a reference").0;
        let lines = || output.lines().filter(|line| line.contains(cause));
        assert!(lines().any(|line| line.contains("cannot do its work")), "{output}");
        assert!(lines().any(|line| line.contains(reference)), "{output}");
    }
}

#[tokio::test]
async fn a_model_or_a_service_that_nobody_runs_fails_with_a_reason() {
    // A port of our own that nobody listens on, nor can as long as it is ours.
    let kept = tokio::net::TcpSocket::new_v4().expect("a socket");
    kept.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let address = kept.local_addr().expect("an address");
    for (executor, reason) in [
        (format!("{{ kind = \"http\", url = \"http://{address}/\", retries = 0 }}"), "The service"),
        (
            format!(
                "{{ kind = \"openai\", model = \"m\", base_url = \"http://{address}/v1\", retries = 0 }}"
            ),
            "The model server",
        ),
    ] {
        let process = Process::start(&agent(&executor), "error").await;
        let (_, answer) = process.call("message/send", Message::new("x").params()).await;
        let told = status_text(&answer["result"]);
        assert!(told.starts_with(&format!("{reason} cannot be reached (reference ")), "{told}");
        process.signal("TERM").await;
        let (_, output) = process.ended().await;
        assert!(output.contains("onnection refused"), "{output}");
    }
    drop(kept);
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_with_what_was_meant() {
    let mut vague = Vec::new();
    for (executor, remedy) in [
        ("{ kind = \"comand\", program = \"cat\" }", "did you mean `command`?"),
        ("{ kind = \"command\", progam = \"cat\" }", "did you mean `program`?"),
        ("{ kind = \"command\" }", "missing field `program`"),
        ("{ kind = \"command\", program = \"\" }", "name a program"),
        ("{ kind = \"command\", program = \"cat\", input = \"jsn\" }", "did you mean `json`?"),
        (
            "{ kind = \"command\", program = \"cat\", env = { \"A=B\" = \"x\" } }",
            "name of a variable",
        ),
        ("{ kind = \"command\", program = \"cat\", env = { A = {} } }", "say where the secret is"),
        ("{ kind = \"command\", program = \"cat\", env = { A = 7 } }", "{ env = "),
        ("{ kind = \"command\", program = \"cat\", max_output = \"much\" }", "write for example"),
        ("{ kind = \"http\", url = \"service\" }", "url: "),
        ("{ kind = \"http\", url = \"ftp://a/\" }", "http://"),
        ("{ kind = \"http\", url = \"http://me:secret@a/\" }", "in a header"),
        ("{ kind = \"http\", url = \"http://a/\", cancel_url = \"x\" }", "cancel_url: "),
        ("{ kind = \"http\", url = \"http://a/\", headers = { Accept = \"x\" } }", "leave it out"),
        (
            "{ kind = \"http\", url = \"http://a/\", headers = { authorization = \"Bearer x\" } }",
            "say where it is",
        ),
        (
            "{ kind = \"http\", url = \"http://a/\", headers = { \"a b\" = \"x\" } }",
            "no name of a header",
        ),
        ("{ kind = \"http\", url = \"http://a/\", timout = \"1s\" }", "did you mean `timeout`?"),
        ("{ kind = \"openai\" }", "missing field `model`"),
        ("{ kind = \"openai\", model = \"\" }", "name a model"),
        ("{ kind = \"openai\", model = \"m\", api_key = \"sk-secret\" }", "say where it is"),
        ("{ kind = \"openai\", model = \"m\", base_url = \"x\" }", "base_url: "),
        ("{ kind = \"openai\", model = \"m\", temperature = nan }", "finite"),
        ("{ kind = \"openai\", model = \"m\", parameters = { stream = false } }", "leave it out"),
        ("{ program = \"cat\" }", "missing field `kind`"),
        ("{ kind = 7 }", "kind must be a text"),
    ] {
        let toml = agent(executor);
        let error = Config::parse(&toml, "test").expect_err(executor).to_string();
        let place = error.starts_with("test:3: ");
        if !place || !error.contains(remedy) || error.contains("sk-secret") {
            vague.push(format!("{executor}\n=> {error}, without {remedy:?}"));
        }
    }
    assert!(vague.is_empty(), "\n{}\n", vague.join("\n\n"));
}
