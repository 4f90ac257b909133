//! What must hold of the inside of this crate whatever the bytes are: each function takes one input and panics
//! when something does not hold. The package `fuzz` runs them; nothing else has the feature.

mod again;
mod envelope;
mod headers;
mod notification;
mod pairs;
mod params;
mod paths;
mod text;
mod tokens;

pub use envelope::envelope;
pub use headers::headers;
pub use notification::notification;
pub use params::params;
pub use paths::paths;
pub use text::text;
pub use tokens::tokens;

use crate::dialect::shape::{LINE_1, PLAIN, PRAISON, PROTO, Shape};
use crate::dialect::v1::V1;
use crate::dialect::v03::V03;
use crate::dialect::{Call, Dialect, Method, Unreadable};
use serde_json::value::RawValue;

/// A line in one of its shapes.
#[derive(Clone, Copy)]
struct Line {
    dialect: &'static dyn Dialect,
    shape: &'static Shape,
}

const METHODS: [Method; 11] = [
    Method::Send,
    Method::Stream,
    Method::Get,
    Method::List,
    Method::Cancel,
    Method::Attach,
    Method::SetPush,
    Method::ExtendedCard,
    Method::GetPush,
    Method::ListPush,
    Method::DeletePush,
];

impl Line {
    const NEW: Line = Line { dialect: &V1, shape: &LINE_1 };

    /// The line of a number, which may be any.
    const fn of(number: u8) -> Self {
        match number % 4 {
            0 => Self { dialect: &V03, shape: &PLAIN },
            1 => Self { dialect: &V03, shape: &PRAISON },
            2 => Self { dialect: &V03, shape: &PROTO },
            _ => Self::NEW,
        }
    }

    fn decode(self, method: Method, params: &RawValue) -> Result<Call, Unreadable> {
        self.dialect.decode(method, Some(params), self.shape)
    }

    /// Reads what must be readable.
    fn read(self, method: Method, params: &str) -> Call {
        let raw: &RawValue = serde_json::from_str(params).expect("what was written is JSON");
        self.decode(method, raw).unwrap_or_else(|why| panic!("{why:?}: {method:?} {params}"))
    }
}
