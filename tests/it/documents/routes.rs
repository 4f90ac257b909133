//! Every route and every method that the documents list is there, and what they say is hidden is not.

use super::shell::Shell;
use super::{read, rows, section};

#[test]
fn every_route_of_the_table_answers_with_and_without_a_slash() {
    let shell = Shell::open("routes");
    let rows = rows(section(&read("README.md"), "## Routes"));
    let routes = rows.iter().skip(2).flat_map(|row| row[0].split("`, `").map(str::to_owned));
    let mut seen = 0;
    for route in routes {
        let route = route.trim_matches('`').replace("{agent}", "script");
        let (verb, path) = route.split_once(' ').expect("a verb and a path");
        let body = if verb == "POST" { "-H 'Content-Type: application/json' -d '{}'" } else { "" };
        for path in [path.to_owned(), format!("{}/", path.trim_end_matches('/'))] {
            let url = format!("http://127.0.0.1:8000{path}");
            let command = format!("curl -s -o answer -w '%{{http_code}}' {body} {url}");
            assert_eq!(shell.run(&command).as_deref(), Ok("200"), "{verb} {path}");
            seen += 1;
        }
    }
    assert!(seen >= 16, "only {seen} routes were found");
}

#[test]
fn every_method_of_the_table_is_known() {
    let shell = Shell::open("methods");
    let document = read("docs/dialects.md");
    let methods = section(&document, "## Methods");
    let table = methods.split("\n### ").next().expect("the table");
    let names: Vec<&str> =
        table.split('`').skip(1).step_by(2).filter(|name| name.contains('/')).collect();
    assert!(names.len() >= 10, "{names:?}");
    let code_of = |method: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
        let url = "http://127.0.0.1:8000/ -H 'Content-Type: application/json'";
        shell.run(&format!("curl -s {url} -d '{body}'")).expect("an answer")
    };
    for name in names {
        assert!(!code_of(name).contains(r#""code":-32601"#), "{name}");
    }
    assert!(code_of("tasks/forget").contains(r#""code":-32601"#));
}

#[test]
fn an_agent_that_is_not_published_answers_like_one_that_does_not_exist() {
    let hidden = r#"
        agent = [
            { id = "seen", executor = { kind = "echo" } },
            { id = "hidden", executor = { kind = "echo" }, published = false },
        ]"#;
    let shell = Shell::with_config("hidden", hidden);
    let answers = |agent: &str| {
        let base = format!("http://127.0.0.1:8000/api/v1/a2a/{agent}");
        let each = |request: &str| {
            let command = format!("curl -s -i {request} | grep -vi ^date:");
            shell.run(&command).expect("an answer")
        };
        [
            each(&format!("{base}/jsonrpc -H 'Content-Type: application/json' -d '{{}}'")),
            each(&format!("{base}/jsonrpc")),
            each(&format!("{base}/jsonrpc -X PUT")),
            each(&format!("{base}/.well-known/agent-card.json")),
            each(&format!("{base}/.well-known/agent.json -d '{{}}'")),
        ]
    };
    assert_eq!(answers("hidden"), answers("nobody"));
}
