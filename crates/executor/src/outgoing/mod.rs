//! Calls to services that an operator has named: one way to reach them, to try again, to read what they
//! answer within a limit, and to say what went wrong without repeating what they said.

mod answer;
mod client;
mod retry;

use crate::secret::{Value, misconfigured, redacted};
use a2ad_domain::ports::AgentError;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) use answer::Answer;

/// How a service is called.
#[derive(Clone, Debug)]
pub struct CallSettings {
    /// Headers of every request.
    pub headers: Vec<(String, Value)>,
    /// How long making a connection may take.
    pub connect_timeout: Duration,
    /// How long a whole call may take; `None` where the run's deadline is enough.
    pub timeout: Option<Duration>,
    /// How often a call is made again that the service has not taken.
    pub retries: u32,
    /// How many bytes it may answer.
    pub max_output: usize,
}

impl Default for CallSettings {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(5),
            timeout: None,
            retries: 2,
            max_output: 64 << 20,
        }
    }
}

/// A service that is called. Connections are kept for the next call.
#[derive(Debug)]
pub(crate) struct Service {
    /// What a caller is told that it is, as in "The service".
    pub(crate) name: &'static str,
    pub(crate) settings: CallSettings,
    /// The statuses with which it has not taken a call and may take it later.
    pub(crate) busy: &'static [StatusCode],
    client: OnceLock<Client>,
}

impl Service {
    pub(crate) fn new(
        name: &'static str,
        settings: CallSettings,
        busy: &'static [StatusCode],
    ) -> Self {
        Self { name, settings, busy, client: OnceLock::new() }
    }

    /// A request with the service's headers and JSON as its body.
    pub(crate) fn post(&self, url: &str, body: Vec<u8>) -> Result<RequestBuilder, AgentError> {
        let request = self.client()?.post(url).headers(self.headers()?);
        let request = request.header("content-type", "application/json").body(body);
        Ok(match self.settings.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        })
    }

    /// Sends a request, again where the service has not taken it. Any status may come of it.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, AgentError> {
        let sent = retry::send(request, self.settings.retries, self.busy).await;
        sent.map_err(|error| {
            let what = match (error.is_connect(), error.is_timeout()) {
                (true, _) => "cannot be reached",
                (false, true) => "did not answer in time",
                (false, false) => "closed the connection without an answer",
            };
            AgentError::explained(format!("The {} {what}", self.name), causes(error))
        })
    }

    /// What is missing to call it, in words for an operator.
    pub(crate) fn missing(&self) -> Vec<String> {
        let read = self.settings.headers.iter().map(|(_, value)| value.read());
        read.filter_map(|read| read.err().map(|error| error.to_string())).collect()
    }

    /// A failure whose cause holds none of the secrets that the service was sent: it may repeat them.
    pub(crate) fn redacted(&self, error: AgentError) -> AgentError {
        match error {
            AgentError::Explained { reason, source } => {
                let values = self.settings.headers.iter().map(|(_, value)| value);
                AgentError::explained(reason, redacted(values, &source.to_string()))
            }
            other @ (AgentError::Stopped(_) | AgentError::Failed(_)) => other,
        }
    }

    fn client(&self) -> Result<Client, AgentError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = client::client(self.settings.connect_timeout)
            .map_err(|error| misconfigured(causes(error)))?;
        Ok(self.client.get_or_init(|| made).clone())
    }

    fn headers(&self) -> Result<HeaderMap, AgentError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.settings.headers {
            let named: HeaderName = name.parse().map_err(misconfigured)?;
            let text = value.read().map_err(misconfigured)?;
            let mut header = HeaderValue::from_str(&text)
                .map_err(|_| misconfigured(format!("the value of {name} is none of a header")))?;
            header.set_sensitive(matches!(value, Value::Secret { .. }));
            headers.insert(named, header);
        }
        Ok(headers)
    }
}

/// An error with all its causes, and without the URL, whose query may hold secrets.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut all = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        all = format!("{all}: {error}");
        cause = error.source();
    }
    all
}

/// Whether a URL can be called; the text says what is wrong with it.
///
/// # Errors
/// One sentence for an operator.
pub fn check_url(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|error| format!("{url:?} is no URL: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(format!("{url:?} must begin with http:// or https:// and name a host"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("a URL must not hold credentials; send them in a header".to_owned());
    }
    Ok(())
}

/// Headers that hold secrets, whose values are never written into a configuration.
const SECRET: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

/// Headers that are what the call is about.
const OWN: [&str; 8] = [
    "accept",
    "content-type",
    "content-length",
    "transfer-encoding",
    "connection",
    "idempotency-key",
    "a2a-task-id",
    "a2a-context-id",
];

/// Whether a header can be sent; the text says what is wrong with it.
///
/// # Errors
/// One sentence for an operator.
pub fn check_header(name: &str, value: &Value) -> Result<(), String> {
    let named: Result<HeaderName, _> = name.parse();
    if named.is_err() {
        return Err(format!("{name:?} is no name of a header"));
    }
    if OWN.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("{name} is set by the server; leave it out"));
    }
    let Value::Plain(text) = value else { return Ok(()) };
    if SECRET.contains(&name.to_ascii_lowercase().as_str()) {
        let fix = "{ env = \"NAME\" } or { file = \"PATH\" }";
        return Err(format!("the value of {name} is a secret; say where it is with {fix}"));
    }
    if HeaderValue::from_str(text).is_err() {
        return Err(format!("the value of {name} is none of a header"));
    }
    Ok(())
}
