//! The whole server, from outside. Each module is one subject; `support` starts servers and talks to them.

mod support;

mod admin;
mod auth;
mod bad_input;
mod cancel;
mod cards;
mod crash;
mod documents;
mod drain;
mod edge;
mod encoding;
mod envelope;
mod executors;
mod faults;
mod golden;
mod history;
mod isolation;
mod langflow_lifecycle;
mod langflow_send;
mod lifecycle;
mod limits;
mod line1;
mod model;
mod pagination;
mod payloads;
mod praison;
mod push;
mod push_off;
mod races;
mod reattach;
mod recovery;
mod streaming;
