//! Many streams that are cut again and again, in both lines and over both stores: joined they are what a
//! stream is that nobody has cut, byte for byte. In the 1.0 line every connection opens with the task, which
//! stands for what was missed.

use crate::support::agents::soon;
use crate::support::caller::text;
use crate::support::chance::{self, Chance};
use crate::support::{Event, Events, Place, Reply, TestServer};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};

/// How many streams there are for each store, and how many of them at a time.
const STREAMS: usize = 200;
const AT_A_TIME: usize = 20;

const ROUTE: &str = "/api/v1/a2a/script/jsonrpc";
const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

/// What the lines call things.
#[derive(Clone, Copy)]
struct Line {
    version: &'static str,
    stream: &'static str,
    attach: &'static str,
    cancel: &'static str,
}

const LINES: [Line; 2] = [
    Line {
        version: "0.3",
        stream: "message/stream",
        attach: "tasks/resubscribe",
        cancel: "tasks/cancel",
    },
    Line {
        version: "1.0",
        stream: "SendStreamingMessage",
        attach: "SubscribeToTask",
        cancel: "CancelTask",
    },
];

/// What is streamed, and after how many events each connection is lost. More of them than needed.
struct Plan {
    line: Line,
    text: String,
    cuts: Vec<usize>,
    /// After how many events the task is canceled, if it does not end by itself.
    ends_after: Option<usize>,
}

impl Plan {
    fn draw(number: usize, chance: &mut Chance) -> Self {
        let line = LINES[number % 2];
        let mut cuts = chance.draw(&proptest::collection::vec(0..12_usize, 60));
        let count = chance.draw(&(2..60_usize));
        // The first comes before the end of any of them.
        cuts[0] %= 2;
        // Some are over almost before anybody comes back, the others go on meanwhile.
        if number.is_multiple_of(4) {
            let text = format!("chunks:{count}|{}", "a piece, ".repeat(count));
            return Self { line, text, cuts, ends_after: None };
        }
        Self { line, text: format!("tick:{}|tock", number % 3), cuts, ends_after: Some(count) }
    }
}

/// A client of a line.
#[derive(Clone, Copy)]
struct Client<'a> {
    server: &'a TestServer,
    line: Line,
}

impl Client<'_> {
    fn version(&self) -> (&'static str, &'static str) {
        ("a2a-version", self.line.version)
    }

    fn request(&self, method: &str, params: Value) -> String {
        json!({ "jsonrpc": "2.0", "id": "x-1", "method": method, "params": params }).to_string()
    }

    async fn send(&self, text: &str, number: usize) -> Events {
        let id = format!("m-{number}");
        let message = if self.line.version == "0.3" {
            let parts = json!([{ "kind": "text", "text": text }]);
            json!({ "kind": "message", "role": "user", "messageId": id, "parts": parts })
        } else {
            json!({ "role": "ROLE_USER", "messageId": id, "parts": [{ "text": text }] })
        };
        let body = self.request(self.line.stream, json!({ "message": message }));
        let headers = [self.version(), JSON, EVENTS];
        Events::new(self.server.open("POST", ROUTE, &headers, Some(body)).await)
    }

    /// Comes back to a task. `None` in the 1.0 line when it has ended: it has no events any more.
    async fn attach(&self, task: &str, seen: u64) -> Option<Events> {
        let (body, seen) =
            (self.request(self.line.attach, json!({ "id": task })), seen.to_string());
        let headers = [self.version(), JSON, EVENTS, ("last-event-id", &*seen)];
        let response = self.server.open("POST", ROUTE, &headers, Some(body)).await;
        if response.headers()["content-type"] == EVENTS.1 {
            return Some(Events::new(response));
        }
        let answer = Reply::read(response).await.json();
        assert_eq!((self.line.version, &answer["error"]["code"]), ("1.0", &json!(-32004)));
        None
    }

    async fn cancel(&self, task: &str) {
        let body = self.request(self.line.cancel, json!({ "id": task }));
        let reply = self.server.post(ROUTE, &[self.version(), JSON], body).await;
        assert!(reply.json().get("result").is_some(), "{}", reply.json());
    }
}

/// What one connection has shown.
struct Connection {
    /// The last event that the client had seen before.
    after: u64,
    /// The task, with which every connection of the 1.0 line opens.
    opening: Option<Event>,
    events: Vec<Event>,
}

impl Connection {
    /// From where on its events are those that nobody else has shown.
    fn start(&self) -> u64 {
        self.opening.as_ref().map_or(self.after, number)
    }

    fn last(&self) -> u64 {
        self.events.last().map_or(self.start(), number)
    }
}

fn number(event: &Event) -> u64 {
    event.id.unwrap_or_else(|| panic!("no number: {event:?}"))
}

fn status(event: &Event) -> Option<&Value> {
    let result = &event.data["result"];
    result.get("status").or_else(|| result["statusUpdate"].get("status"))
}

/// Whether the event is the end of its task.
fn is_end(event: &Event) -> bool {
    let state = status(event).and_then(|status| status["state"].as_str()).unwrap_or_default();
    ["completed", "canceled", "TASK_STATE_COMPLETED", "TASK_STATE_CANCELED"].contains(&state)
}

/// Reads a stream over many connections, up to its end.
async fn cut(client: Client<'_>, task: &str, first: u64, plan: &Plan) -> Vec<Connection> {
    let (mut connections, mut after, mut events_so_far) = (Vec::new(), first, 0);
    for &cut in plan.cuts.iter().chain([&usize::MAX]) {
        let Some(mut stream) = client.attach(task, after).await else { return connections };
        let mut connection = Connection { after, opening: None, events: Vec::new() };
        if client.line.version == "1.0" {
            connection.opening = Some(stream.next().await.expect("the task"));
        }
        while connection.events.len() < cut {
            let event = stream.next().await.expect("events up to the end");
            let ended = is_end(&event);
            connection.events.push(event);
            events_so_far += 1;
            if ended {
                connections.push(connection);
                return connections;
            }
            if plan.ends_after == Some(events_so_far) {
                client.cancel(task).await;
            }
        }
        after = connection.last();
        connections.push(connection);
    }
    unreachable!("the last connection is not cut");
}

/// How often the stream was cut, and how many events it had.
async fn cut_and_joined(server: &TestServer, plan: Plan, at: usize) -> (usize, usize) {
    let client = Client { server, line: plan.line };
    let mut uncut = client.send(&plan.text, at).await;
    let first = uncut.next().await.expect("the task");
    let task = &first.data["result"];
    let task = task["id"].as_str().or(task["task"]["id"].as_str()).expect("an id");
    let reading = soon("the end of a stream", uncut.collect());
    let (whole, connections) = join(reading, cut(client, task, number(&first), &plan)).await;
    assert!(whole.last().is_some_and(is_end), "{whole:?}");
    let mut seen = number(&first);
    for connection in &connections {
        assert_eq!(connection.after, seen);
        let newer = whole.iter().filter(|event| number(event) > connection.start());
        let newer: Vec<_> = newer.take(connection.events.len()).cloned().collect();
        assert_eq!(connection.events, newer, "after {}", connection.start());
        if let Some(opening) = &connection.opening {
            assert!(number(opening) >= seen, "goes back: {opening:?}");
            holds(opening, &whole);
        }
        seen = connection.last();
    }
    // Only in the 1.0 line can somebody come back too late.
    assert!(client.line.version == "1.0" || seen == number(&whole[whole.len() - 1]));
    assert!(connections.len() > 1, "the stream was not cut");
    (connections.len() - 1, whole.len())
}

/// Whether a task that opens a stream holds all that has come up to its version.
fn holds(opening: &Event, whole: &[Event]) {
    let task = &opening.data["result"]["task"];
    let past = || whole.iter().take_while(|event| number(event) <= number(opening));
    let mut said = String::new();
    for update in past().filter_map(|event| event.data["result"].get("artifactUpdate")) {
        if update["append"] != true {
            said.clear();
        }
        said += &text(&update["artifact"]);
    }
    let artifacts = task["artifacts"].as_array();
    assert_eq!(artifacts.into_iter().flatten().map(text).collect::<String>(), said);
    if let Some(status) = past().filter_map(status).last() {
        assert_eq!(&task["status"], status);
    }
}

async fn all_are_joined(server: TestServer) {
    let mut chance = Chance::new(chance::seed(), 0);
    let (mut cuts, mut events) = (0, 0);
    for group in 0..STREAMS / AT_A_TIME {
        let numbers = group * AT_A_TIME..(group + 1) * AT_A_TIME;
        let streams =
            numbers.map(|number| cut_and_joined(&server, Plan::draw(number, &mut chance), number));
        for (cut, joined) in join_all(streams).await {
            (cuts, events) = (cuts + cut, events + joined);
        }
    }
    println!("streams: {STREAMS}, cuts: {cuts}, events: {events}");
    server.finish().await;
}

#[tokio::test]
async fn two_hundred_cut_streams_joined_are_whole_ones_from_memory() {
    all_are_joined(TestServer::start().await).await;
}

#[tokio::test]
async fn two_hundred_cut_streams_joined_are_whole_ones_from_a_file() {
    let place = Place::new("cuts");
    all_are_joined(TestServer::with_config(&place.store("process")).await).await;
}
