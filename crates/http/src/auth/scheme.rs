//! What callers can show, and how a refusal and a card say so: one table, so that the two cannot disagree.

use crate::card::CardMode;
use crate::json::{self, Object};

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A key in the header `x-api-key`.
    Key,
    /// A bearer token of any form.
    Bearer,
    /// A bearer token that is a JWT.
    Jwt,
    /// A certificate, in the handshake of the connection.
    Mtls,
}

/// The header that a key is in.
pub(crate) const KEY_HEADER: &str = "x-api-key";

impl Scheme {
    /// What the configuration and cards call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Bearer => "bearer",
            Self::Jwt => "jwt",
            Self::Mtls => "mtls",
        }
    }

    /// What `WWW-Authenticate` says (RFC 9110 §11.6.1). Keys in a header of their own and certificates have no
    /// registered scheme; for keys this one is what other servers say.
    pub(crate) const fn challenge(self) -> &'static str {
        match self {
            Self::Key => "ApiKey header=\"x-api-key\"",
            Self::Bearer | Self::Jwt => "Bearer",
            Self::Mtls => "ClientCertificate",
        }
    }

    /// How `curl` shows it, with words in the place of what is secret.
    pub(crate) const fn option(self) -> &'static str {
        match self {
            Self::Key => "-H 'x-api-key: KEY'",
            Self::Bearer | Self::Jwt => "-H 'Authorization: Bearer TOKEN'",
            Self::Mtls => "--cert CERTIFICATE --key KEY",
        }
    }

    /// The members of its description in the 0.3 line (specification 0.3 §5.5.3).
    fn line_03(self, o: &mut Object<'_>) {
        match self {
            Self::Key => {
                o.string("type", "apiKey");
                o.string("in", "header");
                o.string("name", KEY_HEADER);
            }
            Self::Bearer | Self::Jwt => {
                o.string("type", "http");
                self.bearer(o);
            }
            Self::Mtls => o.string("type", "mutualTLS"),
        }
    }

    /// The member that describes it in the 1.0 line (specification 1.0 §4.5.1).
    fn line_1(self, o: &mut Object<'_>) {
        match self {
            Self::Key => o.object("apiKeySecurityScheme", |o| {
                o.string("location", "header");
                o.string("name", KEY_HEADER);
            }),
            Self::Bearer | Self::Jwt => o.object("httpAuthSecurityScheme", |o| self.bearer(o)),
            Self::Mtls => o.object("mtlsSecurityScheme", |_| {}),
        }
    }

    fn bearer(self, o: &mut Object<'_>) {
        o.string("scheme", "bearer");
        if self == Self::Jwt {
            o.string("bearerFormat", "JWT");
        }
    }
}

/// Writes the security section of a card: each scheme by its name, and that any of them will do. An agent
/// that everybody may call has none.
pub(crate) fn section(o: &mut Object<'_>, schemes: &[Scheme], form: CardMode) {
    if schemes.is_empty() {
        return;
    }
    o.object("securitySchemes", |o| {
        for scheme in schemes {
            o.object(scheme.name(), |o| {
                if form != CardMode::V1 {
                    scheme.line_03(o);
                }
                if form != CardMode::V03 {
                    scheme.line_1(o);
                }
            });
        }
    });
    if form != CardMode::V1 {
        o.array("security", schemes, |out, scheme| {
            json::object(out, |o| o.raw(scheme.name(), "[]"));
        });
    }
    if form != CardMode::V03 {
        o.array("securityRequirements", schemes, |out, scheme| {
            json::object(out, |o| {
                o.object("schemes", |o| o.object(scheme.name(), |o| o.raw("list", "[]")));
            });
        });
    }
}
