//! The folder of a demonstration's data. It is removed when the demonstration
//! ends. If the process was killed, the next demonstration removes the folder.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// What its name begins with; random digits follow.
const PREFIX: &str = "seller-platform-demo-";
const DIGITS: usize = 12;
/// The database in it. All files in the folder begin with this name.
pub const DATABASE: &str = "demo.db";

/// A folder that is removed when the demonstration ends.
pub struct ThrowAway {
    path: PathBuf,
    /// Locked for as long as the demonstration lives, however it ends.
    _lock: File,
}

impl ThrowAway {
    /// Makes a folder, and removes those whose demonstration was killed.
    pub fn new() -> anyhow::Result<Self> {
        let place = std::env::temp_dir();
        remove_left(&place);
        loop {
            let path = place
                .join(format!("{PREFIX}{}", crate::base::secrets::random_hex::<{ DIGITS / 2 }>()));
            let making = || format!("cannot make {}", path.display());
            fs::create_dir(&path).with_context(making)?;
            // A demonstration that starts now may have removed it meanwhile.
            if let Some(lock) = take(&path) {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ThrowAway {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, folder = %self.path.display(), "the demonstration's data was not removed");
        }
    }
}

/// Removes what killed demonstrations of this account left in a folder. What
/// cannot be removed stays: it does no harm.
fn remove_left(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| is_ours(path)) {
        let lock = take(&path);
        if lock.is_some() && holds_a_demonstration(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether a path has the name of such a folder, is one, and is this account's.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let digits = name.and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
    let is_named =
        digits.len() == DIGITS && digits.bytes().all(|digit| b"0123456789abcdef".contains(&digit));
    // `symlink_metadata` does not follow a link, so a link is no folder here.
    is_named
        && fs::symlink_metadata(path)
            .is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw())
}

/// Whether nothing but a demonstration's data is in a folder, and no server
/// is on it.
fn holds_a_demonstration(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    let is_known = |name: &str| name.starts_with(DATABASE);
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_known)))
        && !crate::db::is_served(&folder.join(DATABASE))
}

/// Locks a folder that still exists; `None` when another process has the lock.
fn take(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    let (held, named) = (file.metadata().ok()?, fs::symlink_metadata(path).ok()?);
    (named.ino() == held.ino() && named.dev() == held.dev()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_demonstration_left_goes() {
        let place = tempfile::tempdir().unwrap();
        let folder = |name: &str, files: &[&str]| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            for file in files {
                fs::write(path.join(file), "x").unwrap();
            }
            path
        };
        let left = ["demo.db", "demo.db-wal", "demo.db-shm", "demo.db.lock", "demo.db.key"];
        let gone = folder("seller-platform-demo-0123456789ab", &left);
        let empty = folder("seller-platform-demo-0123456789ac", &[]);
        let living = folder("seller-platform-demo-0123456789ad", &left);
        let _lock = take(&living).unwrap();
        let served = folder("seller-platform-demo-0123456789ae", &left);
        let server = File::open(served.join("demo.db.lock")).unwrap();
        server.try_lock().unwrap();
        let stay = [
            living,
            served,
            folder("seller-platform-demo-0123456789af", &["demo.db", "fotos"]),
            folder("seller-platform-demo-0123456789AB", &left),
            folder("seller-platform-demo-0123456789abc", &left),
            folder("seller-platform-demo-notes", &left),
            folder("seller-platform-0123456789ab", &left),
        ];
        let target = folder("elsewhere", &left);
        let link = place.path().join("seller-platform-demo-0123456789b0");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let file = place.path().join("seller-platform-demo-0123456789b1");
        fs::write(&file, "x").unwrap();
        remove_left(place.path());
        for path in [gone, empty] {
            assert!(!path.exists(), "{}", path.display());
        }
        for path in stay.iter().chain([&target, &link, &file]) {
            assert!(path.exists(), "{}", path.display());
        }
        assert_eq!(fs::read_dir(&target).unwrap().count(), left.len());
    }
}
