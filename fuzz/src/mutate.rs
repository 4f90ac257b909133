//! Changes inputs by chance that can be had again, for runs that are not guided by coverage.

/// A sequence of numbers that is the same for the same start (xorshift by George Marsaglia).
pub struct Chance(u64);

impl Chance {
    /// The sequence of a number.
    #[must_use]
    pub const fn new(start: u64) -> Self {
        // Zero would stay zero.
        Self(start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, or zero.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    fn of<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

/// Changes `input` in a few places, with pieces of `others` and `words`, to at most `longest` bytes.
pub fn mutate(
    input: &mut Vec<u8>,
    others: &[Vec<u8>],
    words: &[Vec<u8>],
    longest: usize,
    chance: &mut Chance,
) {
    for _ in 0..=chance.below(4) {
        let at = chance.below(input.len() + 1);
        let end = (at + 1 + chance.below(16)).min(input.len());
        match chance.below(9) {
            0 => input.truncate(at),
            1 => drop(input.drain(at.min(end)..end)),
            2 => {
                let piece = input[at.min(end)..end].to_vec();
                input.splice(at..at, piece);
            }
            3 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
            4 => {
                let byte = u8::try_from(chance.below(256)).unwrap_or(0);
                input.insert(at, byte);
            }
            5 => {
                let other = chance.of(others).cloned().unwrap_or_default();
                let from = chance.below(other.len());
                let to = (from + 1 + chance.below(64)).min(other.len());
                input.splice(at.min(end)..end, other[from.min(to)..to].iter().copied());
            }
            6 => values(input, chance),
            _ => {
                let word = chance.of(words).cloned().unwrap_or_default();
                // In the place of a word, or in between.
                let end = if chance.below(2) == 0 { at } else { word_end(input, at) };
                input.splice(at..end, word);
            }
        }
        input.truncate(longest);
    }
}

/// The end of the letters from here on.
fn word_end(input: &[u8], at: usize) -> usize {
    let letters = input[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    at + letters
}

/// Puts a value of JSON in the place of another one: from one colon or comma to the next comma or bracket.
fn values(input: &mut Vec<u8>, chance: &mut Chance) {
    let starts: Vec<usize> =
        (0..input.len()).filter(|at| matches!(input[*at], b':' | b',' | b'[')).collect();
    let (Some(from), Some(to)) = (chance.of(&starts).copied(), chance.of(&starts).copied()) else {
        return;
    };
    let value = |at: usize| {
        let rest = &input[at + 1..];
        let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'));
        at + 1..at + 1 + length.unwrap_or(rest.len())
    };
    let (from, to) = (value(from), value(to));
    let piece = input[from].to_vec();
    input.splice(to, piece);
}
