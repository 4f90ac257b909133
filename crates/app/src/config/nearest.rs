//! Names the key that somebody may have meant.

/// How alike two names must be, from 0 to 1, for one to be a hint at the other.
const ALIKE: f64 = 0.75;

/// An error of the parser on one line; where a name is unknown, with the nearest one that is known.
pub(super) fn with_hint(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    match nearest(&message) {
        Some(name) => format!("{message}; did you mean `{name}`?"),
        None => message,
    }
}

/// The nearest of the names that the message lists, each between backticks; the first is the unknown one.
fn nearest(message: &str) -> Option<&str> {
    let listed = message.strip_prefix("unknown ")?;
    let mut names = listed.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let scored = names.map(|name| (strsim::jaro_winkler(unknown, name), name));
    let best = scored.max_by(|one, two| one.0.total_cmp(&two.0))?;
    (best.0 >= ALIKE).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_hinted_at_and_a_far_one_is_not() {
        for (message, hint) in [
            ("unknown field `max_bdoy`, expected one of `listen`, `max_body`", Some("max_body")),
            ("unknown field `comand`, expected `command`", Some("command")),
            ("unknown variant `ehco`, expected `echo` or `script`", Some("echo")),
            ("unknown field `zzz`, expected one of `listen`, `max_body`", None),
            ("missing field `id`", None),
        ] {
            assert_eq!(nearest(message), hint, "{message}");
        }
    }
}
