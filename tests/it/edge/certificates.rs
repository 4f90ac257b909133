//! Certificates for tests: authorities, servers and clients.

use crate::support::{Folder, Reply, TestServer};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// An authority, which signs certificates.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key, in PEM.
pub(super) struct Signed {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Authority of the test");
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn sign(&self, params: CertificateParams) -> Signed {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate").pem();
        Signed { certificate, key: key.serialize_pem() }
    }

    /// The certificate of a server that is called localhost.
    pub(super) fn server(&self) -> Signed {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// The certificate of a client with this subject, good until the end of a year.
    pub(super) fn client_until(&self, subject: &[(DnType, &str)], year: i32) -> Signed {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in subject {
            params.distinguished_name.push(kind.clone(), *value);
        }
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 12, 31);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    pub(super) fn client(&self, name: &str) -> Signed {
        self.client_until(&[(DnType::CommonName, name)], 4000)
    }

    /// A client that trusts this authority and shows a certificate, if there is one.
    pub(super) fn caller(&self, shown: Option<&Signed>) -> reqwest::Client {
        self.caller_in(shown, rustls::DEFAULT_VERSIONS)
    }

    /// The same in some versions of TLS only.
    pub(super) fn caller_in(
        &self,
        shown: Option<&Signed>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> reqwest::Client {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("a certificate");
        roots.add(root).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_protocol_versions(versions).expect("versions");
        let config = config.with_root_certificates(roots);
        let config = match shown {
            None => config.with_no_client_auth(),
            Some(shown) => {
                let chain = CertificateDer::pem_slice_iter(shown.certificate.as_bytes());
                let chain = chain.map(|it| it.expect("a certificate")).collect();
                let key = PrivateKeyDer::from_pem_slice(shown.key.as_bytes()).expect("a key");
                config.with_client_auth_cert(chain, key).expect("a key that fits")
            }
        };
        let client = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(config);
        client.build().expect("a client")
    }
}

/// Where the files of a server are.
pub(super) struct Files {
    folder: Folder,
}

impl Files {
    pub(super) fn new(name: &str, signed: &Signed) -> Self {
        let files = Self { folder: Folder::new(name) };
        files.put("server.pem", &signed.certificate);
        files.put("server.key", &signed.key);
        files
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Replaces a file as a whole, as programs that renew certificates do.
    pub(super) fn put(&self, name: &str, text: &str) {
        let new = self.path(&format!("{name}.new"));
        fs::write(&new, text).expect("a file");
        fs::rename(&new, self.path(name)).expect("a file");
    }

    /// The roots of clients' certificates.
    pub(super) fn trust(&self, authority: &Authority) {
        self.put("clients.pem", &authority.pem);
    }

    /// The tables that name the files of the server.
    pub(super) fn server(&self) -> String {
        let (certificate, key) = (self.path("server.pem"), self.path("server.key"));
        let (certificate, key) = (certificate.display(), key.display());
        format!("[server.tls]\ncertificate = \"{certificate}\"\nkey = \"{key}\"\n")
    }

    /// The table that names the roots of clients.
    pub(super) fn clients(&self) -> String {
        format!("[auth]\nclient_ca = \"{}\"\n", self.path("clients.pem").display())
    }
}

/// Where a server is by its name.
pub(super) fn url(server: &TestServer, path: &str) -> String {
    format!("https://localhost:{}{path}", server.address().port())
}

/// The answer to a read.
pub(super) async fn get(client: &reqwest::Client, server: &TestServer, path: &str) -> Reply {
    Reply::read(client.get(url(server, path)).send().await.expect("an answer")).await
}
