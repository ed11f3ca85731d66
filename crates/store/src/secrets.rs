//! Encrypts secrets before they are stored, with a key that is kept in a file outside the database.
//! A copy of the database alone reveals none of them.
//!
//! The method is ChaCha20-Poly1305 with a random nonce. The caller gives a context, such as the
//! origin that may receive the secret; the value can be decrypted with the same context only.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};

/// The first word of a key file.
const MARK: &str = "tidings-key-1";
const KEY_BYTES: usize = 32;
/// A key file is one short line.
const FILE_BYTES_MAX: u64 = 1024;
/// The version of the form of encrypted values.
const FORM: u8 = 1;
/// Bytes that tell one key from another.
const KEY_NUMBER_BYTES: usize = 8;
const HEAD_BYTES: usize = 1 + KEY_NUMBER_BYTES + NONCE_LEN;

/// Why a secret cannot be encrypted or decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error(
        "the key file {0} is missing, but stored secrets need it; put it back from your backup, or \
         remove these secrets and set them again"
    )]
    Missing(String),
    #[error("the key file {0} cannot be used: {1}")]
    File(String, String),
    #[error(
        "{0} is not a key file of tidings; it has one line: {MARK} and 64 hexadecimal digits; put \
         the right one back from your backup"
    )]
    NotAKey(String),
    #[error(
        "the secret was encrypted with another key than that of {0}; use the same `key_file` on \
         all machines, or set the secret again"
    )]
    OtherKey(String),
    #[error("the stored secret is damaged; set it again")]
    Damaged,
    #[error("this machine gave no random numbers; try again")]
    Random,
}

/// The place of the key. The file need not exist before the first secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile(PathBuf);

/// The key of an instance. `Debug` does not show it.
#[derive(Clone)]
pub struct SecretKey {
    key: Arc<LessSafeKey>,
    number: [u8; KEY_NUMBER_BYTES],
    /// The file, for error messages.
    file: String,
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey({})", self.file)
    }
}

impl KeyFile {
    pub fn new(path: PathBuf) -> KeyFile {
        KeyFile(path)
    }

    /// Returns the key file in a data folder.
    pub fn in_folder(data: &Path) -> KeyFile {
        KeyFile(data.join("secrets.key"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn shown(&self) -> String {
        self.0.display().to_string()
    }

    fn fault(&self, why: &std::io::Error) -> SecretError {
        SecretError::File(self.shown(), why.to_string())
    }

    /// Reads the key; `None` if there is no file.
    pub fn read(&self) -> Result<Option<SecretKey>, SecretError> {
        match fs::metadata(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.fault(&error)),
            Ok(found) if !found.is_file() || found.len() > FILE_BYTES_MAX => {
                return Err(SecretError::NotAKey(self.shown()));
            }
            Ok(_) => {}
        }
        let text = fs::read_to_string(&self.0).map_err(|error| self.fault(&error))?;
        let bytes = text.trim().strip_prefix(MARK).and_then(|hex| from_hex(hex.trim()));
        let bytes = bytes.ok_or_else(|| SecretError::NotAKey(self.shown()))?;
        SecretKey::new(&bytes, self.shown()).map(Some)
    }

    /// Reads the key. `are_there_secrets` says whether a missing file is a loss.
    pub fn existing(&self, are_there_secrets: bool) -> Result<Option<SecretKey>, SecretError> {
        match self.read()? {
            None if are_there_secrets => Err(SecretError::Missing(self.shown())),
            found => Ok(found),
        }
    }

    /// Reads the key, or creates it before the first secret is stored.
    pub fn read_or_create(&self, are_there_secrets: bool) -> Result<SecretKey, SecretError> {
        if let Some(key) = self.existing(are_there_secrets)? {
            return Ok(key);
        }
        let mut bytes = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| SecretError::Random)?;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.create(&format!("{MARK} {hex}\n"))?;
        // Another process may have created the file first.
        self.read()?.ok_or_else(|| SecretError::Missing(self.shown()))
    }

    /// Writes the file next to its place and links it there, so that nobody reads half of it and an
    /// existing one stays.
    fn create(&self, text: &str) -> Result<(), SecretError> {
        let fault = |error: std::io::Error| self.fault(&error);
        let folder = self.0.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // With PostgreSQL there may be no data folder yet.
        fs::create_dir_all(folder).map_err(fault)?;
        let draft = folder.join(format!(".secrets.key.{}", std::process::id()));
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&draft);
        let mut file = opened.map_err(fault)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| match fs::hard_link(&draft, &self.0) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let removed = fs::remove_file(&draft);
        placed.and(removed).map_err(fault)?;
        // The name must survive a power failure as well as the secrets do.
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(fault)
    }

    /// Returns whether others on this machine may read the file.
    pub fn is_open_to_others(&self) -> bool {
        fs::metadata(&self.0).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }
}

impl SecretKey {
    fn new(bytes: &[u8; KEY_BYTES], file: String) -> Result<SecretKey, SecretError> {
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, bytes);
        let unbound = unbound.map_err(|_| SecretError::NotAKey(file.clone()))?;
        let digest = Sha256::new().chain_update(MARK).chain_update(bytes).finalize();
        let mut number = [0; KEY_NUMBER_BYTES];
        number.copy_from_slice(&digest[..KEY_NUMBER_BYTES]);
        Ok(SecretKey { key: Arc::new(LessSafeKey::new(unbound)), number, file })
    }

    /// Encrypts a text for a context.
    pub fn seal(&self, context: &str, text: &str) -> Result<Vec<u8>, SecretError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| SecretError::Random)?;
        let mut sealed = text.as_bytes().to_vec();
        let aad = Aad::from(context.as_bytes());
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        let done = self.key.seal_in_place_append_tag(nonce_used, aad, &mut sealed);
        done.map_err(|_| SecretError::Damaged)?;
        let mut whole = Vec::with_capacity(HEAD_BYTES + sealed.len());
        whole.push(FORM);
        whole.extend(self.number);
        whole.extend(nonce);
        whole.extend(sealed);
        Ok(whole)
    }

    /// Decrypts a text for the context that it was encrypted for.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<String, SecretError> {
        let split = sealed.split_at_checked(HEAD_BYTES);
        let (head, body) = split.ok_or(SecretError::Damaged)?;
        if head[0] != FORM {
            return Err(SecretError::Damaged);
        }
        if head[1..=KEY_NUMBER_BYTES] != self.number {
            return Err(SecretError::OtherKey(self.file.clone()));
        }
        let nonce = Nonce::try_assume_unique_for_key(&head[1 + KEY_NUMBER_BYTES..]);
        let nonce = nonce.map_err(|_| SecretError::Damaged)?;
        let mut body = body.to_vec();
        let opened = self.key.open_in_place(nonce, Aad::from(context.as_bytes()), &mut body);
        let text = opened.map_err(|_| SecretError::Damaged)?;
        String::from_utf8(text.to_vec()).map_err(|_| SecretError::Damaged)
    }
}

fn from_hex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    if text.len() != 2 * KEY_BYTES || !text.is_ascii() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_back_with_its_own_key_and_context_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::in_folder(folder.path());
        assert!(file.read().unwrap().is_none());
        let key = file.read_or_create(false).unwrap();
        let sealed = key.seal("https://a.example login", "anna:grün").unwrap();
        assert!(!sealed.windows(4).any(|bytes| bytes == b"anna"));
        assert_ne!(sealed, key.seal("https://a.example login", "anna:grün").unwrap());
        // After a restart.
        let again = file.read_or_create(true).unwrap();
        assert_eq!(again.open("https://a.example login", &sealed).unwrap(), "anna:grün");
        let elsewhere = again.open("https://b.example login", &sealed);
        assert_eq!(elsewhere, Err(SecretError::Damaged));
        for cut in 0..sealed.len() {
            assert!(again.open("https://a.example login", &sealed[..cut]).is_err(), "{cut}");
        }
        let other = KeyFile::new(folder.path().join("other.key")).read_or_create(false).unwrap();
        let wrong = other.open("https://a.example login", &sealed).unwrap_err();
        assert!(matches!(&wrong, SecretError::OtherKey(file) if file.ends_with("other.key")));
    }

    #[test]
    fn the_file_is_for_its_owner_only_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::in_folder(folder.path());
        file.read_or_create(false).unwrap();
        let mode = fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!file.is_open_to_others());
        let before = fs::read(file.path()).unwrap();
        file.create("tidings-key-1 00\n").unwrap();
        assert_eq!(fs::read(file.path()).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left next to it");
    }

    #[test]
    fn a_missing_or_wrong_file_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::in_folder(folder.path());
        let missing = file.read_or_create(true).unwrap_err().to_string();
        assert!(missing.contains("secrets.key is missing") && missing.contains("backup"));
        assert!(!file.path().exists(), "a new key would hide the loss");
        for wrong in ["", "tidings-key-1", "tidings-key-1 zz", "hello\n", &"x".repeat(2000)] {
            fs::write(file.path(), wrong).unwrap();
            let error = file.read().unwrap_err().to_string();
            assert!(error.contains("not a key file"), "{wrong:?}: {error}");
        }
    }
}
