//! Names of owners. Each way of showing who one is has names of its own, which no other way can make, and
//! which are neither that of anonymous callers nor that of callers who share their tasks.

use a2ad_domain::Owner;

/// The owner that a key belongs to; `None` for a name that is empty, too long or not plain to see.
pub(crate) fn of_key(name: &str) -> Option<Owner> {
    is_plain(name).then(|| Owner::new(format!("key:{name}")).ok()).flatten()
}

/// The owner that a token of this issuer names. The issuer holds no space, so what is before the first one is
/// the issuer, whatever the subject is.
pub(crate) fn of_token(issuer: &str, subject: &str) -> Option<Owner> {
    is_plain(subject).then(|| Owner::new(format!("jwt:{issuer} {subject}")).ok()).flatten()
}

/// The owner that the subject of a certificate names.
pub(crate) fn of_certificate(subject: &str) -> Option<Owner> {
    is_plain(subject).then(|| Owner::new(format!("mtls:{subject}")).ok()).flatten()
}

fn is_plain(name: &str) -> bool {
    !name.trim().is_empty() && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_makes_the_owner_of_somebody_else() {
        for name in ["anonymous", "shared", "ann", "key:ann", "jwt:https://issuer.example ann"] {
            let owner = of_key(name).expect("a name");
            assert!(![Owner::anonymous(), Owner::shared()].contains(&owner), "{name}");
            assert_eq!(owner.as_str(), format!("key:{name}"));
            assert_ne!(of_certificate(name), Some(owner));
        }
        let (one, other) = (of_token("https://a", "b c"), of_token("https://a", "b  c"));
        assert_ne!(one, other);
        assert_ne!(of_token("https://a", "ann"), of_key("https://a ann"));
        assert_ne!(of_token("https://a", "ann"), of_token("https://b", "ann"));
        for name in ["", " ", "a\nb", "a\u{0}b", &"x".repeat(5000)] {
            assert_eq!((of_key(name), of_token("i", name)), (None, None), "{name:?}");
            assert_eq!(of_certificate(name), None, "{name:?}");
        }
    }
}
