//! Files of labels that were just printed, in memory until their reader has them.
//! A lost one costs one more request to the marketplace.

use parking_lot::Mutex;
use std::collections::VecDeque;

use bytes::Bytes;

use crate::base::Instant;

/// How long a file waits, and how many bytes of files may wait.
const LIFE_S: i64 = 600;
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Files by the number of their batch, oldest first.
#[derive(Default)]
pub struct PrintedFiles(Mutex<VecDeque<(i64, Instant, Bytes)>>);

impl PrintedFiles {
    /// Keeps the file of a batch. The oldest ones make room for it.
    pub fn put(&self, batch: i64, file: Bytes, now: Instant) {
        let mut files = self.0.lock();
        files.push_back((batch, now, file));
        let mut bytes: usize = files.iter().map(|(_, _, file)| file.len()).sum();
        while bytes > MOST_BYTES || files.front().is_some_and(|(_, at, _)| !waits(*at, now)) {
            let Some((_, _, gone)) = files.pop_front() else { break };
            bytes -= gone.len();
        }
    }

    /// The file of a batch, if it is still here.
    pub fn get(&self, batch: i64, now: Instant) -> Option<Bytes> {
        let files = self.0.lock();
        let found = files.iter().find(|(id, at, _)| *id == batch && waits(*at, now));
        found.map(|(_, _, file)| file.clone())
    }
}

fn waits(at: Instant, now: Instant) -> bool {
    now < at.plus(LIFE_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::NOW;

    #[test]
    fn files_wait_for_a_while_and_make_room_for_newer_ones() {
        let files = PrintedFiles::default();
        files.put(1, Bytes::from_static(b"one"), NOW);
        assert_eq!(files.get(1, NOW.plus(LIFE_S - 1)).as_deref(), Some(&b"one"[..]));
        assert_eq!(files.get(1, NOW.plus(LIFE_S)), None);
        files.put(2, Bytes::from(vec![0; MOST_BYTES]), NOW);
        assert_eq!(files.get(1, NOW), None);
        assert!(files.get(2, NOW).is_some());
        files.put(3, Bytes::from_static(b"three"), NOW);
        assert_eq!((files.get(2, NOW), files.get(3, NOW).is_some()), (None, true));
    }
}
