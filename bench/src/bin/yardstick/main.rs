//! The yardstick: what axum and serde need to parse a call and to write an answer of the size that the server
//! gives, with no task, store or run behind it. With the path of a file, what a client sends and what it is
//! answered are kept there first.

mod answers;
mod calls;
mod log;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::post;
use axum::serve::ListenerExt;
use calls::Call;
use futures_util::stream;
use log::Log;
use std::convert::Infallible;
use std::error::Error;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let log = path.map(|path| Log::create(path.as_ref())).transpose()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    // The server sets this option too; without it small answers wait for the client's ACK.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("cannot set TCP_NODELAY: {error}");
        }
    });
    let router = Router::new()
        .route("/api/v1/a2a/{agent}/jsonrpc", post(answer))
        .layer(DefaultBodyLimit::disable())
        .with_state(log);
    Ok(axum::serve(listener, router).await?)
}

async fn answer(State(log): State<Option<Log>>, body: Bytes) -> Response {
    let call: Call<'_> = match serde_json::from_slice(&body) {
        Ok(call) => call,
        Err(error) => return json(answers::error(&error.to_string())),
    };
    let params = call.params;
    match (call.method.as_str(), params.message, params.id) {
        ("message/send", Some(message), _) => {
            let answer = answers::completed(call.id, message, body.len());
            match log {
                Some(log) => json(kept(&log, &body, answer).await),
                None => json(answer),
            }
        }
        ("message/stream", Some(message), _) => events(answers::frames(call.id, message)),
        ("tasks/get", _, Some(task)) => json(answers::stored(call.id, &task)),
        ("tasks/list", _, _) => json(answers::page(call.id)),
        (method, _, _) => json(answers::error(&format!("no such call: {method}"))),
    }
}

/// The answer, once both messages are kept, one after the other: a task is there before its run.
async fn kept(log: &Log, request: &[u8], answer: Vec<u8>) -> Vec<u8> {
    let kept = async {
        log.keep(request.to_vec()).await?;
        log.keep(answer.clone()).await
    };
    match kept.await {
        Ok(()) => answer,
        Err(error) => answers::error(&error.to_string()),
    }
}

fn json(body: Vec<u8>) -> Response {
    typed("application/json", body.into())
}

/// All frames are ready, so hyper puts as many into one write as it can.
fn events(frames: Vec<Bytes>) -> Response {
    let frames = stream::iter(frames.into_iter().map(Ok::<_, Infallible>));
    let mut response = typed("text/event-stream", Body::from_stream(frames));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn typed(content: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
    response
}
