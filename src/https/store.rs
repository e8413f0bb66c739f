//! What the directory gave, beside the database: our account there, and the newest
//! certificate with its key. Only the service's account reads them.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use instant_acme::AccountCredentials;

use super::certificate::{self, Certificate};

/// Begins the line of the file that says which directory gave the certificate.
const FROM: &str = "directory: ";

/// A certificate that a directory gave.
pub struct Stored {
    pub certificate: Certificate,
    /// The address of the directory.
    pub directory: String,
}

/// The file of the certificate and its key. They are one file, so that no moment has
/// a key without its certificate.
pub fn certificate_file(database: &Path) -> PathBuf {
    beside(database, ".https.pem")
}

/// The file of the account at the directory, with its key.
pub fn account_file(database: &Path) -> PathBuf {
    beside(database, ".acme-account.json")
}

fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name: OsString = database.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The newest certificate; `None` when there is none yet.
pub fn load(database: &Path) -> Result<Option<Stored>, String> {
    let path = certificate_file(database);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = certificate::bytes(&path)?;
    let name = path.display().to_string();
    let certificate = certificate::read((&name, &bytes), (&name, &bytes))?;
    let text = String::from_utf8_lossy(&bytes);
    let directory = text.lines().find_map(|line| line.strip_prefix(FROM)).unwrap_or_default();
    Ok(Some(Stored { certificate, directory: directory.to_owned() }))
}

/// Keeps a certificate that a directory gave, in the place of the one before.
pub fn keep(database: &Path, directory: &str, key: &str, chain: &str) -> std::io::Result<()> {
    let text = format!("{FROM}{directory}\n{}\n{}\n", key.trim(), chain.trim());
    write(&certificate_file(database), text.as_bytes())
}

/// The account at a directory, when there is one.
pub fn account(database: &Path, directory: &str) -> Option<AccountCredentials> {
    let text = std::fs::read_to_string(account_file(database)).ok()?;
    let known: serde_json::Value = serde_json::from_str(&text).ok()?;
    let is_of = known["directory"] == directory;
    serde_json::from_value(known).ok().filter(|_| is_of)
}

/// Keeps the account.
pub fn keep_account(database: &Path, account: &AccountCredentials) -> std::io::Result<()> {
    write(&account_file(database), &serde_json::to_vec(account)?)
}

/// Writes a file that is whole at every moment.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let next = beside(path, ".next");
    // Left over from a crash, it may have any mode.
    let _ = std::fs::remove_file(&next);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&next, path)
}
