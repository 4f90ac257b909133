//! What webhooks are told, in which order, how often, and when that ends.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used)]

use a2ad_domain::ports::{Letter, Notice, PushStore, StoreError, TaskStore};
use a2ad_domain::service::{Outbox, Patience, Standing};
use a2ad_domain::testing::sample::{self, piece, status, webhook};
use a2ad_domain::testing::{FakeStore, Fault, ManualClock, Op, Receiver, SequentialIds, poll_now};
use a2ad_domain::{CancelSignal, Change, PushForm, Task, TaskKey, TaskState, Version, WebhookName};
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

struct Post {
    store: Arc<FakeStore>,
    receiver: Receiver,
    clock: ManualClock,
    closing: CancelSignal,
    outbox: Outbox,
}

impl Post {
    fn new() -> Self {
        let (store, receiver) = (Arc::new(FakeStore::new()), Receiver::default());
        let clock = ManualClock::default();
        let outbox = Outbox {
            tasks: store.clone(),
            webhooks: store.clone(),
            sender: Arc::new(receiver.clone()),
            clock: Arc::new(clock.clone()),
            ids: Arc::new(SequentialIds::new()),
            patience: Patience { give_up: DAY, ..Patience::default() },
        };
        Self { store, receiver, clock, closing: CancelSignal::new(), outbox }
    }

    /// A task with a webhook.
    async fn task(&self, form: PushForm) -> WebhookName {
        let key = sample::key(1);
        let task = sample::opened(key.clone(), self.now());
        self.store.insert(&Arc::new(task)).await.unwrap();
        self.set(&key, form).await
    }

    async fn set(&self, key: &TaskKey, form: PushForm) -> WebhookName {
        let mut config = webhook("a", "https://hooks.example/a");
        config.form = form;
        assert!(self.store.set(key, &config, None, 10).await.unwrap());
        let number = self.store.webhooks(key).await.unwrap().last().unwrap().number;
        WebhookName { task: key.clone(), number }
    }

    fn now(&self) -> i64 {
        use a2ad_domain::ports::Clock;
        self.clock.now().as_millis()
    }

    fn happens(&self, change: Change) {
        self.store.commit(&sample::key(1), change, sample::at(self.now()));
    }

    async fn tell(&self, name: &WebhookName) -> Standing {
        self.outbox.tell(name, &self.closing).await.unwrap()
    }

    /// Tells while the clock is moved on whenever somebody waits for it.
    async fn tell_in_time(&self, name: &WebhookName) -> Standing {
        let moving = async {
            loop {
                self.clock.advance_when_awaited(Duration::from_secs(600)).await;
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            standing = self.tell(name) => standing,
            () = moving => unreachable!("it moves for ever"),
        }
    }

    /// The versions that have arrived since the last call.
    fn arrived(&self) -> Vec<u64> {
        let got = self.receiver.take();
        got.iter().map(|(_, notice)| notice.subject().1.0).collect()
    }

    fn tasks(&self) -> Vec<Task> {
        let got = self.receiver.take();
        let tasks = got.into_iter().map(|(_, notice)| match notice {
            Notice::Task(task) => Task::clone(&task),
            Notice::Change { change, .. } => panic!("{change:?} instead of the task"),
        });
        tasks.collect()
    }
}

#[tokio::test]
async fn every_status_and_artifact_is_told_once_in_order() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.happens(piece("out", "one", false));
    assert_eq!(post.tell(&name).await, Standing::Waits);
    assert_eq!(post.arrived(), [2, 3]);
    post.happens(piece("out", "two", true));
    // What the user says is no news to the user.
    post.happens(Change::Message(Arc::new(sample::message("m", "hm"))));
    assert_eq!(post.tell(&name).await, Standing::Waits);
    assert_eq!(post.arrived(), [4]);
    post.happens(status(TaskState::Completed));
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!(post.arrived(), [6]);
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!(post.receiver.attempts(), 4);
    assert_eq!(post.store.open().await.unwrap(), []);
}

#[tokio::test]
async fn more_than_a_page_is_told_to_its_end() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    for number in 0..200 {
        post.happens(piece("out", "x", number > 0));
    }
    post.happens(status(TaskState::Completed));
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!(post.arrived(), (2..=203).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_old_line_is_told_the_task_as_it_was_at_each_status() {
    let post = Post::new();
    let name = post.task(PushForm::Line03).await;
    let first = post.store.task(&name.task).unwrap();
    let mut wanted = Vec::new();
    let said = status(TaskState::Working);
    let steps = [
        said.clone(),
        piece("out", "one", false),
        said,
        piece("out", "two", false),
        piece("b", "", false),
    ];
    let mut task = Task::clone(&first);
    for step in steps.into_iter().chain([status(TaskState::Completed)]) {
        let is_status = matches!(step, Change::Status(_));
        post.happens(step.clone());
        task.apply(step, sample::at(post.now())).unwrap();
        if is_status {
            wanted.push(task.clone());
        }
    }
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!(post.tasks(), wanted);
    assert_eq!(wanted[1].artifacts().len(), 1, "the second status is from between the artifacts");
}

#[tokio::test]
async fn what_the_log_has_forgotten_is_told_by_the_task_as_it_is() {
    for form in PushForm::ALL {
        let post = Post::new();
        let name = post.task(form).await;
        post.happens(status(TaskState::Working));
        post.happens(status(TaskState::Working));
        post.store.forget_log(&name.task);
        assert_eq!(post.tell(&name).await, Standing::Waits);
        assert_eq!(post.tasks(), [Task::clone(&post.store.task(&name.task).unwrap())]);
        assert_eq!(post.store.due().await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_is_tried_again_with_growing_pauses() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.happens(status(TaskState::Completed));
    post.receiver.fail(4, Duration::ZERO);
    let mut telling = Box::pin(post.tell(&name));
    for (attempt, pause) in [1, 2, 4, 8].into_iter().enumerate() {
        assert!(poll_now(&mut telling).await.is_none());
        assert_eq!(post.receiver.attempts(), attempt + 1);
        // By chance it is a half at least, and never longer.
        post.clock.advance(Duration::from_millis(pause * 500 - 1));
        assert!(poll_now(&mut telling).await.is_none());
        assert_eq!(post.receiver.attempts(), attempt + 1, "too early");
        post.clock.advance(Duration::from_millis(pause * 500 + 1));
    }
    assert_eq!(poll_now(&mut telling).await, Some(Standing::Over));
    drop(telling);
    assert_eq!(post.arrived(), [2, 3]);
}

#[tokio::test]
async fn a_webhook_that_asks_for_time_gets_it() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.receiver.fail(1, Duration::from_secs(90));
    let mut telling = Box::pin(post.tell(&name));
    assert!(poll_now(&mut telling).await.is_none());
    post.clock.advance(Duration::from_secs(89));
    assert!(poll_now(&mut telling).await.is_none());
    post.clock.advance(Duration::from_secs(1));
    assert_eq!(poll_now(&mut telling).await, Some(Standing::Waits));
}

#[tokio::test]
async fn what_gets_too_old_is_given_up_and_the_rest_goes_on() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.receiver.fail(10_000, Duration::ZERO);
    assert_eq!(post.tell_in_time(&name).await, Standing::Waits);
    let attempts = post.receiver.attempts();
    assert!(attempts > 100, "{attempts} attempts in a day");
    let letters = post.store.letters(&name);
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].version, letters[0].why.as_str()), (Version(2), "no answer"));
    assert!(letters[0].at.since(sample::at(post.now())) < DAY);
    assert!(post.arrived().is_empty());
    // What is that old already when its turn comes has one attempt.
    post.happens(status(TaskState::Working));
    post.clock.advance(DAY);
    assert_eq!(post.tell(&name).await, Standing::Waits);
    assert_eq!(post.receiver.attempts(), attempts + 1);
    assert_eq!(post.store.letters(&name).len(), 2);
}

#[tokio::test]
async fn what_is_refused_for_good_is_not_tried_again() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.happens(status(TaskState::Completed));
    post.receiver.refuse();
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!((post.arrived(), post.receiver.attempts()), (vec![3], 2));
    let why: Vec<String> = post.store.letters(&name).into_iter().map(|l: Letter| l.why).collect();
    assert_eq!(why, ["the receiver has answered 400"]);
}

#[tokio::test]
async fn what_was_given_up_is_told_when_somebody_asks_for_it() {
    for form in [PushForm::Line1, PushForm::Line03] {
        let post = Post::new();
        let name = post.task(form).await;
        post.happens(status(TaskState::Working));
        post.happens(status(TaskState::Completed));
        post.receiver.refuse();
        post.receiver.refuse();
        assert_eq!(post.tell(&name).await, Standing::Over);
        post.store.send_again(&name);
        assert_eq!(post.store.due().await.unwrap(), std::slice::from_ref(&name));
        post.receiver.refuse();
        assert_eq!(post.tell(&name).await, Standing::Over);
        let letters = post.store.letters(&name);
        assert_eq!(letters.iter().map(|letter| letter.version.0).collect::<Vec<_>>(), [2]);
        assert_eq!(post.arrived(), [3]);
        post.store.send_again(&name);
        assert_eq!(post.tell(&name).await, Standing::Over);
        assert_eq!((post.arrived(), post.store.letters(&name)), (vec![2], vec![]));
    }
}

#[tokio::test]
async fn a_webhook_that_is_deleted_or_replaced_is_not_tried_again() {
    for replaced in [false, true] {
        let post = Post::new();
        let name = post.task(PushForm::Line1).await;
        post.happens(status(TaskState::Working));
        post.receiver.fail(1, Duration::ZERO);
        let mut telling = Box::pin(post.tell(&name));
        assert!(poll_now(&mut telling).await.is_none());
        let id = post.store.webhooks(&name.task).await.unwrap()[0].config.id.clone();
        if replaced {
            let next = post.set(&name.task, PushForm::Line1).await;
            assert_eq!(post.store.due().await.unwrap(), [next]);
        } else {
            post.store.delete(&name.task, &id).await.unwrap();
        }
        post.clock.advance(Duration::from_secs(1));
        assert_eq!(poll_now(&mut telling).await, Some(Standing::Over));
        assert_eq!(post.receiver.attempts(), 1);
    }
}

#[tokio::test]
async fn a_server_that_is_about_to_end_does_not_wait_and_tells_what_it_can() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.receiver.fail(1, Duration::ZERO);
    let mut telling = Box::pin(post.tell(&name));
    assert!(poll_now(&mut telling).await.is_none());
    post.closing.raise();
    assert_eq!(poll_now(&mut telling).await, Some(Standing::PutOff));
    drop(telling);
    assert_eq!(post.store.due().await.unwrap(), std::slice::from_ref(&name));
    assert_eq!(post.tell(&name).await, Standing::Waits);
    assert_eq!(post.arrived(), [2]);
}

#[tokio::test]
async fn a_store_that_fails_costs_nothing_but_a_second_notice() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    for op in [Op::Load, Op::ChangesAfter] {
        post.store.script(op, [Fault::Down]);
        let failed = post.outbox.tell(&name, &post.closing).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
    }
    assert_eq!(post.tell(&name).await, Standing::Waits);
    assert_eq!(post.arrived(), [2]);
}

#[tokio::test]
async fn a_task_that_is_gone_has_nothing_to_tell() {
    let post = Post::new();
    let name = post.task(PushForm::Line1).await;
    post.happens(status(TaskState::Working));
    post.store.remove(&name.task);
    assert_eq!(post.tell(&name).await, Standing::Over);
    assert_eq!(post.receiver.attempts(), 0);
}
