//! Rust source with its comments, literals and test modules blanked out, so that a rule about
//! code is not broken by a sentence or a string.

/// The source with a space for every byte of a comment or literal. Line breaks stay where they
/// are, so that line numbers do too.
pub(super) fn code_of(source: &str) -> String {
    let mut reader = Reader { source: source.as_bytes(), at: 0, code: Vec::new() };
    while reader.at < reader.source.len() {
        reader.step();
    }
    String::from_utf8_lossy(&reader.code).into_owned()
}

/// The same code without the items that stand under `#[cfg(test)]`.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let end = start + item_length(&rest[start..]);
        kept.push_str(&rest[..start]);
        kept.extend(rest[start..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    kept + rest
}

/// How far the first item goes: to its semicolon, or to the brace that closes its body.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    code: Vec<u8>,
}

impl Reader<'_> {
    fn step(&mut self) {
        let rest = &self.source[self.at..];
        let length = match rest {
            [b'/', b'/', ..] => position(rest, b"\n").unwrap_or(rest.len()),
            [b'/', b'*', ..] => block_comment(rest),
            [b'"', ..] => 1 + quoted(&rest[1..], b'"'),
            [b'\'', ..] => char_literal(rest),
            [b'r', ..] if !self.after_letter() => raw_string(rest),
            _ => 0,
        };
        if length == 0 {
            self.code.push(rest[0]);
            self.at += 1;
            return;
        }
        let blanks = rest[..length].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' });
        self.code.extend(blanks);
        self.at += length;
    }

    /// Whether an `r` here ends a word. `br` and `cr` begin raw strings, too.
    fn after_letter(&self) -> bool {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        match &self.source[..self.at] {
            [.., before, b'b' | b'c'] => word(before),
            [b'b' | b'c'] => false,
            [.., before] => word(before),
            [] => false,
        }
    }
}

fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// Block comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a quoted text from behind its first quote to behind its last.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a character literal, or 0 for the quote of a lifetime.
fn char_literal(rest: &[u8]) -> usize {
    let Some(first) = rest.get(1) else { return 0 };
    let width = match first {
        b'\\' => return 1 + quoted(&rest[1..], b'\''),
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
}

/// The length of a raw string, or 0 where the `r` begins something else.
fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'#'; hashes + 1];
    end[0] = b'"';
    let body = hashes + 2;
    position(&rest[body..], &end).map_or(rest.len(), |at| body + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left, without the blanks.
    fn left(source: &str) -> String {
        let code = code_of(source);
        assert_eq!(code.len(), source.len(), "blanking keeps every position");
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_no_code() {
        assert_eq!(left("a // b\nc /* d /* e */ f */ g"), "a c g");
    }

    #[test]
    fn strings_are_no_code() {
        assert_eq!(left(r#"f("a \" b", b"c", g)"#), "f( , b , g)");
        assert_eq!(left("f(r\"a\\\", br##\"b\"# c\"##, d)"), "f( , b , d)");
        assert_eq!(left("r#type \"a"), "r#type");
    }

    #[test]
    fn characters_are_no_code_and_lifetimes_are() {
        assert_eq!(left(r"x('{', '\'', '\u{1f600}', 'ß', b'}')"), "x( , , , , b )");
        assert_eq!(
            left("fn f<'a>(x: &'a str, y: &'static str)"),
            "fn f<'a>(x: &'a str, y: &'static str)"
        );
    }

    #[test]
    fn line_breaks_stay() {
        assert_eq!(code_of("a\n\"b\nc\"\nd").lines().count(), 4);
    }

    #[test]
    fn test_items_are_left_out() {
        let code = "a\n#[cfg(test)]\nmod tests {\n fn f() { g() }\n}\nb\n#[cfg(test)]\nmod c;\nd";
        assert_eq!(without_tests(code), "a\n\n\n\n\nb\n\n\nd");
    }
}
