//! The number of commits, by which a reader knows whether its snapshot is the newest.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the writer's commits, twice each: the number is odd while one is under way,
/// when it is unknown whether a snapshot includes it.
#[derive(Default)]
pub struct Commits(AtomicU64);

impl Commits {
    /// Runs a commit and counts it. After it, every thread sees another number.
    pub fn count<T>(&self, commit: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::AcqRel);
        let done = commit();
        self.0.fetch_add(1, Ordering::AcqRel);
        done
    }

    /// The number now. A snapshot that begins later includes all commits before it.
    pub fn current(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Whether nothing was committed since a number was taken, nor is about to be.
    pub fn is_current(&self, number: u64) -> bool {
        number.is_multiple_of(2) && self.current() == number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_until_a_commit_begins() {
        let commits = Commits::default();
        let before = commits.current();
        assert!(commits.is_current(before));
        let within = commits.count(|| {
            assert!(!commits.is_current(before));
            commits.current()
        });
        assert!(!commits.is_current(before) && !commits.is_current(within));
        assert!(commits.is_current(commits.current()));
    }
}
