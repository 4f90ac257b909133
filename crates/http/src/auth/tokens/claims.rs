//! What a token says, and for how long it is good.

use a2ad_domain::Timestamp;
use jsonwebtoken::errors::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::time::Duration;

pub(super) type Claims = Map<String, Value>;

/// Whether a token is good at this time. One that was issued in the future was not issued.
pub(super) fn check_times(
    claims: &Claims,
    now: Timestamp,
    leeway: Duration,
) -> Result<(), &'static str> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds have 53 bits until the year 287396"
    )]
    let now = now.as_millis() as f64 / 1000.0;
    let leeway = leeway.as_secs_f64();
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(claim) => claim.as_f64().map(Some).ok_or("one of its times is no number"),
    };
    if time("exp")?.is_none_or(|end| now >= end + leeway) {
        return Err("it has expired");
    }
    for name in ["nbf", "iat"] {
        if time(name)?.is_some_and(|begin| now + leeway < begin) {
            return Err("it is not good yet");
        }
    }
    Ok(())
}

/// What the library has found, in words that hold nothing of the token.
pub(super) fn problem(error: &Error) -> &'static str {
    let kind = error.kind();
    let problems = [
        (*kind == ErrorKind::InvalidSignature, "its signature is not that of the key"),
        (*kind == ErrorKind::InvalidIssuer, "it is of another issuer than auth.jwt.issuer"),
        (*kind == ErrorKind::InvalidAudience, "it is for another audience than auth.jwt.audience"),
        (matches!(kind, ErrorKind::MissingRequiredClaim(_)), "it lacks one of exp, iss and aud"),
    ];
    let found = problems.into_iter().find(|(found, _)| *found);
    found.map_or("it is no token that can be read", |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_is_good_from_its_first_moment_to_its_last() {
        let check = |claims: Value, now: f64, leeway: u64| {
            let Value::Object(claims) = claims else { panic!("an object") };
            #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
            let now = Timestamp::from_millis((now * 1000.0) as i64);
            check_times(&claims, now, Duration::from_secs(leeway)).is_ok()
        };
        for (claims, now, leeway, good) in [
            (json!({ "exp": 100 }), 99.999, 0, true),
            (json!({ "exp": 100 }), 100.0, 0, false),
            (json!({ "exp": 100 }), 129.999, 30, true),
            (json!({ "exp": 100 }), 130.0, 30, false),
            (json!({ "exp": 100.5 }), 100.4, 0, true),
            (json!({ "exp": 100, "nbf": 50 }), 49.0, 0, false),
            (json!({ "exp": 100, "nbf": 50 }), 50.0, 0, true),
            (json!({ "exp": 100, "nbf": 50 }), 20.0, 30, true),
            (json!({ "exp": 100, "iat": 50 }), 49.0, 0, false),
            (json!({ "exp": "100" }), 1.0, 0, false),
            (json!({ "exp": null }), 1.0, 0, false),
            (json!({ "exp": 100, "nbf": "1" }), 1.0, 0, false),
            (json!({}), 1.0, 0, false),
        ] {
            assert_eq!(check(claims.clone(), now, leeway), good, "{claims} at {now}");
        }
    }
}
