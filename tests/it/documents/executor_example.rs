//! The example of docs/extending-executors.md, word for word.

use a2ad::{App, Config};
use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn,
};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Agent, AgentId, AgentSettings, ArtifactId, Card, Parts, Skill};
use async_trait::async_trait;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Says loudly what it is told, word by word.
pub struct Shout;

#[async_trait]
impl AgentExecutor for Shout {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        match request.text().as_str() {
            "ping" => Ok(Acceptance::Message(Parts::text("pong"))),
            text if text.len() > 10_000 => Err(Rejection::Invalid {
                field: "message.parts".to_owned(),
                problem: "must hold at most 10,000 bytes of text".to_owned(),
            }),
            _ => Ok(Acceptance::Task),
        }
    }

    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        out.working(None).await?;
        let text = turn.request.text();
        if text.trim().is_empty() {
            return Ok(Outcome::InputRequired(Parts::text("What shall I say?")));
        }
        let artifact = ArtifactId::new("loud").map_err(AgentError::failed)?;
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let last = words.peek().is_none();
            let space = if last { "" } else { " " };
            let loud = format!("{}{space}", word.to_uppercase());
            out.chunk(&artifact, Parts::text(loud), last).await?;
        }
        Ok(Outcome::Completed(None))
    }
}

/// The agent around it: its id, its card, how its runs are treated, and what does the work.
pub fn shout() -> Result<Agent, Box<dyn Error>> {
    let card = Card {
        name: "Shout".to_owned(),
        description: "Says loudly what it is told.".to_owned(),
        version: "1.0.0".to_owned(),
        skills: vec![Skill {
            id: "shout".to_owned(),
            name: "Shout".to_owned(),
            description: "Turns text into capitals, word by word.".to_owned(),
            tags: vec!["text".to_owned()],
            examples: vec!["good morning".to_owned()],
        }],
        input_modes: vec!["text/plain".to_owned()],
        output_modes: vec!["text/plain".to_owned()],
    };
    let settings =
        AgentSettings { deadline: Some(Duration::from_secs(30)), ..AgentSettings::default() };
    Ok(Agent::new(AgentId::new("shout")?, card, settings, Arc::new(Shout)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = App::builder(Config::default()).agent(shout()?).build()?.bind().await?;
    println!("listening on {}", server.base_url());
    let interrupted = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    server.run(interrupted).await;
    Ok(())
}
