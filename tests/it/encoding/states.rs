//! The states' names, in the spelling of the route and in no other.

use crate::support::TestServer;
use crate::support::agents::{Gated, agent, soon};
use crate::support::caller::{Caller, Message, id, state};
use serde_json::json;

/// The states that a task can be in, in the spelling of the 0.3 line and of PraisonAI's clients.
const NAMES: [(&str, &str); 7] = [
    ("working", "working"),
    ("input-required", "input_required"),
    ("auth-required", "auth_required"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("canceled", "cancelled"),
    ("rejected", "rejected"),
];

#[tokio::test]
async fn every_state_is_spelled_as_the_clients_of_the_route_know_it() {
    let (gated, mut gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("echo", gated))).await;
    let callers = [Caller::new(&server, "echo"), Caller::praison(&server)];
    for (number, caller) in callers.iter().enumerate() {
        let name =
            |names: (&'static str, &'static str)| if number == 0 { names.0 } else { names.1 };
        for names in NAMES {
            let text = match names.0 {
                "working" | "canceled" => "gate x",
                "input-required" => "ask x",
                "auth-required" => "auth-gate x",
                "failed" => "fail x",
                "rejected" => "reject x",
                _ => "x",
            };
            let sent = caller.send_off(Message::new(text)).await;
            let gate = if text.contains("gate") { Some(gates.next().await) } else { None };
            if names.0 == "canceled" {
                assert_eq!(state(&caller.cancel(id(&sent)).await), name(names));
            }
            let task = soon("the state", async {
                loop {
                    let task = caller.get(id(&sent)).await;
                    let on_the_way = ["submitted", "working"].contains(&state(&task));
                    if names.0 == "working" || !on_the_way {
                        break task;
                    }
                    tokio::task::yield_now().await;
                }
            })
            .await;
            assert_eq!(state(&task), name(names), "{text}");
            // Both spellings are understood, whatever the route.
            for spelling in [names.0, names.1, &names.0.to_uppercase(), &names.1.to_uppercase()] {
                let filter = json!({ "status": spelling });
                let page = caller.ok("tasks/list", filter).await;
                let tasks = page.get("tasks").unwrap_or(&page).as_array().expect("tasks").clone();
                assert!(tasks.iter().any(|found| found["id"] == task["id"]), "{spelling}");
                assert!(tasks.iter().all(|found| state(found) == name(names)), "{spelling}");
            }
            if let Some(gate) = gate {
                gate.open();
            }
            if text == "auth-gate x" || names.0 == "working" {
                soon("the end", async {
                    while state(&caller.get(id(&task)).await) != "completed" {
                        tokio::task::yield_now().await;
                    }
                })
                .await;
            }
        }
        for unknown in ["", "done", "task", "TASK_STATE_", "working "] {
            let code = caller.code("tasks/list", json!({ "status": unknown })).await;
            assert_eq!(code, -32602, "{unknown:?}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_task_that_has_just_been_opened_is_submitted() {
    let server = TestServer::start().await;
    for caller in [Caller::new(&server, "echo"), Caller::praison(&server)] {
        let frames = caller.stream(Message::new("x")).await.collect().await;
        assert_eq!(state(&frames[0].data["result"]), "submitted");
    }
    server.finish().await;
}
