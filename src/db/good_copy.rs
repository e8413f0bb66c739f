//! Finding a copy to restore.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{access, backup, beside};
use crate::base::text;

/// Copies that are looked at before the search ends.
const TRIES: usize = 5;

/// What a manifest says of its copy.
#[derive(Deserialize)]
struct Manifest {
    bytes: u64,
    sha256: String,
}

/// The newest copy beside the database or among its backups that is as its
/// manifest says. Reads whole files: not for requests.
pub fn newest(database: &Path, backup_dir: Option<&Path>) -> Option<PathBuf> {
    let folders = [Some(access::folder_of(database)), backup_dir];
    let entries = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = entries.flatten().flatten().map(|entry| entry.path());
    let mut copies: Vec<_> = files
        // Only complete copies have their manifest beside them.
        .filter(|file| file != database && beside(file, ".json").is_file())
        .filter_map(|file| Some((std::fs::metadata(&file).ok()?.modified().ok()?, file)))
        .collect();
    copies.sort_unstable();
    copies.into_iter().rev().map(|(_, file)| file).take(TRIES).find(|file| is_as_made(file))
}

fn is_as_made(copy: &Path) -> bool {
    let manifest = File::open(beside(copy, ".json")).ok();
    let manifest: Option<Manifest> =
        manifest.and_then(|file| serde_json::from_reader(std::io::BufReader::new(file)).ok());
    manifest.is_some_and(|manifest| {
        backup::digest(copy).is_ok_and(|(bytes, sha256)| {
            bytes == manifest.bytes && text::hex(&sha256) == manifest.sha256
        })
    })
}
