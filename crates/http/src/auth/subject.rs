//! Callers who show a certificate. It was checked in the handshake, against the roots that are configured;
//! what is left is to read whom it names.

use super::{Caller, Method, Scheme, owner};
use async_trait::async_trait;
use std::sync::Arc;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// The subject of a client's certificate, as text (RFC 4514): `CN=ann,O=Example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientSubject(Arc<str>);

impl ClientSubject {
    /// The subject of a certificate in DER; `None` where there is none.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(certificate).ok()?;
        let subject = certificate.tbs_certificate().subject();
        (!subject.is_empty()).then(|| Self(subject.to_string().into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Knows callers by the subjects of their certificates.
pub struct Certificates;

#[async_trait]
impl Method for Certificates {
    fn scheme(&self) -> Scheme {
        Scheme::Mtls
    }

    async fn caller(&self, subject: &str) -> Option<Caller> {
        owner::of_certificate(subject).map(Caller::new)
    }
}
