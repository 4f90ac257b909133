//! Everything that an error says, for the log: what went wrong, and what led to it.

use std::error::Error;
use std::fmt;

/// An error with its sources.
struct Causes<'e>(&'e (dyn Error + 'static));

/// An error and what led to it, on one line. Only the log may have it.
pub fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl fmt::Display + 'e {
    Causes(error)
}

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        let mut source = self.0.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Many errors say what their source says.
            if !said.contains(&text) {
                said.push_str(": ");
                said.push_str(&text);
            }
            source = cause.source();
        }
        f.write_str(&said.replace('\n', " "))
    }
}

#[cfg(test)]
mod tests {
    use super::causes;
    use crate::ports::StoreError;

    #[test]
    fn every_cause_is_named_once_and_on_one_line() {
        let disk = std::io::Error::other("the disk\nis full");
        let error = StoreError::Unavailable(Box::new(std::io::Error::other(disk)));
        assert_eq!(causes(&error).to_string(), "the store is unavailable: the disk is full");
    }
}
