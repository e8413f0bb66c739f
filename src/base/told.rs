//! What is only told: lines on standard output and standard error.
//!
//! Their reader may be gone, a full disk, or a pipe that nobody empties. None of that ends
//! or holds up who tells: a line that cannot be written now is left out and counted, and
//! the next one that can be written goes on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes that a pipe which takes any takes without a wait (`PIPE_BUF`).
const PIECE: usize = 4096;
/// How long a reader that kept up so far is waited for, in nanoseconds.
const PATIENCE_NS: i64 = 100_000_000;

static OUT: Mutex<Way> = Mutex::new(Way::NEW);
static ERR: Mutex<Way> = Mutex::new(Way::NEW);

/// Tells whole lines on standard output.
pub fn out(lines: &str) {
    OUT.lock().tell(io::stdout().as_fd(), lines.as_bytes());
}

/// Tells whole lines on standard error; how many times that had failed before, once it
/// works again.
pub fn err(lines: &[u8]) -> u64 {
    ERR.lock().tell(io::stderr().as_fd(), lines)
}

/// The way to a reader.
struct Way {
    /// Tries that failed since the last one that did not.
    lost: u64,
    /// Whether the last line was broken off.
    is_cut: bool,
}

impl Way {
    const NEW: Self = Self { lost: 0, is_cut: false };

    fn tell(&mut self, to: BorrowedFd<'_>, lines: &[u8]) -> u64 {
        let patience = if self.lost == 0 { PATIENCE_NS } else { 0 };
        let goes_on = !self.is_cut || write(to, b"\n", patience) == 1;
        let written = if goes_on { write(to, lines, patience) } else { 0 };
        if written == lines.len() {
            self.is_cut = false;
            return std::mem::take(&mut self.lost);
        }
        self.lost += 1;
        self.is_cut = written > 0 || !goes_on;
        0
    }
}

/// Writes as much as is taken without a long wait; the number of bytes.
fn write(to: BorrowedFd<'_>, bytes: &[u8], patience_ns: i64) -> usize {
    let limit = Timespec { tv_sec: 0, tv_nsec: patience_ns };
    let mut written = 0;
    while written < bytes.len() {
        let mut asked = [PollFd::from_borrowed_fd(to, PollFlags::OUT)];
        let is_ready = rustix::io::retry_on_intr(|| poll(&mut asked, Some(&limit)));
        let end = bytes.len().min(written + PIECE);
        match rustix::io::retry_on_intr(|| match is_ready {
            Ok(1..) => rustix::io::write(to, &bytes[written..end]),
            _ => Ok(0),
        }) {
            Ok(more @ 1..) => written += more,
            _ => break,
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_reader_that_is_away_costs_lines_and_nothing_else() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut way = Way::NEW;
        let line = format!("{}\n", "x".repeat(2 * PIECE));
        let told = (0..100).filter(|_| {
            way.tell(writer.as_fd(), line.as_bytes());
            way.lost == 0
        });
        let told = told.count();
        assert!((1..100).contains(&told), "{told}");
        let lost = way.lost;
        // Whatever was there is read; the line that was broken off stands alone.
        let mut read = vec![0; told * line.len()];
        reader.read_exact(&mut read).unwrap();
        let mut rest = vec![0; 1 << 16];
        let cut = way.is_cut;
        if cut {
            let length = reader.read(&mut rest).unwrap();
            assert!(!rest[..length].contains(&b'\n'));
        }
        assert_eq!(way.tell(writer.as_fd(), b"again\n"), lost);
        assert_eq!(way.tell(writer.as_fd(), b"and on\n"), 0);
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, if cut { "\nagain\nand on\n" } else { "again\nand on\n" });
    }

    #[test]
    fn a_full_disk_costs_lines_and_nothing_else() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut way = Way::NEW;
        assert_eq!((way.tell(full.as_fd(), b"one\n"), way.lost), (0, 1));
    }
}
