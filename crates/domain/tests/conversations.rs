//! What an executor is told of the conversation before its turn.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::{RunEnd, SendMessage, TaskWriter};
use a2ad_domain::testing::sample::{artifact_id, call, call_for, context};
use a2ad_domain::testing::{Setup, World, sample};
use a2ad_domain::{Parts, Role, TaskKey};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

/// Notes what it is told of the conversation, and then does what the text says.
#[derive(Default)]
struct Listener {
    heard: Mutex<Vec<String>>,
    limit: usize,
}

#[async_trait]
impl AgentExecutor for Listener {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let said = out.conversation(self.limit).await?;
        let told: Vec<String> = said
            .iter()
            .map(|message| {
                let who = if message.role == Role::User { "user" } else { "agent" };
                let text = message.parts.as_slice()[0].plain_text().unwrap_or("?");
                format!("{who}: {text}")
            })
            .collect();
        self.heard.lock().unwrap().push(told.join(" / "));
        let text = turn.request.text();
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match word {
            "show" => {
                out.artifact(artifact_id("a"), Parts::text(rest)).await?;
                Ok(Outcome::InputRequired(Parts::text("more?")))
            }
            "ask" => Ok(Outcome::InputRequired(Parts::text(rest))),
            "fail" => {
                out.artifact(artifact_id("a"), Parts::text("half")).await?;
                Err(AgentError::failed("told to"))
            }
            // In pieces, as a stream of tokens comes.
            "make" => {
                out.working(Some(Parts::text("busy"))).await?;
                for piece in [&rest[..1], &rest[1..], ""] {
                    out.chunk(&artifact_id("a"), Parts::text(piece), false).await?;
                }
                Ok(Outcome::Completed(None))
            }
            "both" => {
                out.artifact(artifact_id("a"), Parts::text(rest)).await?;
                Ok(Outcome::Completed(Some(Parts::text(rest))))
            }
            "hang" => std::future::pending().await,
            _ => Ok(Outcome::Completed(Some(Parts::text(text.to_uppercase())))),
        }
    }
}

struct Talk {
    agent: Arc<Listener>,
    world: World,
}

impl Talk {
    fn new(limit: usize) -> Self {
        let agent = Arc::new(Listener { limit, ..Listener::default() });
        Self { world: World::with(agent.clone(), Setup::default()), agent }
    }

    async fn open(&self, text: &str) -> TaskKey {
        let chat = Some(context("chat"));
        let call = SendMessage { context: chat, wait: Some(false), ..call(text) };
        self.world.clock.advance(std::time::Duration::from_millis(1));
        self.world.service.send(&self.world.scope, call).await.unwrap().into_task().key().clone()
    }

    async fn say(&self, text: &str) -> TaskKey {
        let key = self.open(text).await;
        self.world.spawner.finish_next().await;
        key
    }

    fn last(&self) -> String {
        self.agent.heard.lock().unwrap().last().cloned().unwrap()
    }
}

#[tokio::test]
async fn whole_turns_are_told_in_order_with_what_the_agent_made() {
    let talk = Talk::new(100);
    talk.say("one").await;
    assert_eq!(talk.last(), "");
    talk.say("make two").await;
    assert_eq!(talk.last(), "user: one / agent: ONE");
    talk.say("both three").await;
    assert_eq!(talk.last(), "user: one / agent: ONE / user: make two / agent: busy / agent: two");
    talk.say("four").await;
    assert!(talk.last().ends_with("user: both three / agent: three"), "{}", talk.last());
}

#[tokio::test]
async fn turns_that_failed_were_canceled_or_go_on_are_not_told() {
    let talk = Talk::new(100);
    talk.say("fail now").await;
    let canceled = talk.open("hang on").await;
    talk.world.service.cancel(&talk.world.scope, &canceled.id.to_string()).await.unwrap();
    talk.world.spawner.next().await.end(RunEnd::Stopped).await;
    talk.open("hang about").await;
    let goes_on = talk.world.spawner.next().await;
    talk.say("hello").await;
    assert_eq!(talk.last(), "");
    talk.say("again").await;
    assert_eq!(talk.last(), "user: hello / agent: HELLO");
    goes_on.end(RunEnd::Stopped).await;
}

#[tokio::test]
async fn earlier_turns_of_the_same_task_come_last_and_a_question_is_told() {
    let talk = Talk::new(100);
    let asking = talk.say("ask which?").await;
    talk.say("meanwhile").await;
    assert_eq!(talk.last(), "user: ask which? / agent: which?");
    let answer = SendMessage { wait: Some(false), ..call_for(&asking, "that") };
    talk.world.service.send(&talk.world.scope, answer).await.unwrap();
    talk.world.spawner.finish_next().await;
    assert_eq!(
        talk.last(),
        "user: meanwhile / agent: MEANWHILE / user: ask which? / agent: which?"
    );
}

#[tokio::test]
async fn what_earlier_turns_of_the_same_task_have_made_is_told() {
    let talk = Talk::new(100);
    let asking = talk.say("show sketch").await;
    let answer = SendMessage { wait: Some(false), ..call_for(&asking, "make it blue") };
    talk.world.service.send(&talk.world.scope, answer).await.unwrap();
    talk.world.spawner.finish_next().await;
    assert_eq!(talk.last(), "user: show sketch / agent: more? / agent: sketch");
}

#[tokio::test]
async fn the_newest_messages_are_told_up_to_the_limit() {
    for (limit, told) in [(0, ""), (1, "agent: 200"), (3, "agent: 199 / user: 200 / agent: 200")] {
        let talk = Talk::new(limit);
        for number in 1..=200 {
            talk.say(&number.to_string()).await;
        }
        talk.say("now").await;
        assert_eq!(talk.last(), told);
    }
    let talk = Talk::new(1000);
    for number in 0..100 {
        talk.say(&number.to_string()).await;
    }
    talk.say("now").await;
    assert_eq!(talk.last().split(" / ").count(), 200, "more than a page");
}

#[tokio::test]
async fn other_scopes_and_other_conversations_are_never_told() {
    let talk = Talk::new(100);
    talk.say("mine").await;
    for scope in sample::foreign_scopes() {
        let call = SendMessage { context: Some(context("chat")), ..call("theirs") };
        let sent = talk.world.service.send(&scope, call);
        tokio::join!(sent, talk.world.spawner.finish_next()).0.unwrap();
        assert_eq!(talk.last(), "");
    }
    let elsewhere = SendMessage { context: Some(context("another")), ..call("x") };
    let sent = talk.world.service.send(&talk.world.scope, elsewhere);
    tokio::join!(sent, talk.world.spawner.finish_next()).0.unwrap();
    assert_eq!(talk.last(), "");
}
