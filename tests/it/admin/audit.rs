//! What is written down of what operators do.

use super::desk::{Desk, KEY, admin};
use crate::drain::process::Process;
use crate::support::Folder;
use crate::support::template::Names;
use serde_json::{Value, json};

/// The lines of the file, each as it has to be.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[tokio::test]
async fn every_request_has_one_line_that_says_who_did_what_and_what_became_of_it() {
    let folder = Folder::new("audit");
    let file = folder.join("audit.jsonl");
    let desk = Desk::with(&format!("audit_log = \"{}\"", file.display()), "").await;
    desk.add("added").await;
    desk.done("GET", "/agents", None).await;
    desk.done("POST", "/agents/added/unpublish", Some(json!({ "tasks": "cancel" }))).await;
    desk.refused(409, "DELETE", "/agents/echo", None).await;
    desk.refused(400, "POST", "/agents", Some(json!({ "id": "x" }))).await;
    let echo = json!({ "id": "echo", "executor": { "kind": "echo" } });
    desk.refused(409, "POST", "/agents", Some(echo)).await;
    desk.refused(400, "POST", "/agents", Some(json!({ "id": "secret of an id" }))).await;
    desk.refused(404, "GET", "/secret-of-a-path", None).await;
    desk.refused(404, "GET", "/", None).await;
    desk.raw("DELETE", "/agents/added", &[("x-api-key", "sentinel-of-a-key")], None).await;
    desk.server.finish().await;

    let line = |operation: &str, outcome: &str, status: u16, more: Value| {
        let mut line = json!({
            "at": "$ts", "operation": operation, "outcome": outcome, "status": status,
            "operator": "ann", "peer": "127.0.0.1",
        });
        for (name, value) in more.as_object().expect("an object") {
            line[name] = value.clone();
        }
        line
    };
    let canceled = json!({ "subject": "added", "tasks": "cancel", "canceled": 0 });
    let mut stranger = line("agents.remove", "refused", 401, json!({ "subject": "added" }));
    stranger.as_object_mut().expect("an object").remove("operator");
    let expected = json!([
        line("agents.add", "done", 201, json!({ "subject": "added" })),
        line("agents.list", "done", 200, json!({})),
        line("agents.unpublish", "done", 200, canceled),
        line("agents.remove", "refused", 409, json!({ "subject": "echo", "tasks": "drain" })),
        line("agents.add", "refused", 400, json!({ "subject": "x" })),
        line("agents.add", "refused", 409, json!({ "subject": "echo" })),
        line("agents.add", "refused", 400, json!({})),
        line("none", "refused", 404, json!({})),
        line("none", "refused", 404, json!({})),
        stranger,
    ]);
    let text = std::fs::read_to_string(&file).expect("the file");
    Names::default().check(&expected, &Value::from(lines(&text)));
    assert!(
        !text.contains("sentinel") && !text.contains(KEY) && !text.contains("secret"),
        "{text}"
    );
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&file).expect("the file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn the_log_says_it_too_and_a_file_is_written_on_where_it_ended() {
    let folder = Folder::new("audit");
    let file = folder.join("audit.jsonl");
    std::fs::write(&file, "{\"earlier\":true}\n").expect("a file");
    let toml = admin(&folder, &format!("audit_log = \"{}\"", file.display()));
    let toml = format!("{toml}[[agent]]\nid = \"echo\"\nexecutor = {{ kind = \"echo\" }}\n");
    let process = Process::start(&toml, "audit=info").await;
    let headers = [("x-api-key", KEY)];
    let path = "/api/v1/admin/agents/echo/unpublish";
    let (status, _) = process.exchange("POST", path, &headers, String::new()).await;
    assert_eq!(status, 200);
    process.signal("TERM").await;
    let (_, output) = process.ended().await;
    let logged = output.lines().find(|line| line.contains("agents.unpublish")).expect("a line");
    let logged: Value = serde_json::from_str(logged).expect("JSON");
    for (name, value) in [
        ("target", "audit"),
        ("operation", "agents.unpublish"),
        ("operator", "ann"),
        ("outcome", "done"),
        ("peer", "127.0.0.1"),
        ("subject", "echo"),
    ] {
        assert_eq!(logged[name], value, "{logged}");
    }
    let written = lines(&std::fs::read_to_string(&file).expect("the file"));
    assert_eq!((written.len(), &written[0]["earlier"]), (2, &json!(true)));
}

#[tokio::test]
async fn a_server_that_cannot_write_down_what_is_done_does_not_start() {
    let folder = Folder::new("audit");
    let toml = admin(&folder, "audit_log = \"/nowhere/audit.jsonl\"");
    let toml = format!("{toml}[[agent]]\nid = \"echo\"\nexecutor = {{ kind = \"echo\" }}\n");
    let config = a2ad::Config::parse(&toml, "test").expect("good");
    let problem = a2ad::App::builder(config).build().err().expect("a refusal").to_string();
    assert!(problem.starts_with("admin.audit_log: /nowhere/audit.jsonl cannot be"), "{problem}");
}
