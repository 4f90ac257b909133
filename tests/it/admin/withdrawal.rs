//! What becomes of the tasks of an agent that is withdrawn or removed.

use super::desk::Desk;
use crate::support::Raw;
use crate::support::caller::{Caller, Message, id};
use serde_json::json;

/// Opens a task at work and one that asks at an agent; gives their ids.
async fn two_tasks(desk: &Desk, agent: &str) -> [String; 2] {
    let caller = Caller::new(&desk.server, agent);
    let working = id(&caller.send_off(Message::new("hang")).await).to_owned();
    let asking = id(&caller.send(Message::new("ask why?")).await).to_owned();
    [working, asking]
}

async fn states(desk: &Desk, ids: &[String; 2]) -> Vec<String> {
    let mut states = Vec::new();
    for id in ids {
        let task = desk.done("GET", &format!("/tasks/{id}"), None).await;
        states.push(task["state"].as_str().expect("a state").to_owned());
    }
    states
}

#[tokio::test]
async fn a_withdrawn_agent_ends_its_tasks_or_lets_them_go_on_as_it_is_told() {
    for (agent, verb, path) in
        [("script", "POST", "/agents/script/unpublish"), ("added", "DELETE", "/agents/added")]
    {
        let desk = Desk::open().await;
        desk.add("added").await;
        let tasks = two_tasks(&desk, agent).await;
        let done = desk.done(verb, path, Some(json!({ "tasks": "cancel" }))).await;
        assert_eq!(done["canceled"], 2, "{done}");
        assert_eq!(desk.routes(agent).await, [404; 5]);
        assert_eq!(states(&desk, &tasks).await, ["canceled", "canceled"]);
        desk.server.finish().await;

        let desk = Desk::open().await;
        desk.add("added").await;
        let tasks = two_tasks(&desk, agent).await;
        let done = desk.done(verb, path, Some(json!({ "tasks": "drain" }))).await;
        assert_eq!(done["canceled"], 0, "{done}");
        assert_eq!(desk.routes(agent).await, [404; 5]);
        let [working, asking] = &tasks;
        let state = states(&desk, &tasks).await;
        assert!(["submitted", "working"].contains(&&*state[0]), "{state:?}");
        assert_eq!(state[1], "input-required");
        for task in [working, asking] {
            desk.done("POST", &format!("/tasks/{task}/cancel"), None).await;
        }
        desk.server.finish().await;
    }
}

#[tokio::test]
async fn a_stream_goes_on_to_the_end_of_its_task_when_the_agent_is_gone() {
    let desk = Desk::open().await;
    desk.add("added").await;
    let mut stream = Caller::new(&desk.server, "added").stream(Message::new("hang")).await;
    stream.next().await.expect("the task");
    desk.done("DELETE", "/agents/added", Some(json!({ "tasks": "cancel" }))).await;
    let last = stream.collect().await.pop().expect("an end");
    assert_eq!(last.data["result"]["status"]["state"], "canceled");
    desk.server.finish().await;
}

#[tokio::test]
async fn an_agent_of_the_same_id_has_the_tasks_of_the_one_before() {
    let desk = Desk::open().await;
    desk.add("added").await;
    let caller = Caller::new(&desk.server, "added");
    let task = caller.send(Message::new("x")).await;
    desk.done("DELETE", "/agents/added", None).await;
    desk.add("added").await;
    assert_eq!(caller.get(id(&task)).await, task);
    desk.server.finish().await;
}

#[tokio::test]
async fn a_body_that_arrives_when_the_agent_is_gone_is_answered_as_if_it_had_never_been() {
    let desk = Desk::open().await;
    desk.add("added").await;
    let mut slow = Raw::connect(desk.server.address()).await;
    let head = "POST /api/v1/a2a/added/jsonrpc HTTP/1.1\r\nhost: x\r\n\
        content-type: application/json\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n";
    slow.send(head.as_bytes()).await;
    // The server asks for the body, so it has found the agent.
    assert_eq!(slow.answer().await.expect("an answer").status, 100);
    desk.done("DELETE", "/agents/added", None).await;
    slow.send(b"{}").await;
    assert_eq!(slow.answer().await.expect("an answer").status, 404);
    desk.server.finish().await;
}
