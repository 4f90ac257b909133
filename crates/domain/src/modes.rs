//! Whether media types fit together (specification 1.0 §3.3.2, 0.3 §7.1.1).

use crate::content::{Content, Part};

/// Whether `mode` is a media type. Other strings, such as `text`, are seen in the wild and match
/// leniently instead of being refused.
fn is_media_type(mode: &str) -> bool {
    mode.contains('/')
}

/// Whether one declared mode covers another; either side may use `*`. Parameters do not count.
#[must_use]
pub fn covers(declared: &str, wanted: &str) -> bool {
    let bare = |mode: &str| mode.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let (declared, wanted) = (bare(declared), bare(wanted));
    if !is_media_type(&declared) || !is_media_type(&wanted) {
        let family = |mode: &str| mode.split('/').next().unwrap_or("").to_owned();
        let (a, b) = (family(&declared), family(&wanted));
        return a == b
            || a == "*"
            || b == "*"
            || !["text", "image", "audio", "video"].contains(&&*b);
    }
    let (a, b) = (halves(&declared), halves(&wanted));
    let fits = |x: &str, y: &str| x == "*" || y == "*" || x == y;
    fits(a.0, b.0) && fits(a.1, b.1)
}

fn halves(mode: &str) -> (&str, &str) {
    mode.split_once('/').unwrap_or((mode, "*"))
}

/// Whether any of `declared` covers `wanted`.
#[must_use]
pub fn any_covers(declared: &[String], wanted: &str) -> bool {
    declared.iter().any(|mode| covers(mode, wanted))
}

/// The media type of a part, as far as it says: files without one may be anything.
#[must_use]
pub fn of_part(part: &Part) -> Option<&str> {
    let said = part.label.as_ref().and_then(|label| label.media_type.as_deref());
    match &part.content {
        Content::Text(_) => said.or(Some("text/plain")),
        Content::Data(_) => said.or(Some("application/json")),
        Content::Bytes(_) | Content::Url(_) => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_parameters_and_loose_names_are_understood() {
        for (declared, wanted, fits) in [
            ("*/*", "image/png", true),
            ("text/*", "text/markdown", true),
            ("text/plain", "text/plain; charset=utf-8", true),
            ("text/plain", "TEXT/PLAIN", true),
            ("text/plain", "image/png", false),
            ("text/plain", "text", true),
            ("text", "text/plain", true),
            ("text/plain", "image", false),
            ("text/plain", "task-status", true),
            ("application/json", "application/xml", false),
        ] {
            assert_eq!(covers(declared, wanted), fits, "{declared} and {wanted}");
        }
    }
}
