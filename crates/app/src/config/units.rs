//! Durations and sizes as people write them: `10m`, `30d`, `16MiB`.

use a2ad_http::Rate;
use bytesize::ByteSize;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;
use std::time::Duration;

/// A duration such as `500ms`, `10m` or `30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let duration = humantime::parse_duration(&text);
        duration.map(Self).map_err(|error| {
            D::Error::custom(format!(
                "{text:?} is no duration ({error}); write for example \"10m\""
            ))
        })
    }
}

/// A duration, or `none` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaybeSpan(pub Option<Duration>);

impl<'de> Deserialize<'de> for MaybeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "none" {
            return Ok(Self(None));
        }
        let duration = humantime::parse_duration(&text);
        duration.map(|duration| Self(Some(duration))).map_err(|error| {
            let fix = "write for example \"10m\", or \"none\"";
            D::Error::custom(format!("{text:?} is no duration ({error}); {fix}"))
        })
    }
}

/// A number of bytes, such as `16MiB` or `1048576`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"16MiB\"")
            }
            fn visit_i64<E: Error>(self, bytes: i64) -> Result<Size, E> {
                usize::try_from(bytes).map(Size).map_err(|_| E::custom("a size is not negative"))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                let size = text.parse::<ByteSize>().ok().map(|size| size.as_u64());
                size.and_then(|size| usize::try_from(size).ok()).map(Size).ok_or_else(|| {
                    E::custom(format!("{text:?} is no size; write for example \"16MiB\""))
                })
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A number of things, or `"none"` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaybeCount(pub Option<usize>);

impl<'de> Deserialize<'de> for MaybeCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = MaybeCount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of at least 1, or \"none\"")
            }
            fn visit_i64<E: Error>(self, count: i64) -> Result<MaybeCount, E> {
                let count = usize::try_from(count).ok().filter(|count| *count > 0);
                count
                    .map(|count| MaybeCount(Some(count)))
                    .ok_or_else(|| E::custom("must be at least 1, or \"none\" for no limit"))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<MaybeCount, E> {
                if text == "none" {
                    return Ok(MaybeCount(None));
                }
                Err(E::custom(format!("{text:?} is no number; write for example 100, or \"none\"")))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// How many requests in which time, as in `100/s` or `600/min`; or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaybeRate(pub Option<Rate>);

impl<'de> Deserialize<'de> for MaybeRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "none" {
            return Ok(Self(None));
        }
        let rate = text.split_once('/').and_then(|(requests, per)| {
            let requests = requests.trim().parse().ok()?;
            // A unit alone means one of it.
            let per = humantime::parse_duration(&format!("1{}", per.trim())).ok()?;
            Some(Rate { requests, per })
        });
        rate.map(|rate| Self(Some(rate))).ok_or_else(|| {
            D::Error::custom(format!(
                "{text:?} is no rate; write for example \"100/s\", \"600/min\" or \"none\""
            ))
        })
    }
}
