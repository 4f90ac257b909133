//! Requests as an input writes them, and answers as they come.
//!
//! Requests are set apart by lines of three dashes. A request is a line with verb and address, lines of headers,
//! an empty line, and a body. `$t`, `$p` and `$e` stand for the newest task, page token and event of the answers
//! so far, as they do in the golden files, and `$f` for a folder with files, where there is one.

use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use serde_json::Value;
use std::fmt::Write;

/// How many pieces of a stream are read.
const MOST_PIECES: usize = 40;

/// How the id of a message begins that had none.
const MADE_UP: &str = "\"messageId\":\"msg-";

/// What was seen in answers.
#[derive(Default)]
pub(crate) struct Seen {
    task: String,
    page: String,
    event: String,
    folder: String,
}

/// A request.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// An answer that was read, or as much of a stream as it takes.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The texts of the requests of an input.
pub(crate) fn split(input: &[u8]) -> Vec<Vec<u8>> {
    let mut requests = vec![Vec::new()];
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        if line == b"---\n" {
            requests.push(Vec::new());
        } else if let Some(request) = requests.last_mut() {
            request.extend_from_slice(line);
        }
    }
    requests
}

impl Seen {
    /// Nothing so far, with a folder that requests may name.
    pub(crate) fn of(folder: String) -> Self {
        Self { folder, ..Self::default() }
    }

    /// The request of a text; `None` where there is none.
    pub(crate) fn request(&self, text: &[u8]) -> Option<Asked> {
        let text = self.filled(text);
        let mut rest = &text[..];
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            line
        };
        let mut first = line().splitn(2, |byte| *byte == b' ');
        let method = Method::from_bytes(first.next()?).ok()?;
        let uri = Uri::try_from(first.next()?).ok().filter(|uri| uri.path().starts_with('/'))?;
        let mut headers = HeaderMap::new();
        loop {
            let line = line();
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = HeaderName::from_bytes(&line[..colon]).ok()?;
            let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
            headers.append(name, value);
        }
        Some(Asked { method, uri, headers, body: rest.to_vec() })
    }

    fn filled(&self, text: &[u8]) -> Vec<u8> {
        let mut filled = Vec::with_capacity(text.len() + 64);
        let mut rest = text;
        while let Some((first, after)) = rest.split_first() {
            let value = match (first, after.first()) {
                (b'$', Some(b't')) => &self.task,
                (b'$', Some(b'p')) => &self.page,
                (b'$', Some(b'e')) => &self.event,
                (b'$', Some(b'f')) => &self.folder,
                _ => {
                    filled.push(*first);
                    rest = after;
                    continue;
                }
            };
            filled.extend_from_slice(value.as_bytes());
            rest = &after[1..];
        }
        filled
    }

    /// Remembers what later requests may name.
    pub(crate) fn note(&mut self, answer: &Answer) {
        let text = String::from_utf8_lossy(&answer.body);
        for line in text.lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                id.clone_into(&mut self.event);
            }
            let json = line.strip_prefix("data: ").unwrap_or(line);
            let Ok(value) = serde_json::from_str::<Value>(json) else { continue };
            let result = value.get("result").unwrap_or(&value);
            let result = result.get("task").unwrap_or(result);
            if let (Some(id), Some(_)) = (result["id"].as_str(), result.get("status")) {
                id.clone_into(&mut self.task);
            }
            if let Some(token) = result["nextPageToken"].as_str() {
                token.clone_into(&mut self.page);
            }
        }
    }

    /// The newest task.
    pub(crate) fn task(&self) -> Option<&str> {
        Some(&*self.task).filter(|task| !task.is_empty())
    }
}

impl Asked {
    /// As a client sends it.
    pub(crate) fn request(&self) -> Request<Body> {
        let mut request = Request::new(Body::from(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

impl Answer {
    /// Reads an answer to its end, and a stream until nothing new comes.
    pub(crate) async fn read(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let is_stream =
            head.headers.get("content-type").is_some_and(|it| it == "text/event-stream");
        let body = if is_stream { stream(body).await } else { whole(body).await };
        Self { status: head.status, headers: head.headers, body }
    }

    /// Everything that it says, but for the ids of messages that had none, which are new each time.
    pub(crate) fn masked(&self) -> String {
        let mut masked = format!("{}\n", self.status);
        for (name, value) in self.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH) {
            let _ = writeln!(masked, "{name}: {value:?}");
        }
        let body = String::from_utf8_lossy(&self.body);
        let mut pieces = body.split(MADE_UP);
        masked.extend(pieces.next());
        for piece in pieces {
            masked.push_str(MADE_UP);
            masked.push_str(piece.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '-'));
        }
        masked
    }

    /// The media type.
    pub(crate) fn kind(&self) -> &str {
        self.headers.get("content-type").and_then(|it| it.to_str().ok()).unwrap_or("")
    }
}

async fn whole(body: Body) -> Vec<u8> {
    to_bytes(body, 8 << 20).await.expect("an answer that ends and is not too long").to_vec()
}

async fn stream(mut body: Body) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..MOST_PIECES {
        let Some(frame) = body.frame().await else { break };
        let data = frame.expect("a stream that does not fail").into_data().unwrap_or_default();
        if data.starts_with(b":") {
            break;
        }
        all.extend_from_slice(&data);
    }
    all
}
