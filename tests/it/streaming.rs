//! Streams: what they show, how they end, and that no reader matters to anybody else.

mod frames;
mod readers;
mod store;
