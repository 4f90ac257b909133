//! What keeps the dialects in step: one list of samples that every dialect writes into golden files, and
//! what is written is read back as what it was.

mod golden;
mod losses;
mod reader;
mod round_trip;
mod samples;

use super::Dialect;
use super::shape::{LINE_1, PLAIN, PRAISON, PROTO, Shape};
use super::v1::V1;
use super::v03::V03;

/// Everything that is spoken: the name of its golden files, who reads it, and how it is written.
fn dialects() -> [(&'static str, &'static dyn Dialect, &'static Shape); 4] {
    [
        ("v03", &V03, &PLAIN),
        ("v03-praison", &V03, &PRAISON),
        ("v03-rest", &V03, &PROTO),
        ("v1", &V1, &LINE_1),
    ]
}
