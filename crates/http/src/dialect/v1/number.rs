//! Numbers and enums as ProtoJSON takes them: integers also as text or with a zero fraction, enums by
//! name or by number.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A 32-bit integer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Int(pub(super) i64);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Int;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Int, E> {
                Ok(Int(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Int, E> {
                Ok(Int(i64::try_from(value).unwrap_or(i64::MAX)))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Int, E> {
                let whole = value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
                if whole { Ok(Int(value as i64)) } else { Err(E::custom("not an integer")) }
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Int, E> {
                text.parse().map(Int).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// An enum's value by name or by number.
#[derive(Clone, Debug)]
pub(super) enum Named<'a> {
    Name(Cow<'a, str>),
    Number(i64),
}

impl Named<'_> {
    /// The place of the value in the list of names, which are in the order of their numbers.
    pub(super) fn among(&self, names: &[&str]) -> Option<usize> {
        match self {
            Self::Name(name) => names.iter().position(|known| known == name),
            Self::Number(number) => {
                usize::try_from(*number).ok().filter(|number| *number < names.len())
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Named<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Named<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number")
            }
            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Named::Name(Cow::Borrowed(name)))
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Named::Name(Cow::Owned(name.to_owned())))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Named::Number(number))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Named::Number(i64::try_from(number).unwrap_or(i64::MAX)))
            }
        }
        deserializer.deserialize_any(Read)
    }
}
