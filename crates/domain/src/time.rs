//! Points in time, to the millisecond, in UTC: the form that every dialect writes
//! (specification 1.0 §5.6.1).

use std::fmt;
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time with an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an RFC 3339 time with an offset, such as 2026-01-31T12:00:00.000Z")]
pub struct InvalidTime;

/// The latest time that can be read again when it was written: the year 9999 less the largest offset that a time
/// may be written with.
const MAX_MILLIS: i64 = 253_402_207_200_999;

impl Timestamp {
    /// The time `millis` milliseconds after 1970-01-01T00:00:00Z; times beyond the year 9999 become
    /// its end.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(-62_135_596_800_000, MAX_MILLIS))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 time with any offset.
    ///
    /// # Errors
    /// [`InvalidTime`] for anything else.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        let time: jiff::Timestamp = text.parse().map_err(|_| InvalidTime)?;
        Ok(Self::from_millis(time.as_millisecond()))
    }

    /// This time and `by` more.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long it is from `earlier` to this time; nothing if that is the later one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or_default())
    }

    /// This time less `by`.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        Self::from_millis(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Timestamp {
    /// The time as `YYYY-MM-DDTHH:MM:SS.mmmZ`, in ASCII.
    #[must_use]
    pub fn to_ascii(self) -> [u8; 24] {
        let mut text = *b"9999-12-30T22:00:00.999Z";
        if let Ok(time) = jiff::Timestamp::from_millisecond(self.0) {
            let time = jiff::tz::Offset::UTC.to_datetime(time);
            let fields = [
                (0, 4, time.year().unsigned_abs()),
                (5, 2, time.month().unsigned_abs().into()),
                (8, 2, time.day().unsigned_abs().into()),
                (11, 2, time.hour().unsigned_abs().into()),
                (14, 2, time.minute().unsigned_abs().into()),
                (17, 2, time.second().unsigned_abs().into()),
                (20, 3, time.millisecond().unsigned_abs()),
            ];
            for (start, length, mut value) in fields {
                for digit in text[start..start + length].iter_mut().rev() {
                    *digit = b'0' + (value % 10) as u8;
                    value /= 10;
                }
            }
        }
        text
    }
}

/// Writes `YYYY-MM-DDTHH:MM:SS.mmmZ`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_ascii();
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_with_three_digits() {
        for (text, written) in [
            ("2026-01-01T05:30:00+05:30", "2026-01-01T00:00:00.000Z"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"),
            ("2026-12-31T23:59:59.9999Z", "2026-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::parse(text).map(|t| t.to_string()).as_deref(), Ok(written));
        }
    }

    #[test]
    fn a_time_without_offset_or_shape_is_refused() {
        for text in ["2026-01-01T00:00:00", "not-a-time", "12345", "", "2026-13-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), Err(InvalidTime), "{text}");
        }
    }

    #[test]
    fn times_before_1970_and_in_leap_years_are_written_like_any_other() {
        for text in
            ["1969-12-31T23:59:59.999Z", "2024-02-29T00:00:00.001Z", "0001-01-01T00:00:00.000Z"]
        {
            assert_eq!(Timestamp::parse(text).map(|t| t.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn the_far_ends_are_still_four_digit_years_and_can_be_read_again() {
        let (first, last) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        assert_eq!(first.to_string(), "0001-01-01T00:00:00.000Z");
        assert_eq!(last.to_string(), "9999-12-30T22:00:00.999Z");
        for end in [first, last] {
            assert_eq!(Timestamp::parse(&end.to_string()), Ok(end));
        }
        let now = Timestamp::from_millis(0);
        assert_eq!(now.after(Duration::MAX).as_millis(), MAX_MILLIS);
    }
}
