//! The example of the document about executors is compiled, keeps the contract of its port, and does what
//! the document says.

use super::blocks::blocks;
use super::executor_example::{Shout, shout};
use super::read;
use a2ad::{App, Config};
use a2ad_domain::service::{SendMessage, Sent};
use a2ad_domain::{AgentId, Error, Message, MessageId, Owner, Parts, Role, Scope, TaskState};

mod contract {
    a2ad_domain::executor_contract!(|| super::Shout, "good morning");
}

#[test]
fn the_example_in_the_document_is_the_one_that_is_tested() {
    let example = read("tests/it/documents/executor_example.rs");
    let (_, example) = example.split_once("\n\n").expect("a first line");
    let contract = read("tests/it/documents/executor.rs");
    let start = contract.find("mod contract {").expect("the contract");
    let end = contract[start..].find("\n}\n").expect("its end");
    let contract = &contract[start..start + end + 3];
    let document = blocks(&read("docs/extending-executors.md"));
    let shown: Vec<&str> =
        document.iter().filter(|it| it.language == "rust").map(|it| &*it.text).collect();
    assert_eq!(shown, [example, contract]);
}

/// What comes of a first message to the example's agent.
async fn said(text: &str) -> Result<Sent, Error> {
    let mut config = Config::default();
    config.server.listen = "127.0.0.1:0".parse().expect("an address");
    let agent = shout().expect("an agent");
    let server = App::builder(config).agent(agent).build().expect("good");
    let server = server.bind().await.expect("a port");
    let id = MessageId::new("m-1").expect("an id");
    let call = SendMessage {
        message: Message::new(id, Role::User, Parts::text(text)),
        task: None,
        context: None,
        wait: Some(true),
        metadata: None,
        accepted_output_modes: Vec::new(),
    };
    let agent = AgentId::new("shout").expect("an id");
    server.service().send(&Scope::new(agent, None, Owner::anonymous()), call).await
}

fn text(parts: &Parts) -> String {
    parts.as_slice().iter().filter_map(|part| part.plain_text()).collect()
}

#[tokio::test]
async fn the_example_streams_a_text_word_by_word() {
    let Ok(Sent::Task(task)) = said("good morning").await else { panic!("no task") };
    assert_eq!(task.state(), TaskState::Completed);
    let artifact = &task.artifacts()[0];
    let chunks: Vec<String> = artifact.chunks.iter().map(text).collect();
    assert_eq!((artifact.id.as_str(), chunks), ("loud", vec!["GOOD ".into(), "MORNING".into()]));
}

#[tokio::test]
async fn the_example_asks_answers_and_refuses_as_the_document_says() {
    let Ok(Sent::Task(task)) = said(" ").await else { panic!("no task") };
    assert_eq!(task.state(), TaskState::InputRequired);
    let Ok(Sent::Message { message, .. }) = said("ping").await else { panic!("no message") };
    assert_eq!(text(&message.parts), "pong");
    let refused = said(&"x".repeat(10_001)).await.expect_err("a refusal");
    assert!(matches!(refused, Error::InvalidParams { field, .. } if field == "message.parts"));
}
