//! Who was erased, by keyed digests: in the table `erasure`, and in a file beside
//! the database, because a copy of before that is put in the database's place does
//! not know. At each start both are made equal, and who is missing in the
//! database is erased from it before the first request.
//!
//! The digest of a person is of their number and the second in which their account
//! was made: a copy of before may give the same number to somebody else later.
//! Decision privacy-7.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::base::files::{beside, give_to_owner_of};
use crate::base::text::{from_hex, hex};
use crate::base::{Instant, Sealer, UserId};
use crate::db::access;

/// A person who was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub person: [u8; 32],
    pub email: [u8; 32],
    pub at: Instant,
}

/// The digest of an account.
pub fn person(sealer: &Sealer, id: UserId, made: Instant) -> [u8; 32] {
    sealer.noted(&["person", &id.to_string(), &made.0.to_string()])
}

/// The digest of an e-mail address.
pub fn address(sealer: &Sealer, email: &str) -> [u8; 32] {
    sealer.noted(&["address", email])
}

/// The file beside a database.
pub fn file_of(database: &Path) -> PathBuf {
    beside(database, ".erased")
}

/// All notes of the file; lines that are none are passed over.
pub fn read(path: &Path) -> std::io::Result<Vec<Note>> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    Ok(text.lines().filter_map(parsed).collect())
}

fn parsed(line: &str) -> Option<Note> {
    let mut words = line.split(' ');
    let at = words.next()?.parse().ok()?;
    let mut digest = || from_hex(words.next()?)?.try_into().ok();
    Some(Note { person: digest()?, email: digest()?, at: Instant(at) })
}

/// Adds notes to the file; they are on the disk afterwards. The file belongs to
/// whom the database belongs to.
pub fn add(path: &Path, database: &Path, notes: &[Note]) -> std::io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let is_new = !path.try_exists()?;
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let mut lines = String::new();
    // After a line that was cut off, the next begins anew.
    if file.metadata()?.len() > 0 {
        lines.push('\n');
    }
    for note in notes {
        let (person, email) = (hex(&note.person), hex(&note.email));
        lines.extend([&*note.at.0.to_string(), " ", &*person, " ", &*email, "\n"]);
    }
    file.write_all(lines.as_bytes())?;
    give_to_owner_of(&file, database)?;
    file.sync_all()?;
    if is_new {
        // Its name, too.
        File::open(access::folder_of(path))?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written_and_a_cut_line_hurts_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (path, database) = (folder.path().join("x.db.erased"), folder.path());
        assert_eq!(read(&path).unwrap(), []);
        let note = |byte| Note { person: [byte; 32], email: [7; 32], at: Instant(5) };
        add(&path, database, &[note(1)]).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"9 abc").unwrap();
        add(&path, database, &[note(2), note(3)]).unwrap();
        assert_eq!(read(&path).unwrap(), [note(1), note(2), note(3)]);
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_digest_needs_the_key_and_tells_accounts_apart() {
        let (ours, theirs) = (Sealer::new([1; 32]), Sealer::new([2; 32]));
        let digest = person(&ours, UserId(7), Instant(5));
        assert_ne!(digest, person(&theirs, UserId(7), Instant(5)));
        assert_ne!(digest, person(&ours, UserId(7), Instant(6)));
        assert_ne!(digest, person(&ours, UserId(75), Instant(5)));
        assert_ne!(address(&ours, "a@b.c"), address(&theirs, "a@b.c"));
    }
}
