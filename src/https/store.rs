//! What the directory gave, beside the database: our account there, and the newest
//! certificate with its key. Only the service's account reads them. Decision https-5.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use instant_acme::AccountCredentials;

use super::certificate::{self, Certificate};
use crate::base::files::beside;

/// Begins the line of the file that says which directory gave the certificate.
const FROM: &str = "directory: ";

/// More bytes than a certificate or an account has.
const ROOM: usize = 64 << 10;

/// A certificate that a directory gave.
pub struct Stored {
    pub certificate: Certificate,
    /// The address of the directory.
    pub directory: String,
}

/// The file of the certificate and its key. They are one file, so that no moment has
/// a key without its certificate.
fn certificate_file(database: &Path) -> PathBuf {
    beside(database, ".https.pem")
}

/// The newest certificate; `None` when there is none yet.
pub fn load(database: &Path) -> Result<Option<Stored>, String> {
    let path = certificate_file(database);
    if !path.exists() {
        return Ok(None);
    }
    read(&path, &certificate::bytes(&path)?).map(Some)
}

fn read(path: &Path, bytes: &[u8]) -> Result<Stored, String> {
    let name = path.display().to_string();
    let certificate = certificate::read(&name, bytes, &name, bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let directory = text.lines().find_map(|line| line.strip_prefix(FROM)).unwrap_or_default();
    Ok(Stored { certificate, directory: directory.to_owned() })
}

/// What a directory gives, beside the database, and in memory as long as the disk does
/// not take it: directories count what they give.
pub struct Keeper {
    certificate: PathBuf,
    /// The account at the directory, with its key.
    account: PathBuf,
    /// What is not written yet, by its file.
    unwritten: BTreeMap<PathBuf, Vec<u8>>,
}

impl Keeper {
    /// The keeper beside a database.
    pub fn beside(database: &Path) -> Self {
        let account = beside(database, ".acme-account.json");
        Self { certificate: certificate_file(database), account, unwritten: BTreeMap::new() }
    }

    /// Whether the disk would take something: it is tried.
    pub fn try_room(&self) -> std::io::Result<()> {
        let next = begin(&self.certificate, &vec![0; ROOM])?;
        std::fs::remove_file(next)
    }

    /// The newest certificate.
    pub fn certificate(&self) -> Result<Stored, String> {
        read(&self.certificate, &self.bytes(&self.certificate)?)
    }

    /// Keeps a certificate that a directory gave, in the place of the one before.
    pub fn keep(&mut self, directory: &str, key: &str, chain: &str) {
        let text = format!("{FROM}{directory}\n{}\n{}\n", key.trim(), chain.trim());
        self.put(self.certificate.clone(), text.into_bytes());
    }

    pub fn account(&self, directory: &str) -> Option<AccountCredentials> {
        let bytes = self.bytes(&self.account).ok()?;
        let known: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let is_of = known["directory"] == directory;
        serde_json::from_value(known).ok().filter(|_| is_of)
    }

    pub fn keep_account(&mut self, account: &AccountCredentials) {
        match serde_json::to_vec(account) {
            Ok(bytes) => self.put(self.account.clone(), bytes),
            Err(error) => tracing::error!(%error, "the account at the directory is not kept"),
        }
    }

    /// Whether something is in memory alone.
    pub fn owes(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Writes what is in memory alone; the reason when the disk still does not take it.
    pub fn retry(&mut self) -> Result<(), String> {
        while let Some((path, bytes)) = self.unwritten.first_key_value() {
            write(path, bytes).map_err(|error| unwritten(path, &error))?;
            self.unwritten.pop_first();
        }
        Ok(())
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.unwritten.get(path).cloned().map_or_else(|| certificate::bytes(path), Ok)
    }

    fn put(&mut self, path: PathBuf, bytes: Vec<u8>) {
        match write(&path, &bytes) {
            Ok(()) => drop(self.unwritten.remove(&path)),
            Err(error) => {
                tracing::warn!("{}", unwritten(&path, &error));
                self.unwritten.insert(path, bytes);
            }
        }
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}; it is in memory alone until that is mended", path.display())
}

/// Writes a file that is whole at every moment.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::rename(begin(path, bytes)?, path)
}

/// Writes what is to become a file under another name, which is returned.
fn begin(path: &Path, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let next = beside(path, ".next");
    // Left over from a crash, it may have any mode.
    let _ = std::fs::remove_file(&next);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
    if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
        // Half of it takes space that others need.
        let _ = std::fs::remove_file(&next);
        return Err(error);
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_does_not_take_is_kept_in_memory_and_written_later() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let mut keeper = Keeper::beside(&database);
        keeper.try_room().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // Something lies where it would be written.
        let next = beside(&certificate_file(&database), ".next");
        std::fs::create_dir(&next).unwrap();
        keeper.try_room().unwrap_err();
        let signed = rcgen::generate_simple_self_signed(["loja.example".to_owned()]).unwrap();
        keeper.keep("https://directory", &signed.signing_key.serialize_pem(), &signed.cert.pem());
        assert!(keeper.owes() && !certificate_file(&database).exists());
        let stored = keeper.certificate().unwrap();
        assert_eq!(stored.directory, "https://directory");
        assert_eq!(stored.certificate.facts.names, ["loja.example"]);
        assert!(keeper.retry().unwrap_err().contains("a.db.https.pem"));
        std::fs::remove_dir(&next).unwrap();
        keeper.retry().unwrap();
        assert!(!keeper.owes());
        assert_eq!(load(&database).unwrap().unwrap().directory, "https://directory");
    }
}
