//! Does to a server what the actions say, does the same to the model, and compares.

use super::actions::{AGENTS, Action, CONTEXTS, ContextOf, Filter, How, OWNERS, Reach};
use super::home::Home;
use super::reference::{Scope, Seen, Task, Text, Until, View, When};
use super::seen;
use super::streams::{Stream, next, refused};
use crate::support::agents::{Gate, Gated, Gates, soon};
use crate::support::caller::{self, Caller, Message};
use crate::support::{Events, TestServer};
use a2ad_domain::testing::ManualClock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// An id of the right form that no task has.
const NOBODY: &str = "3b9f6f0e-0000-4000-8000-00000000000d";

pub(super) struct Driver {
    home: Home,
    /// `None` only between two servers.
    server: Option<TestServer>,
    gated: Arc<Gated>,
    clock: ManualClock,
    now: i64,
    gates: Gates,
    tasks: Vec<Known>,
    streams: Vec<Stream>,
    /// Runs that wait, with the number of their task.
    waiting: Vec<(usize, Gate)>,
}

struct Known {
    id: String,
    task: Task,
}

impl Driver {
    pub(super) async fn follow(home: Home, actions: Vec<Action>) -> Result<(), String> {
        let clock = ManualClock::default();
        let (gated, gates) = Gated::new();
        let server = Some(home.start(&gated, &clock).await);
        let (tasks, streams, waiting) = (Vec::new(), Vec::new(), Vec::new());
        let mut driver =
            Self { home, server, gated, clock, now: 0, gates, tasks, streams, waiting };
        for action in actions {
            driver.take(action).await;
        }
        driver.end().await;
        Ok(())
    }

    fn caller(&self, scope: Scope) -> Caller<'_> {
        let server = self.server.as_ref().expect("a server");
        Caller::new(server, AGENTS[scope.agent]).owned_by(OWNERS[scope.owner])
    }

    async fn take(&mut self, action: Action) {
        let some = |number: usize, of: usize| (of > 0).then(|| number % of);
        match action {
            Action::Send { scope, text, context, how } => {
                self.send(scope, &text, context, how).await;
            }
            Action::Tick => {
                self.now += 1;
                self.clock.advance(Duration::from_millis(1));
            }
            Action::Crash if self.home.keeps() => self.crash().await,
            Action::Crash => {}
            Action::List { scope, filter, size } => self.list(scope, filter, size).await,
            Action::Leave { stream } => {
                if let Some(stream) = some(stream, self.streams.len()) {
                    self.streams.remove(stream);
                }
            }
            Action::Open { gate } => {
                if let Some(gate) = some(gate, self.waiting.len()) {
                    self.open(gate).await;
                }
            }
            Action::Continue { scope, task, text, context, how } => {
                if let Some(task) = some(task, self.tasks.len()) {
                    self.resume(scope, task, &text, context, how).await;
                }
            }
            Action::Cancel { scope, task } => {
                if let Some(task) = some(task, self.tasks.len()) {
                    self.cancel(scope, task).await;
                }
            }
            Action::Get { scope, task, history } => {
                if let Some(task) = some(task, self.tasks.len()) {
                    self.get(scope, task, history).await;
                }
            }
            Action::Attach { scope, task, behind } => {
                if let Some(task) = some(task, self.tasks.len()) {
                    self.attach(scope, task, behind).await;
                }
            }
        }
    }

    /// In whose name, for which id, and whether the task is seen.
    fn reach(&self, reach: Reach, task: usize) -> (Scope, String, bool) {
        let Known { id, task } = &self.tasks[task];
        match reach {
            Reach::Own => (task.scope, id.clone(), true),
            Reach::Any(scope) => (scope, id.clone(), scope == task.scope),
            Reach::Unknown => (task.scope, NOBODY.to_owned(), false),
        }
    }

    async fn send(&mut self, scope: Scope, text: &Text, context: Option<usize>, how: How) {
        let mut message = Message::new(text.text());
        if let Some(context) = context {
            message = message.context(CONTEXTS[context]);
        }
        if let Some(answer) = text.answer() {
            return self.answered(scope, message, answer, how).await;
        }
        let (result, events) = self.deliver(scope, message, text, how).await;
        let named = caller::context(&result).to_owned();
        assert!(!named.is_empty() && context.is_none_or(|context| named == CONTEXTS[context]));
        let id = caller::id(&result).to_owned();
        assert!(self.tasks.iter().all(|known| known.id != id), "an id is given twice");
        let task = Task::open(scope, named, text, self.now);
        self.tasks.push(Known { id, task });
        self.delivered(self.tasks.len() - 1, text, &result, events).await;
    }

    /// A message that is answered without a task.
    async fn answered(&self, scope: Scope, message: Message, answer: &str, how: How) {
        let caller = self.caller(scope);
        let before = caller.list().await.len();
        let result = if how == How::Stream {
            let mut events = caller.stream(message).await;
            let event = events.next().await.expect("one event");
            assert!(events.next().await.is_none(), "more than one event");
            event.data["result"].clone()
        } else {
            caller.send(message).await
        };
        assert_eq!(result["kind"], "message");
        assert_eq!(caller::text(&result), answer);
        assert!(result.get("taskId").is_none());
        assert_eq!(caller.list().await.len(), before);
    }

    async fn resume(&mut self, reach: Reach, task: usize, text: &Text, named: ContextOf, how: How) {
        let (scope, id, seen) = self.reach(reach, task);
        let known = &self.tasks[task].task;
        let mut message = Message::new(text.text()).task(&id);
        match named {
            ContextOf::None => {}
            ContextOf::Task => message = message.context(&known.context),
            ContextOf::Other => message = message.context("of nobody"),
        }
        let refusal = match named {
            _ if !seen => Some(-32001),
            ContextOf::Other => Some(-32602),
            ContextOf::None | ContextOf::Task => {
                let at_work = known.waiting.is_some();
                (known.state().ends() || at_work).then_some(-32004)
            }
        };
        if let Some(code) = refusal {
            let caller = self.caller(scope);
            if how == How::Stream {
                refused(caller.stream(message).await, code).await;
            } else {
                assert_eq!(caller.code("message/send", message.params()).await, code);
            }
            return self.compare(task).await;
        }
        let (result, events) = self.deliver(scope, message, text, how).await;
        self.tasks[task].task.resume(text, self.now);
        self.delivered(task, text, &result, events).await;
    }

    /// Sends a message that is taken: the task that comes back, and the stream if there is one. A task
    /// that was waited for is returned as it came, to be compared.
    async fn deliver(
        &self,
        scope: Scope,
        message: Message,
        text: &Text,
        how: How,
    ) -> (Value, Option<(u64, Events)>) {
        let caller = self.caller(scope);
        if how == How::Stream {
            let mut events = caller.stream(message).await;
            let first = events.next().await.expect("the task");
            let version = first.id.expect("the id of the task's event");
            return (first.data["result"].clone(), Some((version, events)));
        }
        // A run at a gate would be waited for until the end of days.
        let waits = how == How::Wait && text.when != When::AtGate;
        (caller.ok("message/send", message.blocking(waits).params()).await, None)
    }

    /// Compares what came back with the model, and waits until nothing goes on.
    async fn delivered(
        &mut self,
        task: usize,
        text: &Text,
        result: &Value,
        events: Option<(u64, Events)>,
    ) {
        if text.when != When::Now {
            let gate = self.gates.next().await;
            assert_eq!(gate.task, self.tasks[task].id);
            self.waiting.push((task, gate));
        }
        let Known { id, task: known } = &self.tasks[task];
        let shown = seen::view(result, id, &known.context);
        let opening = known.version_of_last_message();
        let opened = known.view(opening);
        if let Some((version, events)) = events {
            assert_eq!(version, opening);
            assert_eq!(shown, opened, "the event that opens the stream");
            let (until, seen) = (Until::EndedOrAsking, version);
            self.streams.push(Stream { task, events, until, seen });
        } else {
            // A call that does not wait may come back at any point of the run's way.
            let possible = (opening..=known.version()).any(|version| known.view(version) == shown);
            assert!(possible, "{shown:?} was never the state of {known:?}");
        }
        self.settle(task).await;
    }

    async fn cancel(&mut self, reach: Reach, task: usize) {
        let (scope, id, seen) = self.reach(reach, task);
        let ended = self.tasks[task].task.state().ends();
        if !seen || ended {
            let code = self.caller(scope).code("tasks/cancel", json!({ "id": id })).await;
            assert_eq!(code, if seen { -32002 } else { -32001 });
            return self.compare(task).await;
        }
        let result = self.caller(scope).cancel(&id).await;
        let known = &mut self.tasks[task].task;
        known.cancel(self.now);
        assert_eq!(seen::view(&result, &id, &known.context), known.now());
        self.waiting.retain(|(waiting, _)| *waiting != task);
        self.settle(task).await;
    }

    async fn get(&mut self, reach: Reach, task: usize, limit: Option<usize>) {
        let (scope, id, seen) = self.reach(reach, task);
        let params = json!({ "id": id, "historyLength": limit });
        if !seen {
            assert_eq!(self.caller(scope).code("tasks/get", params).await, -32001);
            return;
        }
        let result = self.caller(scope).ok("tasks/get", params).await;
        let known = &self.tasks[task].task;
        let mut view = known.now();
        if let Some(limit) = limit {
            assert_eq!(result.get("history").is_some(), limit > 0, "{result}");
            view.history.drain(..view.history.len().saturating_sub(limit));
        }
        assert_eq!(seen::view(&result, &id, &known.context), view);
    }

    async fn list(&self, scope: Scope, filter: Filter, size: usize) {
        let mut filtered = json!({ "pageSize": size });
        match filter {
            Filter::None => {}
            Filter::Context(context) => filtered["contextId"] = CONTEXTS[context].into(),
            Filter::State(state) => filtered["status"] = state.name().into(),
        }
        let fits = |known: &&Known| {
            known.task.scope == scope
                && match filter {
                    Filter::None => true,
                    Filter::Context(context) => known.task.context == CONTEXTS[context],
                    Filter::State(state) => known.task.state() == state,
                }
        };
        let mut expected: Vec<&Known> = self.tasks.iter().filter(fits).collect();
        expected.sort_by_key(|known| std::cmp::Reverse((known.task.now().at, &known.id)));
        let mut shown = Vec::new();
        loop {
            let page = self.caller(scope).ok("tasks/list", filtered.clone()).await;
            assert_eq!(page["totalSize"], expected.len());
            assert_eq!(page["pageSize"], size);
            let tasks = page["tasks"].as_array().expect("tasks");
            assert!(tasks.len() <= size);
            shown.extend(tasks.iter().cloned());
            let token = page["nextPageToken"].as_str().expect("a token");
            if token.is_empty() {
                break;
            }
            assert_eq!(tasks.len(), size, "a page that is not the last is full");
            filtered["pageToken"] = token.into();
        }
        let ids: Vec<_> = shown.iter().map(caller::id).collect();
        let wanted: Vec<_> = expected.iter().map(|known| known.id.as_str()).collect();
        assert_eq!(ids, wanted);
        for (task, known) in shown.iter().zip(expected) {
            let view = View { artifact: None, ..known.task.now() };
            assert_eq!(seen::view(task, &known.id, &known.task.context), view);
        }
    }

    async fn attach(&mut self, reach: Reach, task: usize, behind: Option<u64>) {
        let (scope, id, seen) = self.reach(reach, task);
        let known = &self.tasks[task].task;
        let version = known.version();
        let last = behind.map(|behind| version.saturating_sub(behind));
        let named = last.map(|last| last.to_string());
        let mut events = self.caller(scope).attach(&id, named.as_deref()).await;
        // What is no version of the task counts as not said.
        let resumed = last.filter(|last| *last >= 1);
        let refusal = match resumed {
            _ if !seen => Some(-32001),
            Some(last) if last < version => None,
            _ => known.state().ends().then_some(-32004),
        };
        if let Some(code) = refusal {
            return refused(events, code).await;
        }
        let until = Until::Ended;
        if resumed.is_none() {
            let first = next(&mut events, &id, &known.context).await;
            assert_eq!(first, Seen::Task { id: version, view: known.now() });
        }
        let seen = resumed.unwrap_or(version);
        self.streams.push(Stream { task, events, until, seen });
        self.pump().await;
    }

    async fn open(&mut self, gate: usize) {
        let (task, gate) = self.waiting.remove(gate);
        self.tasks[task].task.release(self.now);
        gate.open();
        self.settle(task).await;
    }

    /// The server crashes and is started again. Whoever followed a task goes on where it was.
    async fn crash(&mut self) {
        let server = self.server.take().expect("a server");
        server.crash().await;
        for stream in &mut self.streams {
            stream.breaks().await;
        }
        self.waiting.clear();
        self.server = Some(self.home.start(&self.gated, &self.clock).await);
        for task in 0..self.tasks.len() {
            self.tasks[task].task.crash(self.now);
            self.compare(task).await;
        }
        for mut stream in std::mem::take(&mut self.streams) {
            let Known { id, task } = &self.tasks[stream.task];
            let seen = stream.seen.to_string();
            stream.events = self.caller(task.scope).attach(id, Some(&seen)).await;
            stream.until = Until::Ended;
            self.streams.push(stream);
        }
        self.pump().await;
    }

    /// Waits until the task is where the model has it, then compares everything that can be seen.
    async fn settle(&mut self, task: usize) {
        let Known { id, task: known } = &self.tasks[task];
        let (caller, state) = (self.caller(known.scope), known.state().name());
        soon("the state of the model", async {
            while caller::state(&caller.get(id).await) != state {
                tokio::task::yield_now().await;
            }
        })
        .await;
        self.compare(task).await;
        self.pump().await;
    }

    async fn compare(&self, task: usize) {
        let Known { id, task: known } = &self.tasks[task];
        let result = self.caller(known.scope).get(id).await;
        assert_eq!(seen::view(&result, id, &known.context), known.now());
    }

    /// Reads from every stream what it has to show by now; streams that are over must say so.
    async fn pump(&mut self) {
        let mut open = Vec::new();
        for mut stream in std::mem::take(&mut self.streams) {
            let Known { id, task } = &self.tasks[stream.task];
            if stream.goes_on(id, task).await {
                open.push(stream);
            }
        }
        self.streams = open;
    }

    /// Everything comes to its end, and nothing is left.
    async fn end(mut self) {
        for task in 0..self.tasks.len() {
            if !self.tasks[task].task.state().ends() {
                self.cancel(Reach::Own, task).await;
            }
            self.compare(task).await;
        }
        assert!(self.streams.is_empty(), "a stream goes on although all tasks have ended");
        self.server.expect("a server").finish().await;
    }
}
