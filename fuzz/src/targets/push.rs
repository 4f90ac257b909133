//! Webhooks: a conversation of the calls about them and of messages. What was set is told back, what was deleted is
//! gone, nobody else's is told or changed, and the receiver hears of the changes since, each in its turn.

mod calls;
mod deliveries;
mod model;

use crate::agent::Walker;
use crate::checks;
use crate::conversation::Answer;
use crate::json;
use crate::world::{self, CAPACITY, Stores, WEBHOOKS, World, open};
use a2ad_domain::{TaskId, TaskKey};
use a2ad_http::{Access, Front};
use a2ad_store::Capacity;
use calls::{Call, Named, Wanted, Way, Who};
use model::{Life, Task, is_plain};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How many lines of an input are followed.
const MOST_STEPS: usize = 20;
/// So much that no change is lost before its webhooks were told of it.
const ROOMY: Capacity = Capacity { tasks: 64, log: 1024, ..CAPACITY };
/// A task that there is not.
const NOBODYS: &str = "917f7b3c-c641-49c9-a776-1d5dd104301a";

/// Each line is a call: a letter for what is called, one for who calls, one for the line and binding, one for the
/// task, and the words that the call needs.
pub(super) fn run(input: &[u8]) {
    world::over_both(ROOMY, |stores| converse(input, stores));
}

async fn converse(input: &[u8], stores: Stores) -> Vec<String> {
    let by = Arc::new(Named);
    let access = Access::Guarded { by, share_tasks: false };
    let own = Front { access, ..open("own", Walker) };
    let world = World::new(stores, vec![open("walk", Walker), own]);
    let mut talk = Talk { world, tasks: Vec::new(), told: Vec::new() };
    for line in String::from_utf8_lossy(input).lines().take(MOST_STEPS) {
        talk.step(line).await;
    }
    talk.settle().await;
    for task in &talk.tasks {
        talk.check_everywhere(task).await;
    }
    deliveries::check(&talk).await;
    // Webhooks do not wait for each other.
    let mut heard = talk.world.receiver.heard();
    heard.sort_by_key(|heard| (heard.task.clone(), heard.config.id.to_string()));
    talk.told.extend(heard.iter().map(|heard| {
        let body = String::from_utf8_lossy(&heard.body);
        format!("{} {} {body}", heard.config.id, heard.version)
    }));
    talk.world.finish().await;
    talk.told
}

/// A conversation so far, and what must have come of it.
struct Talk {
    world: World,
    tasks: Vec<Task>,
    told: Vec<String>,
}

/// A line that was read.
struct Step<'a> {
    who: Who,
    way: Way,
    /// Which of the tasks, where there are any.
    task: Option<usize>,
    words: &'a str,
}

impl Talk {
    async fn step(&mut self, line: &str) {
        let (&[what, who, way, task], Some(words)) =
            (line.as_bytes().first_chunk().unwrap_or(&[0; 4]), line.get(4..))
        else {
            return;
        };
        let who = Who::ALL[usize::from(who) % Who::ALL.len()];
        let way = Way::ALL[usize::from(way) % Way::ALL.len()].for_caller(who);
        let task = usize::from(task).checked_rem(self.tasks.len());
        let step = Step { who, way, task, words: words.trim_start_matches(' ') };
        match (what, task) {
            (b'o', _) => self.send(&step, false).await,
            (b'f', Some(_)) => self.send(&step, true).await,
            (b's', Some(task)) => self.set(&step, task).await,
            (b'd', Some(task)) => self.delete(&step, task).await,
            (b'g', Some(task)) => self.get(&step, task).await,
            (b'c', Some(task)) => {
                self.ask(way, who, &self.tasks[task].id, &Call::Cancel).await;
            }
            (b'w', _) => tokio::time::sleep(Duration::from_secs(3)).await,
            _ => return,
        }
        if let Some(task) = task {
            self.check_list(&self.tasks[task], way.for_caller(self.tasks[task].who)).await;
        }
    }

    /// A message; what follows a bar is a webhook that it brings along.
    async fn send(&mut self, step: &Step<'_>, follows: bool) {
        let (text, webhook) = match step.words.split_once('|') {
            Some((text, words)) => (text, Some(Wanted::read(words))),
            None => (step.words, None),
        };
        let id = step.task.filter(|_| follows).map(|task| self.tasks[task].id.clone());
        let id = id.unwrap_or_default();
        let version = if follows { self.version(&id).await } else { 1 };
        let begin = self.world.receiver.ticks();
        let call = Call::Send { text, follows, webhook: webhook.as_ref() };
        let answer = self.say(step, &id, &call).await;
        let Ok(said) = answer else { return };
        let said = said.get("task").unwrap_or(&said);
        let Some(id) = said["id"].as_str().filter(|_| said.get("status").is_some()) else { return };
        if !self.tasks.iter().any(|task| task.id == id) {
            self.tasks.push(Task::new(step.who, id));
        }
        let task = self.tasks.iter().position(|task| task.id == id).expect("just added");
        assert_eq!(self.tasks[task].who, step.who, "a message for somebody else's task");
        let Some(wanted) = webhook else { return };
        let name = match &wanted.id {
            Some(name) => name.clone(),
            None => self.unknown_name(task).await,
        };
        let during = (begin, self.world.receiver.ticks());
        let life = Life::new(wanted, step.way.form(), (version, version), during);
        self.tasks[task].set(name, life);
    }

    async fn set(&mut self, step: &Step<'_>, task: usize) {
        let Task { who, id, .. } = &self.tasks[task];
        let (is_own, id) = (*who == step.who, id.clone());
        let wanted = Wanted::read(step.words);
        let known = wanted.id.as_ref().is_some_and(|name| self.tasks[task].find(name).is_some());
        let has_room = known || self.tasks[task].hooks.len() < WEBHOOKS;
        let before = (self.world.receiver.ticks(), self.version(&id).await);
        let answer = self.say(step, &id, &Call::Set(&wanted)).await;
        let after = (self.world.receiver.ticks(), self.version(&id).await);
        let told = match answer {
            Ok(told) => told,
            Err(error) => {
                let reason = "a good webhook was refused";
                assert!(!(is_own && has_room && is_plain(&wanted)), "{reason}: {error} {wanted:?}");
                return;
            }
        };
        assert!(is_own, "somebody else's task got a webhook");
        assert!(has_room, "more webhooks than there may be");
        let members = told.get("pushNotificationConfig").unwrap_or(&told);
        let name = members["id"].as_str().expect("a webhook has an id").to_owned();
        match &wanted.id {
            Some(wanted) => assert_eq!(*wanted, name),
            None => assert!(self.tasks[task].find(&name).is_none(), "an id that was there"),
        }
        assert_eq!(told, step.way.told(&id, &name, &wanted));
        let life = Life::new(wanted, step.way.form(), (before.1, after.1), (before.0, after.0));
        self.tasks[task].set(name, life);
    }

    async fn delete(&mut self, step: &Step<'_>, task: usize) {
        let Some(name) = Wanted::read(step.words).id else { return };
        let id = self.tasks[task].id.clone();
        let begin = self.world.receiver.ticks();
        let answer = self.say(step, &id, &Call::Delete(&name)).await;
        let is_own = self.tasks[task].who == step.who;
        assert_eq!(answer.is_ok(), is_own, "deleted by its owner, whether it was there or not");
        if is_own {
            let end = (begin, self.world.receiver.ticks());
            self.tasks[task].delete(&name, end);
        }
    }

    async fn get(&mut self, step: &Step<'_>, task: usize) {
        let name = Wanted::read(step.words).id;
        // Only these can leave it out.
        if name.is_none() && (!step.way.is_old() || step.way.is_rest()) {
            return;
        }
        let id = self.tasks[task].id.clone();
        let answer = self.say(step, &id, &Call::Get(name.as_deref())).await;
        let task = &self.tasks[task];
        let hook = task.named(name.as_deref()).filter(|_| task.who == step.who);
        let expected = hook.map(|hook| step.way.told(&id, &hook.name, &hook.life().wanted));
        assert_eq!(answer.ok(), expected);
    }

    /// The only webhook of a task that is not known.
    async fn unknown_name(&self, task: usize) -> String {
        let task = &self.tasks[task];
        let listed = self.ask(Way::NewRpc, task.who, &task.id, &Call::List).await;
        let listed = outcome(Way::NewRpc, &listed).expect("a list");
        let names = listed["configs"].as_array().expect("webhooks").iter();
        let names = names.filter_map(|webhook| webhook["id"].as_str());
        let unknown: Vec<&str> = names.filter(|name| task.find(name).is_none()).collect();
        let [name] = unknown[..] else { panic!("one new webhook: {unknown:?}") };
        name.to_owned()
    }

    /// Calls, and remembers the answer for the other store.
    async fn say(&mut self, step: &Step<'_>, task: &str, call: &Call<'_>) -> Result<Value, Value> {
        let answer = self.ask(step.way, step.who, task, call).await;
        self.told.push(answer.masked());
        outcome(step.way, &answer)
    }

    async fn ask(&self, way: Way, who: Who, task: &str, call: &Call<'_>) -> Answer {
        let asked = way.asked(who, task, call);
        let answer = Answer::read(self.world.call(asked.request()).await).await;
        checks::answer(&asked, &answer);
        answer
    }

    async fn key(&self, id: &str) -> TaskKey {
        let id = TaskId::parse(id).expect("the id of a task");
        self.world.stores.tasks.find(id).await.expect("a task that is kept")
    }

    async fn version(&self, id: &str) -> u64 {
        let key = self.key(id).await;
        self.world.stores.tasks.load(&key).await.expect("a task that is kept").version().0
    }

    /// Waits until every run has ended or waits, and nobody is to be told anything.
    async fn settle(&self) {
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_secs(300)).await;
            if self.world.stores.webhooks.due().await.expect("a list").is_empty() {
                return;
            }
        }
        panic!("a webhook is not told in the end");
    }

    /// The webhooks of a task are told back as they were set.
    async fn check_list(&self, task: &Task, way: Way) {
        let answer = self.ask(way, task.who, &task.id, &Call::List).await;
        let listed = outcome(way, &answer).expect("a list");
        let listed = listed.get("configs").unwrap_or(&listed);
        assert_eq!(*listed, Value::Array(task.told(way)), "{way:?}");
    }

    /// So they are in every line and binding, whole and one by one; and nobody else sees anything of them.
    async fn check_everywhere(&self, task: &Task) {
        for way in Way::ALL.map(|way| way.for_caller(task.who)) {
            self.check_list(task, way).await;
            for (hook, expected) in task.hooks.iter().zip(task.told(way)) {
                let answer = self.ask(way, task.who, &task.id, &Call::Get(Some(&hook.name))).await;
                assert_eq!(outcome(way, &answer), Ok(expected));
            }
            for hook in task.gone.iter().filter(|hook| task.find(&hook.name).is_none()) {
                let name = Some(&*hook.name);
                let answer = self.ask(way, task.who, &task.id, &Call::Get(name)).await;
                let expected =
                    task.named(name).map(|it| way.told(&task.id, &it.name, &it.life().wanted));
                assert_eq!(outcome(way, &answer).ok(), expected, "deleted and there");
            }
            for who in Who::ALL.into_iter().filter(|who| *who != task.who) {
                self.check_unseen(task, way.for_caller(who), who).await;
            }
        }
        for way in [Way::NewRpc, Way::NewRest, Way::OldRest] {
            self.check_pages(task, way).await;
        }
    }

    /// To others the task is one that there is not.
    async fn check_unseen(&self, task: &Task, way: Way, who: Who) {
        let name = task.hooks.first().map_or("x", |hook| &hook.name);
        for call in [Call::Get(Some(name)), Call::List] {
            let theirs = self.ask(way, who, &task.id, &call).await;
            let nobodys = self.ask(way, who, NOBODYS, &call).await;
            assert!(outcome(way, &theirs).is_err(), "somebody else's webhook is told");
            assert_eq!(theirs.masked().replace(&task.id, NOBODYS), nobodys.masked());
        }
    }

    /// Page by page they are the same.
    async fn check_pages(&self, task: &Task, way: Way) {
        let (mut token, mut listed) = (String::new(), Vec::new());
        for _ in 0..=WEBHOOKS {
            let answer = self.ask(way, task.who, &task.id, &Call::Page(&token)).await;
            let page = outcome(way, &answer).expect("a page");
            let webhooks = page["configs"].as_array().expect("webhooks");
            assert!(webhooks.len() <= 1);
            listed.extend(webhooks.iter().cloned());
            match page["nextPageToken"].as_str().filter(|token| !token.is_empty()) {
                Some(next) => next.clone_into(&mut token),
                None => break,
            }
        }
        assert_eq!(listed, task.told(way), "{way:?}");
    }
}

/// The result of a call, or its error.
fn outcome(way: Way, answer: &Answer) -> Result<Value, Value> {
    let value = if answer.body.is_empty() { Some(Value::Null) } else { json::value(&answer.body) };
    let mut value = value.expect("an answer that a tree of values can hold");
    if way.is_rest() {
        return if answer.status.is_success() { Ok(value) } else { Err(value) };
    }
    match value.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(value),
    }
}
