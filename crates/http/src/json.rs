//! Writes JSON into a buffer, member by member: no tree of values, no intermediate strings.

use std::fmt::Display;
use std::io::Write;

/// An object being written.
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

/// Writes an object.
pub(crate) fn object(out: &mut Vec<u8>, members: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    members(&mut Object { out, empty: true });
    out.push(b'}');
}

/// Writes an array.
pub(crate) fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (index, each) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item(out, each);
    }
    out.push(b']');
}

/// Writes a string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    joined(out, [text]);
}

/// Writes several texts as one string.
pub(crate) fn joined<'t>(out: &mut Vec<u8>, texts: impl IntoIterator<Item = &'t str>) {
    out.push(b'"');
    for text in texts {
        escaped(out, text.as_bytes());
    }
    out.push(b'"');
}

/// How many bytes are looked at together. The compiler turns the look into a few vector instructions,
/// which makes long texts, most of what the server writes, several times cheaper than byte by byte.
const BLOCK: usize = 32;

const fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The number of bytes in front of the first one that needs an escape.
fn plain_length(text: &[u8]) -> usize {
    let mut blocks = text.chunks_exact(BLOCK);
    let mut plain = 0;
    for block in &mut blocks {
        if block.iter().fold(false, |found, byte| found | needs_escape(*byte)) {
            break;
        }
        plain += BLOCK;
    }
    let rest = &text[plain..];
    plain + rest.iter().position(|byte| needs_escape(*byte)).unwrap_or(rest.len())
}

/// Writes the inside of a string.
fn escaped(out: &mut Vec<u8>, mut text: &[u8]) {
    loop {
        let (plain, rest) = text.split_at(plain_length(text));
        out.extend_from_slice(plain);
        let Some((special, rest)) = rest.split_first() else { return };
        let short = match special {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => 0,
        };
        if short == 0 {
            let _ = write!(out, "\\u{special:04x}");
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        text = rest;
    }
}

/// Writes a value that is displayed as it stands on the wire, as a string. It needs no escapes.
pub(crate) fn displayed(out: &mut Vec<u8>, value: impl Display) {
    let _ = write!(out, "\"{value}\"");
}

impl Object<'_> {
    /// The buffer, positioned to write the value of the member `name`, which needs no escapes.
    pub(crate) fn member(&mut self, name: &str) -> &mut Vec<u8> {
        let before: &[u8] = if std::mem::take(&mut self.empty) { b"\"" } else { b",\"" };
        self.out.extend_from_slice(before);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// A string member.
    pub(crate) fn string(&mut self, name: &str, value: &str) {
        string(self.member(name), value);
    }

    /// A string member, if there is a value.
    pub(crate) fn maybe(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(name, value);
        }
    }

    /// A member that is JSON text already.
    pub(crate) fn raw(&mut self, name: &str, value: &str) {
        self.member(name).extend_from_slice(value.as_bytes());
    }

    /// A string member that is ASCII and needs no escapes.
    pub(crate) fn ascii(&mut self, name: &str, value: &[u8]) {
        let out = self.member(name);
        out.push(b'"');
        out.extend_from_slice(value);
        out.push(b'"');
    }

    /// A string member that needs no escapes.
    pub(crate) fn displayed(&mut self, name: &str, value: impl Display) {
        displayed(self.member(name), value);
    }

    /// A number or a truth value.
    pub(crate) fn plain(&mut self, name: &str, value: impl Display) {
        let _ = write!(self.member(name), "{value}");
    }

    /// An object member.
    pub(crate) fn object(&mut self, name: &str, members: impl FnOnce(&mut Object<'_>)) {
        object(self.member(name), members);
    }

    /// An array member.
    pub(crate) fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        item: impl FnMut(&mut Vec<u8>, T),
    ) {
        array(self.member(name), items, item);
    }

    /// An array of strings.
    pub(crate) fn strings<S: AsRef<str>>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = S>,
    ) {
        self.array(name, items, |out, item| string(out, item.as_ref()));
    }
}

/// The text of a body. `None` where it is no text: not UTF-8, or with half a surrogate pair in an escape.
/// What is carried unread would otherwise bring such an escape to readers who cannot take it.
pub(crate) fn text(body: &[u8]) -> Option<&str> {
    std::str::from_utf8(body).ok().filter(|text| !has_half_pair(text))
}

fn has_half_pair(text: &str) -> bool {
    if !text.contains("\\u") {
        return false;
    }
    let mut rest = text.as_bytes();
    // A high half was just read, and only its low half may follow.
    let mut open = false;
    while let Some((first, after)) = rest.split_first() {
        let escape = if *first == b'\\' { after.split_first() } else { None };
        let unit = match escape {
            Some((b'u', digits)) => digits.get(..4).and_then(hex),
            _ => None,
        };
        let low = unit.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        if open != low {
            return true;
        }
        open = unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit));
        // An escaped backslash does not begin an escape.
        rest = escape.map_or(after, |(_, after)| after);
        if unit.is_some() {
            rest = rest.get(4..).unwrap_or_default();
        }
    }
    open
}

fn hex(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_texts_are_one_string_with_the_same_escapes() {
        let texts = ["a\"", "\n", "", "\u{0}é\u{2028}"];
        let (mut one, mut many) = (Vec::new(), Vec::new());
        string(&mut one, &texts.concat());
        joined(&mut many, texts);
        assert_eq!(one, many);
    }

    #[test]
    fn every_character_is_written_as_the_library_writes_it_wherever_it_stands() {
        let specials = (0..0x80_u8).map(char::from).chain(['é', '\u{2028}', '😀']);
        for special in specials {
            for before in [0, 1, 31, 32, 33, 80] {
                let text = format!("{}{special}{}", "x".repeat(before), "y".repeat(before));
                let mut out = Vec::new();
                string(&mut out, &text);
                assert_eq!(out, serde_json::to_vec(&text).expect("a string"), "{text:?}");
            }
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_found_and_pairs_are_not() {
        for (text, half) in [
            (r#""plain""#, false),
            (r#""\u00e9\u4f60""#, false),
            (r#""\ud83d\ude00 and \uD83D\uDE00""#, false),
            (r#""\\ud83d""#, false),
            (r#""\ud83d""#, true),
            (r#""\ude00""#, true),
            (r#""\ud83d\ud83d\ude00""#, true),
            (r#""\ud83dx\ude00""#, true),
            (r#""\\\ud83d""#, true),
        ] {
            assert_eq!(has_half_pair(text), half, "{text}");
        }
    }
}
