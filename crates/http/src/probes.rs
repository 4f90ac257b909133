//! Probes for operators: is it alive, is it ready, how is it doing.

use crate::edge::Limit;
use crate::json;
use crate::reply::{self, Reply};
use crate::routes::Shared;
use async_trait::async_trait;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use std::fmt::Write;

/// Figures of the running server.
#[async_trait]
pub trait Vitals: Send + Sync {
    /// Runs under way or queued.
    fn live_runs(&self) -> usize;
    /// Tasks that somebody follows.
    fn subscribed_tasks(&self) -> usize;
    /// Tasks in the store, where that is known.
    fn stored_tasks(&self) -> Option<usize>;
    /// Webhooks that may still be told something, where there are push notifications.
    fn open_webhooks(&self) -> Option<usize>;
    /// Whether the store can be written now.
    async fn store_serves(&self) -> bool;
}

/// The process answers.
pub(crate) fn health() -> Reply {
    reply::json(StatusCode::OK, r#"{"status":"ok"}"#)
}

/// Whether messages are taken: not by a server that is shutting down, nor by one that cannot store them.
pub(crate) async fn readiness(shared: &Shared) -> Reply {
    let unavailable = |why| reply::failure(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", why);
    if shared.service.is_draining() {
        return unavailable("The server is shutting down");
    }
    if !shared.vitals.store_serves().await {
        return unavailable("The store cannot be written");
    }
    reply::json(StatusCode::OK, r#"{"status":"ready"}"#)
}

/// How the server is doing, for people.
pub(crate) fn status(shared: &Shared) -> Reply {
    let mut out = Vec::with_capacity(256);
    json::object(&mut out, |o| {
        o.string("version", env!("CARGO_PKG_VERSION"));
        o.plain("draining", shared.service.is_draining());
        for (name, _, value) in figures(shared) {
            o.plain(name, value);
        }
    });
    reply::json(StatusCode::OK, out)
}

/// How the server is doing, for Prometheus.
pub(crate) fn metrics(shared: &Shared) -> Reply {
    let mut text = String::with_capacity(2048);
    for (name, help, value) in figures(shared) {
        let _ = writeln!(
            text,
            "# HELP a2ad_{name} {help}\n# TYPE a2ad_{name} gauge\na2ad_{name} {value}"
        );
    }
    let _ = text.write_str(
        "# HELP a2ad_limited_total How often a limit was met, by its name.\n\
         # TYPE a2ad_limited_total counter\n",
    );
    for limit in Limit::ALL {
        let (name, count) = (limit.name(), shared.settings.tally.of(*limit));
        let _ = writeln!(text, "a2ad_limited_total{{limit=\"{name}\"}} {count}");
    }
    let mut reply = reply::json(StatusCode::OK, text);
    let plain = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, plain);
    reply
}

fn figures(shared: &Shared) -> Vec<(&'static str, &'static str, usize)> {
    let vitals = &shared.vitals;
    let agents = shared.service.agents().filter(|agent| agent.is_published()).count();
    let mut figures = vec![
        ("published_agents", "Agents that can be called.", agents),
        ("live_runs", "Runs under way or queued.", vitals.live_runs()),
        ("subscribed_tasks", "Tasks that somebody follows.", vitals.subscribed_tasks()),
    ];
    if let Some(tasks) = vitals.stored_tasks() {
        figures.push(("stored_tasks", "Tasks in the store.", tasks));
    }
    if let Some(webhooks) = vitals.open_webhooks() {
        let help = "Webhooks that may still be told something.";
        figures.push(("open_webhooks", help, webhooks));
    }
    figures
}
