//! Agents that say `on_crash = "retry"`: what was at work when the server was killed begins again when the
//! next one starts, before anybody asks.

use super::{Place, kill, ok};
use crate::drain::process::Process;
use crate::support::agents::soon;
use crate::support::caller::{Message, artifact, id, request, state, status_text};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Servers over one file, one after the other, whose agent is a program that the test holds by a
/// connection.
struct Stage {
    place: Place,
    programs: TcpListener,
}

impl Stage {
    async fn new(name: &str) -> Self {
        let programs = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self { place: Place::new(name), programs }
    }

    /// Starts a server whose program says its attempt, waits for a word and gives it back.
    async fn start(&self, settings: &str) -> Process {
        let port = self.programs.local_addr().expect("an address").port();
        let script = format!(
            r#"printf 'attempt %s, ' "$A2A_ATTEMPT"
            exec 9<>/dev/tcp/127.0.0.1/{port}
            echo "$A2A_ATTEMPT" >&9
            read -r word <&9
            printf '%s' "$word""#
        );
        let config = format!(
            "[store]\nkind = \"sqlite\"\npath = \"{}\"\n\
             [[agent]]\nid = \"script\"\nexecutor = {{ kind = \"script\" }}\non_crash = \"retry\"\n\
             [[agent]]\nid = \"program\"\non_crash = \"retry\"\n{settings}\n\
             [agent.executor]\nkind = \"command\"\nprogram = \"bash\"\nargs = [\"-c\", '''{script}''']\n",
            self.place.file().display()
        );
        Process::start(&config, "error").await
    }

    /// The next program that comes up, which goes on when it is told a word or dropped, and what it says
    /// its attempt is.
    async fn program(&self) -> (BufReader<TcpStream>, u32) {
        let (program, _) = soon("a program", self.programs.accept()).await.expect("a connection");
        let mut program = BufReader::new(program);
        let mut line = String::new();
        soon("its attempt", program.read_line(&mut line)).await.expect("a line");
        (program, line.trim().parse().expect("a number"))
    }
}

async fn ask(process: &Process, method: &str, params: Value) -> Value {
    let body = request(method, &params).to_string();
    let (_, mut answer) = process.raw("program", body).await;
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

/// Opens a task without waiting for it, and gives its id.
async fn open(process: &Process) -> String {
    let task = ask(process, "message/send", Message::new("go").blocking(false).params()).await;
    id(&task).to_owned()
}

#[tokio::test]
async fn a_program_that_was_at_work_is_started_again_and_told_its_attempt() {
    let stage = Stage::new("retry").await;
    let mut process = stage.start("").await;
    let task = open(&process).await;
    for attempt in 1..=3 {
        let (mut program, said) = stage.program().await;
        assert_eq!(said, attempt);
        if attempt < 3 {
            kill(process).await;
            // Nobody asks the next server for anything: the program comes up by itself.
            process = stage.start("").await;
        } else {
            program.write_all(b"done\n").await.expect("a program");
        }
    }
    let events = process.resume_of("program", &task, "1").await.collect().await;
    let numbers: Vec<u64> = events.iter().map(|event| event.id.expect("a number")).collect();
    assert_eq!(numbers, (2..2 + numbers.len() as u64).collect::<Vec<_>>());
    let done = ask(&process, "tasks/get", json!({ "id": task })).await;
    assert_eq!((state(&done), artifact(&done)), ("completed", "attempt 3, done".to_owned()));
    kill(process).await;
    let process = stage.start("").await;
    assert_eq!(ask(&process, "tasks/get", json!({ "id": task })).await, done);
    kill(process).await;
}

#[tokio::test]
async fn a_task_that_outlives_no_server_fails_after_its_last_attempt() {
    let stage = Stage::new("attempts").await;
    let settings = "max_attempts = 2";
    let mut process = stage.start(settings).await;
    let task = open(&process).await;
    for attempt in 1..=2 {
        let (_program, said) = stage.program().await;
        assert_eq!(said, attempt);
        kill(process).await;
        process = stage.start(settings).await;
    }
    let failed = ask(&process, "tasks/get", json!({ "id": task })).await;
    assert_eq!(state(&failed), "failed");
    assert_eq!(status_text(&failed), "The server ended 2 times before the agent had finished.");
    kill(process).await;
}

#[tokio::test]
async fn a_question_stays_and_its_answer_begins_again_like_any_turn() {
    let stage = Stage::new("question").await;
    let process = stage.start("").await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    kill(process).await;
    let process = stage.start("").await;
    assert_eq!(ok(&process, "tasks/get", json!({ "id": id(&asked) })).await, asked);
    let answer = Message::new("hang").task(id(&asked)).blocking(false).params();
    ok(&process, "message/send", answer).await;
    kill(process).await;
    // Now the answer is at work, and it begins again as one.
    let process = stage.start("").await;
    let at_work = ok(&process, "tasks/get", json!({ "id": id(&asked) })).await;
    assert_eq!(state(&at_work), "working");
    let canceled = ok(&process, "tasks/cancel", json!({ "id": id(&asked) })).await;
    assert_eq!(state(&canceled), "canceled");
    kill(process).await;
}

#[tokio::test]
async fn a_task_whose_time_was_up_meanwhile_is_ended_by_its_deadline() {
    let stage = Stage::new("overdue").await;
    // The first server lets it go on past its deadline.
    let process = stage.start("deadline = \"1ms\"\non_overdue = \"report\"").await;
    let task = open(&process).await;
    let (_program, said) = stage.program().await;
    assert_eq!(said, 1);
    soon("the deadline", async {
        while ask(&process, "tasks/list", json!({ "overdue": true })).await["totalSize"] != 1 {}
    })
    .await;
    kill(process).await;
    let process = stage.start("deadline = \"1ms\"").await;
    let failed = ask(&process, "tasks/get", json!({ "id": task })).await;
    assert_eq!(state(&failed), "failed");
    assert_eq!(status_text(&failed), "The agent did not finish within 1 ms.");
    kill(process).await;
}
