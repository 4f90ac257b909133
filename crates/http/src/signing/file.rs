//! The file of a private key: PKCS #8 in PEM, which other programs make too.

use super::key::{SigningAlgorithm, SigningKey};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::rand::SystemRandom;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use std::fs::{DirBuilder, File, OpenOptions, metadata, remove_file};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The rights to read and write that nobody but the owner of the file and, to read, its group may have:
/// orchestrators hand secrets out to a group.
const FOR_OTHERS: u32 = 0o026;

/// How much of a file is looked at, in bytes. The keys that are meant take a few hundred.
const MOST: u64 = 64 << 10;

impl SigningKey {
    /// Makes a key and its file, for this user only. A file that is there is left as it is.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path, algorithm: SigningAlgorithm) -> Result<Self> {
        let made = Self::write(path, algorithm);
        made.map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    fn write(path: &Path, algorithm: SigningAlgorithm) -> Result<Self> {
        let random = SystemRandom::new();
        let failed = || Error::other("no key could be made");
        let key = algorithm.generate(&random).map_err(|_| failed())?;
        let made = Self::from_pkcs8(&key, &random).map_err(|_| failed())?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = file.map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                Error::new(error.kind(), "exists already and stays as it is; name a new file")
            } else {
                error
            }
        })?;
        let written = file.write_all(pem(&key).as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // It is half a key at most, and would be in the way of the next attempt.
            let _ = remove_file(path);
            return Err(error);
        }
        Ok(made)
    }

    /// Reads the file of a key.
    ///
    /// # Errors
    /// When it cannot be read, others could read it, or it holds no key that can be signed with.
    pub fn read(path: &Path) -> Result<Self> {
        let read = Self::open(path);
        read.map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    fn open(path: &Path) -> Result<Self> {
        let unreadable = |error: Error| {
            Error::new(error.kind(), format!("cannot be read ({error}); {}", remedy(error.kind())))
        };
        let metadata = metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(unreadable(ErrorKind::IsADirectory.into()));
        }
        // Opening a pipe waits for somebody to write to it.
        if !metadata.is_file() {
            return Err(unreadable(Error::other("it is no ordinary file")));
        }
        let file = File::open(path).map_err(unreadable)?;
        // Of what was opened, which may be another file by now.
        if file.metadata()?.permissions().mode() & FOR_OTHERS != 0 {
            let problem = "others can read or write it; make it yours with chmod 600";
            return Err(Error::other(problem));
        }
        let mut text = Vec::new();
        file.take(MOST).read_to_end(&mut text).map_err(unreadable)?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(&text).ok();
        let key =
            key.and_then(|key| Self::from_pkcs8(key.secret_pkcs8_der(), &SystemRandom::new()).ok());
        key.ok_or_else(|| {
            Error::other(
                "is no private key of P-256 or Ed25519 in PEM (BEGIN PRIVATE KEY); make one with \
                 a2ad key signing",
            )
        })
    }
}

/// What to do about a file that cannot be read.
fn remedy(kind: ErrorKind) -> &'static str {
    if kind == ErrorKind::NotFound {
        "make it with a2ad key signing, or name another file"
    } else if kind == ErrorKind::PermissionDenied {
        "let the server's user read it"
    } else {
        "name a file that holds a key"
    }
}

/// PEM as everybody writes it (RFC 7468).
fn pem(key: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(key);
    let mut out = "-----BEGIN PRIVATE KEY-----\n".to_owned();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out.push_str("-----END PRIVATE KEY-----\n");
    out
}
