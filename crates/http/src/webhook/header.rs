//! What callers give to be sent in the headers of a delivery.

use axum::http::HeaderValue;
use std::fmt::{self, Display, Formatter};

/// The longest value of a header that a caller may give, in bytes.
pub const MOST_HEADER: usize = 4096;

/// The value of a header, made of a caller's words: one line of visible letters, which cannot end the header
/// and begin another. It is a secret and is never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderText(HeaderValue);

/// Why a caller's words cannot be sent in a header. The text is for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// There are none.
    Empty,
    /// They are longer than [`MOST_HEADER`].
    TooLong,
    /// They hold something else than visible ASCII, with blanks in between.
    Letters,
    /// What should be the name of a scheme is not one.
    Scheme,
}

impl HeaderText {
    /// A token, sent as it is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn token(token: &str) -> Result<Self, Unsendable> {
        check(token)?;
        Self::made(token)
    }

    /// The value of `Authorization`: a scheme and what it needs, which some schemes do without.
    ///
    /// # Errors
    /// What is wrong with either.
    pub fn authorization(scheme: &str, credentials: Option<&str>) -> Result<Self, Unsendable> {
        if scheme.is_empty() || !scheme.bytes().all(is_of_scheme) {
            return Err(Unsendable::Scheme);
        }
        let Some(credentials) = credentials else { return Self::made(scheme) };
        check(credentials)?;
        Self::made(&format!("{scheme} {credentials}"))
    }

    /// What is sent.
    #[must_use]
    pub fn value(&self) -> HeaderValue {
        self.0.clone()
    }

    fn made(text: &str) -> Result<Self, Unsendable> {
        if text.len() > MOST_HEADER {
            return Err(Unsendable::TooLong);
        }
        let mut value = HeaderValue::from_str(text).map_err(|_| Unsendable::Letters)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

fn check(text: &str) -> Result<(), Unsendable> {
    if text.is_empty() {
        return Err(Unsendable::Empty);
    }
    // Blanks at the ends would be lost on the way.
    let blank = text.starts_with(' ') || text.ends_with(' ');
    if blank || !text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return Err(Unsendable::Letters);
    }
    Ok(())
}

/// The letters of a token of HTTP.
fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl Display for Unsendable {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(formatter, "must not be empty"),
            Self::TooLong => write!(formatter, "must not be longer than {MOST_HEADER} bytes"),
            Self::Letters => write!(formatter, "must be visible ASCII in one line"),
            Self::Scheme => write!(formatter, "must be the name of an authentication scheme"),
        }
    }
}

impl std::error::Error for Unsendable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_as_it_is() {
        let token = HeaderText::token("tk-1 with a blank").unwrap();
        assert_eq!(token.value(), "tk-1 with a blank");
    }

    #[test]
    fn an_authorization_is_a_scheme_and_its_credentials() {
        let bearer = HeaderText::authorization("Bearer", Some("abc")).unwrap();
        assert_eq!(bearer.value(), "Bearer abc");
        assert_eq!(HeaderText::authorization("Negotiate", None).unwrap().value(), "Negotiate");
    }

    #[test]
    fn what_could_end_a_header_is_refused() {
        let bad = [
            "a\r\nX-Evil: 1",
            "a\nb",
            "a\rb",
            "a\0b",
            "a\tb",
            "a\u{7f}b",
            "a\u{1b}[0m",
            "a\u{85}b",
            "a\u{2028}b",
            "ä",
            " a",
            "a ",
            "a\r\n",
        ];
        for text in bad {
            assert_eq!(HeaderText::token(text), Err(Unsendable::Letters), "{text:?}");
            let authorization = HeaderText::authorization("Bearer", Some(text));
            assert_eq!(authorization, Err(Unsendable::Letters), "{text:?}");
        }
    }

    #[test]
    fn a_scheme_is_one_word() {
        for scheme in ["", "Bearer abc", "Bearer\r\nX: 1", "Bearer:", "Bäärer", "a,b", "\"a\""] {
            let refused = HeaderText::authorization(scheme, Some("abc"));
            assert_eq!(refused, Err(Unsendable::Scheme), "{scheme:?}");
        }
    }

    #[test]
    fn the_limit_counts_what_is_sent() {
        assert!(HeaderText::token(&"a".repeat(MOST_HEADER)).is_ok());
        assert_eq!(HeaderText::token(&"a".repeat(MOST_HEADER + 1)), Err(Unsendable::TooLong));
        let credentials = "a".repeat(MOST_HEADER - "Bearer ".len());
        assert!(HeaderText::authorization("Bearer", Some(&credentials)).is_ok());
        let refused = HeaderText::authorization("Bearers", Some(&credentials));
        assert_eq!(refused, Err(Unsendable::TooLong));
        let scheme = "a".repeat(MOST_HEADER + 1);
        assert_eq!(HeaderText::authorization(&scheme, None), Err(Unsendable::TooLong));
    }

    #[test]
    fn nothing_is_said_without_words() {
        assert_eq!(HeaderText::token(""), Err(Unsendable::Empty));
        assert_eq!(HeaderText::authorization("Bearer", Some("")), Err(Unsendable::Empty));
    }

    #[test]
    fn a_value_is_never_shown() {
        let bearer = HeaderText::authorization("Bearer", Some("sekret")).unwrap();
        let shown = format!("{bearer:?} {:?}", bearer.value());
        assert!(!shown.contains("sekret"), "{shown}");
    }
}
