//! Writes JSON into a buffer, member by member: no tree of values, no intermediate strings.

use serde::Serializer;
use std::fmt::{self, Display};
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
    // Writing a string into a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes several texts as one string.
pub(crate) fn joined<'t>(out: &mut Vec<u8>, texts: impl Iterator<Item = &'t str> + Clone) {
    let _ = serde_json::Serializer::new(out).collect_str(&Joined(texts));
}

/// Writes a value that is displayed as it stands on the wire, as a string. It needs no escapes.
pub(crate) fn displayed(out: &mut Vec<u8>, value: impl Display) {
    let _ = write!(out, "\"{value}\"");
}

struct Joined<I>(I);

impl<'t, I: Iterator<Item = &'t str> + Clone> Display for Joined<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.clone().try_for_each(|text| f.write_str(text))
    }
}

impl Object<'_> {
    /// The buffer, positioned to write the value of the member `name`, which needs no escapes.
    pub(crate) fn member(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
        self.out.push(b'"');
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_texts_are_one_string_with_the_same_escapes() {
        let texts = ["a\"", "\n", "", "\u{0}é\u{2028}"];
        let (mut one, mut many) = (Vec::new(), Vec::new());
        string(&mut one, &texts.concat());
        joined(&mut many, texts.into_iter());
        assert_eq!(one, many);
    }
}
