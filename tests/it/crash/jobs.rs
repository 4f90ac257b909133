//! What clients do, drawn by chance.

use super::client::{Broken, Client, ends};
use crate::support::caller::{Message, id, state};
use crate::support::chance::Chance;
use proptest::prelude::*;
use serde_json::json;

/// How many jobs a client still does when no kill comes any more.
const LAST_JOBS: usize = 4;

/// Something that a client wants done.
#[derive(Clone, Debug)]
enum Job {
    /// Send and wait.
    Send(String),
    /// Stream; lose the connection after so many events, and go on.
    Stream(String, Option<usize>),
    /// Send and do not wait; attach, and see how it ends.
    Leave(String),
    /// Be asked, and answer each time, over a stream or not; the last answer is not always given.
    Talk(Vec<(String, bool)>),
    /// Cancel what has shown so many events.
    Cancel(usize),
    /// Be asked, and cancel instead of answering.
    CancelQuestion,
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,12}"
}

/// Texts for the agent that do not make it ask.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => word(),
        1 => word().prop_map(|word| format!("fail {word}")),
        1 => word().prop_map(|word| format!("reject {word}")),
        3 => (1..60_usize, word()).prop_map(|(count, word)| format!("chunks:{count}|{word}")),
        2 => (1..60_u64, word()).prop_map(|(millis, word)| format!("hold:{millis}|{word}")),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    let question = || word().prop_map(|word| format!("ask {word}"));
    let turn = prop_oneof![1 => question(), 1 => text()];
    let turns = prop::collection::vec((turn, any::<bool>()), 0..4);
    prop_oneof![
        2 => text().prop_map(Job::Send),
        3 => (text(), prop::option::of(0..30_usize)).prop_map(|(text, cut)| Job::Stream(text, cut)),
        1 => text().prop_map(Job::Leave),
        3 => turns.prop_map(Job::Talk),
        2 => (0..20_usize).prop_map(Job::Cancel),
        1 => Just(Job::CancelQuestion),
    ]
}

/// Does one job after the other until the server lives on.
pub(super) async fn work(client: Client<'_>, mut chance: Chance) {
    let (jobs, mut left) = (job(), LAST_JOBS);
    while left > 0 {
        if client.server.is_in_its_last_life() {
            left -= 1;
        }
        // A job whose first message has an unknown fate is over: nobody knows its task.
        let _: Result<(), Broken> = do_job(&client, chance.draw(&jobs)).await;
    }
}

async fn do_job(client: &Client<'_>, job: Job) -> Result<(), Broken> {
    match job {
        Job::Send(text) => {
            client.told.count(|counts| counts.sends += 1);
            let task = client.send(Message::new(text)).await?;
            assert!(ends(state(&task)), "{task}");
        }
        Job::Stream(text, cut) => {
            client.told.count(|counts| counts.streams += 1);
            let mut followed = client.stream(Message::new(text)).await?;
            if let Some(cut) = cut {
                while followed.events.len() <= cut && !ends(followed.state()) {
                    client.next(&mut followed).await;
                }
                followed.cut();
            }
            let state = client.to_its_rest(followed).await;
            assert!(ends(&state), "{state}");
        }
        Job::Leave(text) => {
            client.told.count(|counts| counts.sends += 1);
            let task = client.send(Message::new(text).blocking(false)).await?;
            if let Some(followed) = client.attach(id(&task)).await {
                client.to_its_rest(followed).await;
            }
            client.get(id(&task)).await;
        }
        Job::Talk(turns) => talk(client, turns).await?,
        Job::Cancel(after) => cancel_at_work(client, after).await?,
        Job::CancelQuestion => {
            client.told.count(|counts| counts.sends += 1);
            let task = client.send(Message::new("ask something")).await?;
            cancel(client, id(&task)).await;
        }
    }
    Ok(())
}

async fn talk(client: &Client<'_>, turns: Vec<(String, bool)>) -> Result<(), Broken> {
    client.told.count(|counts| counts.sends += 1);
    let task = client.send(Message::new("ask anything")).await?;
    assert_eq!(state(&task), "input-required");
    let task = id(&task);
    for (text, streams) in turns {
        if answer(client, task, &text, streams).await != "input-required" {
            break;
        }
    }
    Ok(())
}

/// Answers a question, again if the answer was not taken. The state that the task then rests in.
async fn answer(client: &Client<'_>, task: &str, text: &str, streams: bool) -> String {
    loop {
        client.told.count(|counts| counts.continues += 1);
        let message = Message::new(text).task(task);
        let named = super::client::message_id(&message.clone().params()).to_owned();
        let answered = if streams {
            match client.stream(message).await {
                Ok(followed) => Ok(client.to_its_rest(followed).await),
                Err(broken) => Err(broken),
            }
        } else {
            client.send(message).await.map(|task| state(&task).to_owned())
        };
        if let Ok(state) = answered {
            return state;
        }
        let task = client.get(task).await;
        let history = task["history"].as_array().expect("messages");
        if history.iter().any(|message| message["messageId"] == named.as_str()) {
            return state(&task).to_owned();
        }
        // What waits is left as it was by everybody but us.
        assert_eq!(state(&task), "input-required", "{task}");
    }
}

async fn cancel_at_work(client: &Client<'_>, after: usize) -> Result<(), Broken> {
    client.told.count(|counts| counts.streams += 1);
    let mut followed = client.stream(Message::new("tick:1|x")).await?;
    while followed.events.len() <= after && !ends(followed.state()) {
        client.next(&mut followed).await;
    }
    cancel(client, &followed.task.clone()).await;
    let state = client.to_its_rest(followed).await;
    assert!(["canceled", "failed"].contains(&state.as_str()), "{state}");
    Ok(())
}

/// Cancels until it is answered: the task is canceled then, or has ended otherwise.
async fn cancel(client: &Client<'_>, task: &str) {
    loop {
        client.told.count(|counts| counts.cancels += 1);
        match client.call("tasks/cancel", &json!({ "id": task })).await {
            Ok(Ok(canceled)) => {
                assert_eq!(state(&canceled), "canceled");
                return client.told.stands(&canceled);
            }
            Ok(Err(code)) => {
                assert_eq!(code, -32002);
                let task = client.get(task).await;
                assert!(ends(state(&task)), "{task}");
                return;
            }
            Err(Broken) => {}
        }
    }
}
