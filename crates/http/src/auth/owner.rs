//! Names of owners. Each way of showing who one is has names of its own, which no other way can make, and
//! which are neither that of anonymous callers nor that of callers who share their tasks.

use a2ad_domain::Owner;

/// The owner that a key belongs to; `None` for a name that is empty, too long or not plain to see.
pub(crate) fn of_key(name: &str) -> Option<Owner> {
    let plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
    plain.then(|| Owner::new(format!("key:{name}")).ok()).flatten()
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
        }
        for name in ["", " ", "a\nb", "a\u{0}b", &"x".repeat(5000)] {
            assert_eq!(of_key(name), None, "{name:?}");
        }
    }
}
