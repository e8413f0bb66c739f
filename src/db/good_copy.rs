//! Finding a copy to restore.

use std::path::{Path, PathBuf};

use super::access;
use super::manifest::{Manifest, sha256_of};

/// Copies that are looked at before the search ends.
const TRIES: usize = 5;

/// The newest copy beside the database or among its backups that is as its
/// manifest says. Reads whole files: not for requests.
pub fn newest(database: &Path, backup_dir: Option<&Path>) -> Option<PathBuf> {
    let folders = [Some(access::folder_of(database)), backup_dir];
    let entries = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = entries.flatten().flatten().map(|entry| entry.path());
    let mut copies: Vec<_> = files
        // Only complete copies have their manifest beside them.
        .filter(|file| file != database && Manifest::path(file).is_file())
        .filter_map(|file| Some((std::fs::metadata(&file).ok()?.modified().ok()?, file)))
        .collect();
    copies.sort_unstable();
    copies.into_iter().rev().map(|(_, file)| file).take(TRIES).find(|file| is_as_made(file))
}

fn is_as_made(copy: &Path) -> bool {
    let manifest = Manifest::of(copy).ok().flatten();
    manifest.is_some_and(|manifest| sha256_of(copy).is_ok_and(|found| manifest.is_of(&found)))
}
