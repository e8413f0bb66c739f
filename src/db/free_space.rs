//! Whether the disk has room for more than a page.
//!
//! When a write fails on a full disk, SQLite's log file keeps the length that it
//! had reached. So one page still fits into it, but larger writes do not.

use std::path::Path;

use rusqlite::{Connection, ffi};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::access;

/// Bytes that must be free: more than most commits write.
pub const ROOM: u64 = 1024 * 1024;

/// Whether that many bytes are free in a folder. They are requested for a file
/// without a name, which disappears at once. If the system cannot tell, the
/// answer is yes.
pub fn has_free_space(folder: &Path) -> bool {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let asked = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)
        .and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, ROOM));
    // No space, a quota, or a limit on the size of files.
    !matches!(asked, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
}

/// Bytes that copies leave free for what the service itself writes: more than its
/// log takes, but at most a tenth of a small disk.
const RESERVE: u64 = 64 << 20;

/// Free bytes of a folder's file system, and how many of them copies leave alone;
/// `None` when the system cannot tell.
pub(super) fn free_and_reserve(folder: &Path) -> Option<(u64, u64)> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let total = found.f_blocks.saturating_mul(found.f_frsize);
    Some((found.f_bavail.saturating_mul(found.f_frsize), RESERVE.min(total / 10)))
}

/// Fails like a write that finds no space, if the disk has no room.
pub(super) fn require(connection: &Connection) -> Result<(), ffi::Error> {
    let path = connection.path().map(Path::new);
    let has_room = path.is_none_or(|path| has_free_space(access::folder_of(path)));
    has_room.then_some(()).ok_or_else(|| ffi::Error::new(ffi::SQLITE_FULL))
}

/// Whether the file system of a folder is mounted read-only.
pub(super) fn is_read_only(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_space_has_room_and_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(has_free_space(folder.path()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(has_free_space(Path::new("/proc")), "nothing is known of it");
    }
}
