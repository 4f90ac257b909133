//! Bytes that come in pieces as text. A character that is cut between two pieces waits for its rest; what
//! is no UTF-8 becomes U+FFFD.

/// Decodes UTF-8 piece by piece.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The beginning of a character; at most three bytes.
    rest: Vec<u8>,
}

impl Decoder {
    /// The text that is whole now; may be empty.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let cut = self.rest.len() - unfinished(&self.rest);
        let kept = self.rest.split_off(cut);
        let whole = std::mem::replace(&mut self.rest, kept);
        String::from_utf8(whole)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// What is left at the end of the stream.
    pub(crate) fn finish(self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }
}

/// How many bytes at the end begin a character that may still be finished.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_however_the_bytes_come() {
        let samples: [(&[u8], &str); 4] = [
            ("aé你😀z".as_bytes(), "aé你😀z"),
            (b"a\xffb\xc3(\xe4\xbd", "a\u{fffd}b\u{fffd}(\u{fffd}"),
            (b"\x80\x80\x80\x80", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            (b"", ""),
        ];
        for (bytes, text) in samples {
            for size in 1..=bytes.len().max(1) {
                let mut decoder = Decoder::default();
                let mut found: String = bytes.chunks(size).map(|some| decoder.push(some)).collect();
                found.push_str(&decoder.finish());
                assert_eq!(found, text, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_whole_character_does_not_wait() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push("é".as_bytes()), "é");
        assert_eq!(decoder.push(&[0xC3]), "");
        assert_eq!(decoder.push(&[0xA9, b'!']), "é!");
    }
}
