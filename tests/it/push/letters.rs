//! What was given up, and how an operator has it told after all.

use super::{full, message};
use crate::drain::process::{Process, command};
use crate::support::Place;
use crate::support::receiver::{EAGER, Reaction, Receiver};

/// What a command prints, and how it ends.
async fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = command(arguments).output().await.expect("a process");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    (output.status.code(), text)
}

async fn start(place: &Place) -> Process {
    let agent = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
    Process::start(&format!("{}{EAGER}{agent}", place.store("process")), "warn").await
}

#[tokio::test]
async fn what_was_given_up_is_listed_and_sent_again_when_it_is_asked_for() {
    let (place, receiver) = (Place::new("letters"), Receiver::start().await);
    let process = start(&place).await;
    receiver.react("/a", [Reaction::Answer(410), Reaction::Answer(404)]);
    let params = message(true, "plums", full(true, &receiver.url("/a")));
    let (_, answer) = process.call("message/send", params).await;
    receiver.requests("/a", 2).await;
    let store = format!("sqlite:{}", place.file().display());
    let listed = crate::support::agents::soon("two letters", async {
        loop {
            let (code, listed) = run(&["push", "dead", "--store", &store]).await;
            assert_eq!(code, Some(0), "{listed}");
            if listed.lines().count() == 2 {
                return listed;
            }
        }
    })
    .await;
    let task = answer["result"]["id"].as_str().expect("an id");
    for (line, status) in listed.lines().zip(["410", "404"]) {
        let columns: Vec<&str> = line.split('\t').collect();
        assert_eq!((columns.len(), columns[1], columns[2]), (7, "script", task), "{line}");
        assert_eq!(columns[6], format!("the receiver has answered {status}"));
    }
    for secret in [&*receiver.url("/a"), "abc", "tk-1"] {
        assert!(!listed.contains(secret), "{secret} is in {listed}");
    }
    let webhook = listed.split('\t').next().expect("a number");
    // While the server runs: it looks once a minute, and when it starts.
    let (code, said) = run(&["push", "resend", "--store", &store, "--webhook", webhook]).await;
    assert_eq!((code, said.as_str()), (Some(0), "to be sent again: 2\n"));
    process.signal("TERM").await;
    let (_, log) = process.ended().await;
    assert!(log.contains("a webhook was not told"), "{log}");
    let process = start(&place).await;
    let told = receiver.until_ended("/a").await;
    assert_eq!(told[told.len() - 1].json(), answer["result"]);
    process.signal("TERM").await;
    process.ended().await;
    let (code, listed) = run(&["push", "dead", "--store", &store]).await;
    assert_eq!((code, listed.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn letters_that_cannot_be_looked_for_are_told_with_what_to_do() {
    let place = Place::new("letters");
    let missing = format!("sqlite:{}", place.file().display());
    for verb in ["dead", "resend"] {
        let (code, said) = run(&["push", verb, "--store", &missing]).await;
        assert_eq!(code, Some(78), "{said}");
        assert!(said.contains("there is no store in"), "{said}");
        let (code, said) = run(&["push", verb, "--store", "memory"]).await;
        assert_eq!(code, Some(78), "{said}");
        assert!(said.contains("in memory"), "{said}");
    }
    assert!(!place.file().exists());
}
