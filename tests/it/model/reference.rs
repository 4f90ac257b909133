//! The reference model: what a task server does, in as few lines as it can be said. It shares nothing
//! with the server.

/// A task's state, by its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
}

use State::{
    AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working,
};

impl State {
    pub(super) const ALL: [State; 8] =
        [Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected];

    pub(super) fn name(self) -> &'static str {
        match self {
            Submitted => "submitted",
            Working => "working",
            InputRequired => "input-required",
            AuthRequired => "auth-required",
            Completed => "completed",
            Failed => "failed",
            Canceled => "canceled",
            Rejected => "rejected",
        }
    }

    pub(super) fn ends(self) -> bool {
        matches!(self, Completed | Failed | Canceled | Rejected)
    }
}

/// What a message asks the agent to do.
#[derive(Clone, Debug)]
pub(super) enum Command {
    Echo(String),
    /// Answered without a task when it opens one; an echo otherwise.
    Say(String),
    Ask(String),
    Reject(String),
    Fail,
    Chunks(usize, String),
}

/// When the agent does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At once.
    Now,
    /// When the test lets it.
    AtGate,
    /// When the test lets it; until then the task requires authentication.
    AtAuthGate,
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) when: When,
    pub(super) command: Command,
}

impl Command {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Echo(word) => format!("plain {word}"),
            Self::Say(word) => format!("say {word}"),
            Self::Ask(word) => format!("ask {word}"),
            Self::Reject(word) => format!("reject {word}"),
            Self::Fail => "fail".to_owned(),
            Self::Chunks(count, word) => format!("chunks {count} {word}"),
        }
    }
}

impl Text {
    pub(super) fn text(&self) -> String {
        let command = self.command.text();
        match self.when {
            When::Now => command,
            When::AtGate => format!("gate {command}"),
            When::AtAuthGate => format!("auth-gate {command}"),
        }
    }

    /// The words of an agent that answers without a task.
    pub(super) fn answer(&self) -> Option<&str> {
        match (&self.command, self.when) {
            (Command::Say(word), When::Now) => Some(word),
            _ => None,
        }
    }
}

/// Who asks whom: nobody sees anything of another pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) agent: usize,
    pub(super) owner: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Message(&'static str, String),
    Status(State, Option<String>),
    Piece { text: String, append: bool, last: bool },
}

/// A task as a client sees it. An artifact is its text, and there is one at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) state: State,
    pub(super) at: i64,
    pub(super) status_text: Option<String>,
    pub(super) history: Vec<(String, String)>,
    pub(super) artifact: Option<String>,
}

/// An event of a stream as a client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Task { id: u64, view: View },
    Status { id: u64, state: State, at: i64, text: Option<String>, last: bool },
    Piece { id: u64, text: String, append: bool, last: bool },
}

/// How far a stream goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    Ended,
    EndedOrAsking,
}

impl Until {
    pub(super) fn reached(self, state: State) -> bool {
        state.ends() || self == Self::EndedOrAsking && state == InputRequired
    }
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) scope: Scope,
    pub(super) context: String,
    /// What the agent does once the test lets it.
    pub(super) waiting: Option<Command>,
    /// All changes with their times; the first is the message that opened the task.
    changes: Vec<(i64, Change)>,
}

impl Task {
    pub(super) fn open(scope: Scope, context: String, text: &Text, now: i64) -> Self {
        let opened = Change::Message("user", text.text());
        let mut task = Self { scope, context, waiting: None, changes: vec![(now, opened)] };
        task.run(text, now);
        task
    }

    pub(super) fn resume(&mut self, text: &Text, now: i64) {
        self.changes.push((now, Change::Message("user", text.text())));
        self.changes.push((now, Change::Status(Working, None)));
        self.run(text, now);
    }

    fn run(&mut self, text: &Text, now: i64) {
        let gated = match text.when {
            When::Now => return self.perform(&text.command, now),
            When::AtGate => Change::Status(Working, None),
            When::AtAuthGate => Change::Status(AuthRequired, Some("papers".to_owned())),
        };
        if !matches!(gated, Change::Status(Working, _)) || self.state() != Working {
            self.changes.push((now, gated));
        }
        self.waiting = Some(text.command.clone());
    }

    pub(super) fn release(&mut self, now: i64) {
        if let Some(command) = self.waiting.take() {
            self.perform(&command, now);
        }
    }

    pub(super) fn cancel(&mut self, now: i64) {
        self.waiting = None;
        self.changes.push((now, Change::Status(Canceled, None)));
    }

    /// The server crashes: nobody works on what was worked on, and what waits for its client waits on.
    pub(super) fn crash(&mut self, now: i64) {
        if self.waiting.take().is_some() {
            let why = "The server ended before the agent had finished.".to_owned();
            self.changes.push((now, Change::Status(Failed, Some(why))));
        }
    }

    fn perform(&mut self, command: &Command, now: i64) {
        let mut push = |change| self.changes.push((now, change));
        let piece = |text: &str| Change::Piece { text: text.to_owned(), append: false, last: true };
        if !matches!(command, Command::Reject(_)) {
            push(Change::Status(Working, None));
        }
        match command {
            Command::Echo(_) | Command::Say(_) => {
                push(piece(&command.text()));
                push(Change::Message("agent", command.text()));
                push(Change::Status(Completed, None));
            }
            Command::Ask(word) => push(Change::Status(InputRequired, Some(word.clone()))),
            Command::Reject(word) => push(Change::Status(Rejected, Some(word.clone()))),
            Command::Fail => {
                push(piece("before the failure"));
                push(Change::Status(Failed, Some("failed".to_owned())));
            }
            Command::Chunks(count, word) => {
                let cut = |index| word.len() * index / count;
                for index in 0..*count {
                    let text = word[cut(index)..cut(index + 1)].to_owned();
                    let (append, last) = (index > 0, index + 1 == *count);
                    push(Change::Piece { text, append, last });
                }
                push(Change::Status(Completed, None));
            }
        }
        self.drop_idle_words();
    }

    /// An agent that is at work already does not say so again.
    fn drop_idle_words(&mut self) {
        let mut state = Submitted;
        self.changes.retain(|(_, change)| match change {
            Change::Status(Working, None) if state == Working => false,
            Change::Status(next, _) => {
                state = *next;
                true
            }
            Change::Message(..) | Change::Piece { .. } => true,
        });
    }

    pub(super) fn version(&self) -> u64 {
        self.changes.len() as u64
    }

    pub(super) fn state(&self) -> State {
        self.view(self.version()).state
    }

    pub(super) fn now(&self) -> View {
        self.view(self.version())
    }

    /// The task as it was at a version.
    pub(super) fn view(&self, version: u64) -> View {
        let version = usize::try_from(version).unwrap_or(usize::MAX);
        let mut view = View {
            state: Submitted,
            at: self.changes[0].0,
            status_text: None,
            history: Vec::new(),
            artifact: None,
        };
        for (at, change) in &self.changes[..version] {
            if !matches!(change, Change::Piece { .. })
                && let Some(said) = view.status_text.take()
            {
                view.history.push(("agent".to_owned(), said));
            }
            match change {
                Change::Message(role, text) => {
                    view.history.push(((*role).to_owned(), text.clone()));
                }
                Change::Status(state, text) => {
                    (view.state, view.at) = (*state, *at);
                    view.status_text.clone_from(text);
                }
                Change::Piece { text, append: true, .. } => {
                    view.artifact.get_or_insert_default().push_str(text);
                }
                Change::Piece { text, append: false, .. } => view.artifact = Some(text.clone()),
            }
        }
        view
    }

    /// The version that the answer to the last message shows first: before the agent said anything.
    pub(super) fn version_of_last_message(&self) -> u64 {
        let users = |(_, change): &(i64, Change)| matches!(change, Change::Message("user", _));
        let last = self.changes.iter().rposition(users).unwrap_or(0) as u64;
        // A message that continues a task comes with the status that says so.
        if last == 0 { 1 } else { last + 2 }
    }

    /// What a stream shows of the changes after `seen`.
    pub(super) fn events_after(&self, seen: u64, until: Until) -> Vec<Seen> {
        let mut events = Vec::new();
        for (index, (at, change)) in self.changes.iter().enumerate() {
            let (id, at) = (index as u64 + 1, *at);
            if id <= seen {
                continue;
            }
            match change {
                Change::Message(..) => {}
                Change::Piece { text, append, last } => {
                    let (text, append, last) = (text.clone(), *append, *last);
                    events.push(Seen::Piece { id, text, append, last });
                }
                Change::Status(state, text) => {
                    let (state, text, last) = (*state, text.clone(), until.reached(*state));
                    events.push(Seen::Status { id, state, at, text, last });
                    if last {
                        break;
                    }
                }
            }
        }
        events
    }
}
