//! Whatever a bad executor does, other tasks go on as if it were not there.

use crate::support::TestServer;
use crate::support::agents::{agent_with, soon};
use crate::support::caller::{Caller, Message, artifact, id, state};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{AgentSettings, ArtifactId, Parts};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;

/// What is wrong with an executor.
#[derive(Clone, Copy, Debug)]
enum Vice {
    /// It takes no notice of anything, and writes on although nothing is taken.
    Deaf,
    /// It writes as fast as it can, for ever.
    Floods,
    /// It waits for what never comes.
    Hangs,
    /// It panics.
    Panics,
    /// It panics when it is dropped.
    PanicsWhenDropped,
}

const VICES: [Vice; 5] =
    [Vice::Deaf, Vice::Floods, Vice::Hangs, Vice::Panics, Vice::PanicsWhenDropped];

struct Bad(Vice);

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "told to panic");
    }
}

#[async_trait]
impl AgentExecutor for Bad {
    async fn run(&self, _turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let id = ArtifactId::new("a").map_err(AgentError::failed)?;
        out.chunk(&id, Parts::text("begun"), false).await?;
        match self.0 {
            Vice::Deaf => loop {
                let _ = out.chunk(&id, Parts::text("late"), false).await;
                tokio::task::yield_now().await;
            },
            Vice::Floods => loop {
                out.chunk(&id, Parts::text("x"), false).await?;
            },
            Vice::Hangs => std::future::pending().await,
            Vice::Panics => panic!("told to panic"),
            Vice::PanicsWhenDropped => {
                let _bomb = Bomb;
                std::future::pending().await
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bad_executor_harms_no_other_task() {
    for vice in VICES {
        let settings = AgentSettings {
            grace: Duration::from_millis(1),
            max_running: 2,
            ..AgentSettings::default()
        };
        let bad = agent_with("bad", settings, Arc::new(Bad(vice)));
        let server = TestServer::custom("", |builder| builder.with_agent(bad)).await;
        let (good, bad) = (Caller::new(&server, "echo"), Caller::new(&server, "bad"));
        // More than the agent may have at once; the rest waits.
        let mut runs = Vec::new();
        for _ in 0..4 {
            runs.push(bad.send_off(Message::new("go")).await);
        }
        for number in 0..50 {
            let text = format!("good {number}");
            let task = soon("a good task", good.send(Message::new(&text))).await;
            assert_eq!((state(&task), artifact(&task)), ("completed", text), "{vice:?}");
        }
        for run in &runs {
            let answer = bad.call("tasks/cancel", serde_json::json!({ "id": id(run) })).await;
            let ended = soon("the end of a bad task", bad.rest(id(run))).await;
            let panicked = matches!(vice, Vice::Panics) && answer["error"]["code"] == -32002;
            assert_eq!(state(&ended), if panicked { "failed" } else { "canceled" }, "{vice:?}");
        }
        let ended: Vec<_> =
            futures_util::future::join_all(runs.iter().map(|run| bad.get(id(run)))).await;
        let task = soon("a good task", good.send(Message::new("still"))).await;
        assert_eq!(state(&task), "completed", "{vice:?}");
        server.no_run_left().await;
        // What a deaf one has written since is nowhere.
        for (run, before) in runs.iter().zip(&ended) {
            assert_eq!(bad.get(id(run)).await, *before, "{vice:?}");
        }
        server.finish().await;
    }
}
