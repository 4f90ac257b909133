//! What the yardstick and the load generator agree on.

/// A text of `bytes` ASCII characters that need no escape in JSON. Its first eight characters
/// are `number`, so that an answer with another request's text is told apart.
#[must_use]
pub fn payload(number: u64, bytes: usize) -> String {
    let mut text = format!("{:08x}", number & 0xffff_ffff);
    text.truncate(bytes);
    let alphabet = b"abcdefghijklmnopqrstuvwxyz";
    let rest = alphabet.iter().cycle().take(bytes.saturating_sub(text.len()));
    text.extend(rest.map(|letter| char::from(*letter)));
    text
}

/// The number of the payload that every stored task of the `get` workload carries. The
/// yardstick stores nothing and still has to answer with it.
pub const STORED: u64 = 0;

/// The size of the text in the rows about ordinary messages.
pub const KILOBYTE: usize = 1024;

/// How many tasks a page of the `list` workload has.
pub const PAGE: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_has_its_size_and_its_number() {
        assert_eq!(payload(255, 12), "000000ffabcd");
        assert_eq!(payload(1, 4), "0000");
        assert_eq!(payload(7, KILOBYTE).len(), KILOBYTE);
        assert_ne!(payload(1, 64), payload(2, 64));
    }
}
