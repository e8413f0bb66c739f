//! Why a process cannot write a database: because of the file, the files that
//! SQLite keeps beside it, or their folder. Root may write almost everything, so
//! the first check is whether the owner made the file read-only.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{OpenError, beside};

/// Files beside a database while it is open or after a crash.
pub(super) const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Refuses a database that this process cannot write, naming the file that
/// cannot be written. This process must not have a connection open.
pub(super) fn require_writable(database: &Path) -> Result<(), OpenError> {
    if std::fs::metadata(database).is_ok_and(|found| found.permissions().readonly()) {
        return Err(OpenError::read_only(database, database));
    }
    files_of(database).try_for_each(|file| {
        match File::options().read(true).write(true).open(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(not_writable(database, &file, "write to", error))
            }
            _ => Ok(()),
        }
    })
}

fn files_of(database: &Path) -> impl Iterator<Item = PathBuf> {
    [""].into_iter().chain(COMPANIONS).map(|suffix| beside(database, suffix))
}

/// The error when the system refuses to open `file` of a database for writing.
pub(super) fn not_writable(
    database: &Path,
    file: &Path,
    doing: &'static str,
    cause: std::io::Error,
) -> OpenError {
    match cause.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            OpenError::read_only(database, file)
        }
        _ => OpenError::io(doing, file)(cause),
    }
}

/// The first file that the owner of a database cannot write, whichever user runs
/// this; `None` when a server that runs as that owner can write all of them.
pub fn obstacle(database: &Path) -> Option<String> {
    let owner = std::fs::metadata(database).ok()?.uid();
    files_of(database).find_map(|file| {
        let found = std::fs::metadata(&file).ok()?;
        (found.uid() != owner || found.permissions().mode() & 0o200 == 0).then(|| {
            let (path, advice) = (file.display(), remedy(&found, owner, &file));
            format!("{path} {}, so `serve` cannot write it: {advice}", rights(&found))
        })
    })
}

fn rights(found: &Metadata) -> String {
    format!("belongs to user {} with mode {:04o}", found.uid(), found.permissions().mode() & 0o777)
}

/// Why `file` cannot be written by this process, and what to do about it.
pub(super) fn why_not(database: &Path, file: &Path) -> String {
    let me = rustix::process::geteuid().as_raw();
    let owner = std::fs::metadata(database).map_or(me, |found| found.uid());
    let (at, found) = match std::fs::metadata(file) {
        Ok(found) => (file, found),
        // The file is missing, so it would be made in the folder.
        Err(_) => match std::fs::metadata(folder_of(file)) {
            Ok(found) => (folder_of(file), found),
            Err(error) => return error.to_string(),
        },
    };
    let named = if at == file { "it".to_owned() } else { format!("its folder {}", at.display()) };
    let named = format!("{named} {}", rights(&found));
    if me != 0 && me != owner {
        return format!("{named}, and this runs as user {me}: run it as user {owner}");
    }
    if me != 0 && found.uid() != me || found.permissions().mode() & 0o200 == 0 {
        return format!("{named}: {}", remedy(&found, owner, at));
    }
    format!("{named}, so the disk itself is read-only")
}

fn remedy(found: &Metadata, owner: u32, file: &Path) -> String {
    let path = file.display();
    let chmod = format!("chmod u+rw {path}");
    match (found.uid() == owner, found.permissions().mode() & 0o600 == 0o600) {
        (true, _) => format!("run `{chmod}`"),
        (false, true) => format!("run `chown {owner} {path}` as root"),
        (false, false) => format!("run `chown {owner} {path} && {chmod}` as root"),
    }
}

/// Flag for opening a file that is refused when its name is a symbolic link.
pub(super) const fn no_link() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// The folder that a file is or would be in.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
