//! Whether the disk has room for more than a page.
//!
//! SQLite's log keeps what it grew to before a write was cut off. A page fits
//! into that on a full disk, and what people send does not.

use std::path::Path;

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

/// What must be free: more than most commits write.
const ROOM: u64 = 1024 * 1024;

/// Whether so much can be had in a folder. It is asked for in a file without a
/// name, of which nothing stays. Where the system cannot say, there is room.
pub(super) fn is_in(folder: &Path) -> bool {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let asked = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)
        .and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, ROOM));
    // No space, a quota, or a limit on the size of files.
    !matches!(asked, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_space_has_room_and_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_in(folder.path()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(is_in(Path::new("/proc")), "nothing is known of it");
    }
}
