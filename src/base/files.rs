//! Files: their names beside one another, their owners, and what is removed after its use.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

/// A file beside another one: its path with `suffix` added to the name.
pub fn beside(path: &Path, suffix: impl AsRef<OsStr>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file, which need not be there.
pub fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives a file, which root may have made, to the owner of another one.
pub fn give_to_owner_of(file: &File, other: &Path) -> Result<()> {
    let (owner, own) = (std::fs::metadata(other)?, file.metadata()?);
    if (owner.uid(), owner.gid()) == (own.uid(), own.gid()) {
        return Ok(());
    }
    fchown(file, Some(owner.uid()), Some(owner.gid()))
}

/// A folder for one act, removed with all that is in it when the value is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Makes the folder, which nobody else may enter.
    pub fn make(path: PathBuf) -> Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
