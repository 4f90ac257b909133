//! A client that expects its connections to break, and goes on where it was.

use super::mortal::{Life, Mortal};
use super::told::Told;
use crate::support::agents::soon;
use crate::support::caller::{Message, check, id, request};
use crate::support::{Event, Events};
use reqwest::Response;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The connection broke before the answer was there; what became of the call is not known.
#[derive(Debug)]
pub(super) struct Broken;

pub(super) struct Client<'a> {
    pub(super) server: &'a Mortal<'a>,
    pub(super) told: &'a Told,
    http: reqwest::Client,
}

/// A stream of one task over as many connections as it takes.
pub(super) struct Followed {
    pub(super) task: String,
    pub(super) events: Vec<Event>,
    /// The connection of now, with the life that it belongs to.
    connection: Option<(usize, Events)>,
}

impl Followed {
    /// Lets go of the connection, as a client does that loses its network.
    pub(super) fn cut(&mut self) {
        self.connection = None;
    }

    pub(super) fn last(&self) -> &Event {
        self.events.last().expect("the task, which comes first")
    }

    /// The state that the newest status shows.
    pub(super) fn state(&self) -> &str {
        let statuses = self.events.iter().rev().map(|event| &event.data["result"]["status"]);
        statuses.filter_map(|status| status["state"].as_str()).next().expect("a status")
    }
}

/// What a message leads to, and the id under which it was sent.
pub(super) fn message_id(params: &Value) -> &str {
    params["message"]["messageId"].as_str().expect("a message id")
}

impl<'a> Client<'a> {
    pub(super) fn new(server: &'a Mortal<'a>, told: &'a Told) -> Self {
        Self { server, told, http: crate::support::client() }
    }

    async fn post(
        &self,
        life: &Life,
        method: &str,
        params: &Value,
        (takes, seen): (&str, Option<u64>),
    ) -> reqwest::Result<Response> {
        let url = format!("{}/api/v1/a2a/script/jsonrpc", life.base);
        let body = request(method, params).to_string();
        let mut post = self.http.post(url).header("content-type", JSON).body(body);
        post = post.header("accept", takes);
        if let Some(seen) = seen {
            post = post.header("last-event-id", seen);
        }
        post.send().await
    }

    fn broken(&self, life: usize, how: &dyn std::fmt::Debug) -> Broken {
        self.server.has_ended(life, how);
        self.told.count(|counts| counts.broken += 1);
        Broken
    }

    /// One call: its result, or the code of its error.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, i64>, Broken> {
        let life = self.server.alive().await;
        let whole = async {
            let response = self.post(&life, method, params, (JSON, None)).await?;
            let status = response.status();
            Ok((status, response.bytes().await?))
        };
        let whole: reqwest::Result<_> = whole.await;
        let (status, body) = whole.map_err(|error| self.broken(life.number, &error))?;
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        let mut answer: Value = serde_json::from_slice(&body).expect("JSON");
        check(&answer);
        self.server.heard();
        self.told.count(|counts| counts.answers += 1);
        Ok(match answer["error"]["code"].as_i64() {
            Some(code) => Err(code),
            None => Ok(answer["result"].take()),
        })
    }

    /// Sends a message that cannot be refused, and waits: the task.
    pub(super) async fn send(&self, message: Message) -> Result<Value, Broken> {
        let params = message.params();
        self.told.sent(message_id(&params));
        let task = self.call("message/send", &params).await?.expect("a message that is taken");
        self.told.taken(message_id(&params), id(&task));
        self.told.stands(&task);
        Ok(task)
    }

    /// The task as it is.
    pub(super) async fn get(&self, task: &str) -> Value {
        loop {
            if let Ok(answer) = self.call("tasks/get", &json!({ "id": task })).await {
                let task = answer.expect("a task that exists");
                self.told.stands(&task);
                return task;
            }
        }
    }

    /// Sends a message that cannot be refused, and follows what comes of it.
    pub(super) async fn stream(&self, message: Message) -> Result<Followed, Broken> {
        let params = message.params();
        self.told.sent(message_id(&params));
        let followed = self.open("message/stream", &params).await?;
        let followed = followed.expect("a message that is taken");
        self.told.taken(message_id(&params), &followed.task);
        Ok(followed)
    }

    /// Opens a stream and reads the task that comes first, or the code of the refusal.
    async fn open(&self, method: &str, params: &Value) -> Result<Result<Followed, i64>, Broken> {
        let life = self.server.alive().await;
        let response = self.post(&life, method, params, (EVENTS, None)).await;
        let response = response.map_err(|error| self.broken(life.number, &error))?;
        let mut events = Events::new(response);
        let first = events.next_unless_cut().await.map_err(|cut| self.broken(life.number, &cut))?;
        let first = first.expect("an event");
        check(&first.data);
        self.server.heard();
        self.told.count(|counts| counts.frames += 1);
        if let Some(code) = first.data["error"]["code"].as_i64() {
            return Ok(Err(code));
        }
        let task = id(&first.data["result"]).to_owned();
        let connection = Some((life.number, events));
        Ok(Ok(Followed { task, events: vec![first], connection }))
    }

    /// Attaches to a task without having seen anything of it. `None` when it has ended.
    pub(super) async fn attach(&self, task: &str) -> Option<Followed> {
        loop {
            match self.open("tasks/resubscribe", &json!({ "id": task })).await {
                Ok(Ok(followed)) => return Some(followed),
                Ok(Err(code)) => {
                    assert_eq!(code, -32004);
                    return None;
                }
                Err(Broken) => {}
            }
        }
    }

    /// Goes on after the last event.
    async fn resume(&self, followed: &Followed) -> Result<(usize, Events), Broken> {
        let (life, params) = (self.server.alive().await, json!({ "id": followed.task }));
        let takes = (EVENTS, followed.last().id);
        let response = self.post(&life, "tasks/resubscribe", &params, takes).await;
        let response = response.map_err(|error| self.broken(life.number, &error))?;
        self.told.count(|counts| counts.resumes += 1);
        Ok((life.number, Events::new(response)))
    }

    /// The next event, over a new connection if the old one breaks. Not to be called after a status that
    /// nothing follows.
    pub(super) async fn next<'f>(&self, followed: &'f mut Followed) -> &'f Event {
        loop {
            let Some((life, connection)) = &mut followed.connection else {
                followed.connection = self.resume(followed).await.ok();
                continue;
            };
            // What keeps a connection alive is no event.
            let next = soon("the next event of a task", connection.next_unless_cut());
            match next.await {
                Ok(event) => {
                    let event = event.unwrap_or_else(|| panic!("ends after {:?}", followed.last()));
                    check(&event.data);
                    assert!(event.data.get("error").is_none(), "{event:?}");
                    self.server.heard();
                    self.told.count(|counts| counts.frames += 1);
                    followed.events.push(event);
                    return followed.last();
                }
                Err(cut) => {
                    self.broken(*life, &cut);
                    followed.connection = None;
                }
            }
        }
    }

    /// Reads on until the task rests, and notes all that was seen. The state.
    pub(super) async fn to_its_rest(&self, mut followed: Followed) -> String {
        while ["submitted", "working"].contains(&followed.state()) {
            self.next(&mut followed).await;
        }
        let state = followed.state().to_owned();
        // Nothing comes after the last status, unless the kill comes before the end of the stream does.
        if let (Some((life, mut connection)), true) = (followed.connection.take(), ends(&state)) {
            match connection.next_unless_cut().await {
                Ok(more) => assert_eq!(more, None, "after the end"),
                Err(cut) => {
                    self.broken(life, &cut);
                }
            }
        }
        self.told.followed(&followed.task, followed.events);
        state
    }
}

/// Whether a task ends in this state.
pub(super) fn ends(state: &str) -> bool {
    ["completed", "failed", "canceled", "rejected"].contains(&state)
}
