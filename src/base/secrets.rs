//! Randomness, tokens and encryption at rest.
//!
//! Tokens leave the process once and are stored as digests
//! ([`crate::base::ids::TokenHash`]). Values that must be read back
//! (marketplace tokens, generated secrets) are sealed: encrypted with
//! XChaCha20-Poly1305 and the installation's key. Table, column and row are
//! authenticated too, so a value that was moved to another place cannot be
//! decrypted.

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::base::files::{beside, give_to_owner_of};
use crate::base::text::{from_hex, hex};

/// Layout of a sealed value: version, key id (4 bytes), nonce (24), box.
const VERSION: u8 = 1;
const NONCE_LEN: usize = 24;
const HEADER_LEN: usize = 5;

/// Random bytes from the operating system.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A random token of twice `N` hexadecimal characters.
pub fn random_hex<const N: usize>() -> String {
    hex(&random::<N>())
}

/// Text that must not reach a log or an error message.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares in constant time, so that the time does not show how much is right.
    pub fn matches(&self, presented: &str) -> bool {
        use subtle::ConstantTimeEq as _;
        // Digests have one length, so the comparison does not reveal our length.
        let ours = Sha256::digest(self.0.as_bytes());
        let theirs = Sha256::digest(presented.as_bytes());
        !self.0.is_empty() && bool::from(ours.as_slice().ct_eq(theirs.as_slice()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A sealed value cannot be decrypted: another key, another place, or damage.
#[derive(Debug, thiserror::Error)]
#[error("the value does not open with this installation's key")]
pub struct SealError;

/// Where a sealed value is stored; for another place it cannot be decrypted.
#[derive(Clone, Copy)]
pub struct SealContext<'a> {
    pub table: &'a str,
    pub column: &'a str,
    /// Row, as text.
    pub row: &'a str,
}

impl SealContext<'_> {
    fn bytes(self) -> Vec<u8> {
        [self.table, self.column, self.row].join("\u{1f}").into_bytes()
    }
}

/// Seals and opens values with the installation's key.
#[derive(Clone)]
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    key_id: [u8; 4],
    /// For digests that tell nothing to whoever has not the key.
    noting: [u8; 32],
}

/// A code of a message that is still to come, under a key of any length (RFC 2104).
pub fn hmac_sha256(key: &[u8]) -> Hmac<Sha256> {
    <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length")
}

impl Sealer {
    /// A sealer for a 32-byte key.
    pub fn new(key: [u8; 32]) -> Self {
        let digest = Sha256::digest(key);
        Self {
            cipher: XChaCha20Poly1305::new(&Key::from(key)),
            key_id: std::array::from_fn(|index| digest[index]),
            noting: Sha256::new_with_prefix(b"seller-platform notes")
                .chain_update(key)
                .finalize()
                .into(),
        }
    }

    /// A sealer for a configured key: 64 hexadecimal digits, or any text of at
    /// least 16 characters, which is hashed.
    pub fn from_configured(secret: &Secret) -> Result<Self, String> {
        let text = secret.reveal().trim();
        if let Some(bytes) = from_hex(text)
            && let Ok(key) = <[u8; 32]>::try_from(bytes)
        {
            return Ok(Self::new(key));
        }
        if text.chars().count() < 16 {
            return Err("must be 64 hexadecimal digits or at least 16 characters".to_owned());
        }
        Ok(Self::new(Sha256::digest(text.as_bytes()).into()))
    }

    /// A digest of texts by which they are recognised, but not guessed without
    /// the key.
    pub fn noted(&self, texts: &[&str]) -> [u8; 32] {
        let mut mac = hmac_sha256(&self.noting);
        for text in texts {
            mac.update(&(text.len() as u64).to_be_bytes());
            mac.update(text.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }

    /// Encrypts a value for its place.
    pub fn seal(&self, plain: &[u8], place: SealContext<'_>) -> Vec<u8> {
        let nonce: [u8; NONCE_LEN] = random();
        let boxed = self
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: &place.bytes() })
            .expect("the cipher takes messages of this size");
        let mut sealed = Vec::with_capacity(HEADER_LEN + NONCE_LEN + boxed.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.key_id);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&boxed);
        sealed
    }

    /// Decrypts a value that was sealed for this place.
    pub fn open(&self, sealed: &[u8], place: SealContext<'_>) -> Result<Vec<u8>, SealError> {
        let (header, rest) = sealed.split_at_checked(HEADER_LEN).ok_or(SealError)?;
        if header[0] != VERSION || header[1..] != self.key_id {
            return Err(SealError);
        }
        let (nonce, boxed) = rest.split_at_checked(NONCE_LEN).ok_or(SealError)?;
        let nonce = <[u8; NONCE_LEN]>::try_from(nonce).map_err(|_| SealError)?;
        self.cipher
            .decrypt(&XNonce::from(nonce), Payload { msg: boxed, aad: &place.bytes() })
            .map_err(|_| SealError)
    }

    /// Decrypts a text that was sealed for this place.
    pub fn open_text(&self, sealed: &[u8], place: SealContext<'_>) -> Result<Secret, SealError> {
        String::from_utf8(self.open(sealed, place)?).map(Secret::new).map_err(|_| SealError)
    }
}

/// The key file that belongs to a database file.
pub fn key_file_of(database: &Path) -> PathBuf {
    beside(database, ".key")
}

/// Reads a key file; `None` when there is none. One that others can read, or
/// that holds no key (`InvalidData`), is an error.
pub fn key_from_file(path: &Path) -> std::io::Result<Option<[u8; 32]>> {
    use std::io::{Error, ErrorKind};
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mode = std::fs::metadata(path)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let problem = format!("its mode is {mode:04o}; run `chmod 600` on it");
        return Err(Error::new(ErrorKind::PermissionDenied, problem));
    }
    let text = str::from_utf8(&bytes).unwrap_or_default().trim();
    let key = from_hex(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let no_key = || Error::new(ErrorKind::InvalidData, "it is not 64 hexadecimal digits");
    key.map(Some).ok_or_else(no_key)
}

/// Makes a key file with mode 0600 where there is none. It gets the same owner
/// as `database`.
pub fn make_key_file(path: &Path, database: &Path) -> std::io::Result<[u8; 32]> {
    let key: [u8; 32] = random();
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(format!("{}\n", hex(&key)).as_bytes())?;
    give_to_owner_of(&file, database)?;
    file.sync_all()?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: SealContext<'_> =
        SealContext { table: "ml_account", column: "access_token", row: "777" };

    #[test]
    fn a_sealed_value_opens_in_its_own_place_only() {
        let sealer = Sealer::new([7; 32]);
        let sealed = sealer.seal(b"APP_USR-1", PLACE);
        assert_eq!(sealer.open(&sealed, PLACE).unwrap(), b"APP_USR-1");
        assert!(sealer.open(&sealed, SealContext { row: "778", ..PLACE }).is_err());
        assert!(sealer.open(&sealed, SealContext { column: "refresh_token", ..PLACE }).is_err());
        assert!(Sealer::new([8; 32]).open(&sealed, PLACE).is_err());
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let sealer = Sealer::new([7; 32]);
        let sealed = sealer.seal(b"token", PLACE);
        for index in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[index] ^= 1;
            assert!(sealer.open(&damaged, PLACE).is_err(), "byte {index}");
            assert!(sealer.open(&sealed[..index], PLACE).is_err(), "cut at {index}");
        }
    }

    #[test]
    fn secrets_compare_and_hide() {
        let secret = Secret::new("abc");
        assert!(secret.matches("abc"));
        assert!(!secret.matches("abd") && !secret.matches(""));
        assert!(!Secret::default().matches(""));
        assert_eq!(format!("{secret:?}"), "***");
    }

    #[test]
    fn the_key_file_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db.key");
        assert_eq!(key_from_file(&path).unwrap(), None);
        let key = make_key_file(&path, folder.path()).unwrap();
        assert_eq!(key_from_file(&path).unwrap(), Some(key));
        assert!(make_key_file(&path, folder.path()).is_err(), "a key was replaced");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(key_from_file(&path).unwrap_err().to_string().contains("chmod 600"));
    }
}
