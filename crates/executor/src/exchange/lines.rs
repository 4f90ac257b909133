//! Cuts a stream of bytes into lines. Whoever feeds it bounds how much comes in all, and so a line too.

/// The lines of a stream of bytes.
#[derive(Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Takes what came and gives the lines that are whole now, without their ends.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        // `split` gives at least one piece: the beginning of a line that is not whole yet.
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.rest.extend_from_slice(piece);
            whole.push(trimmed(std::mem::take(&mut self.rest)));
        }
        self.rest.extend_from_slice(last);
        whole
    }

    /// The last line, if the stream did not end with a line's end.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        Some(trimmed(self.rest)).filter(|line| !line.is_empty())
    }
}

/// Whether there is nothing to read.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

fn trimmed(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_come() {
        let bytes = b"one\r\n\ntwo\nthree";
        for size in 1..=bytes.len() {
            let mut lines = Lines::default();
            let mut found: Vec<_> = bytes.chunks(size).flat_map(|some| lines.push(some)).collect();
            found.extend(lines.finish());
            assert_eq!(found, [&b"one"[..], b"", b"two", b"three"], "in pieces of {size}");
        }
    }

    #[test]
    fn a_stream_that_ends_with_a_line_has_no_further_one() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"one\n"), [b"one"]);
        assert_eq!(lines.finish(), None);
    }
}
