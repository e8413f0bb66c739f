//! The number of commits, by which a reader knows whether its snapshot is the newest.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the writer's commits, twice each: the number is odd while one is under way,
/// when it is unknown whether a snapshot includes it.
#[derive(Default)]
pub struct Commits(AtomicU64);

/// The number at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand(u64);

impl Commits {
    /// Runs a commit and counts it. After it, every thread sees another number.
    pub fn count<T>(&self, commit: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::AcqRel);
        let done = commit();
        self.0.fetch_add(1, Ordering::AcqRel);
        done
    }

    /// The number now. A snapshot that begins later includes all commits before it.
    pub fn stand(&self) -> Stand {
        Stand(self.0.load(Ordering::Acquire))
    }

    /// Whether nothing was committed since a number was taken, nor is about to be.
    pub fn is_at(&self, stand: Stand) -> bool {
        stand.0.is_multiple_of(2) && self.stand() == stand
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_until_a_commit_begins() {
        let commits = Commits::default();
        let before = commits.stand();
        assert!(commits.is_at(before));
        let within = commits.count(|| {
            assert!(!commits.is_at(before));
            commits.stand()
        });
        assert!(!commits.is_at(before) && !commits.is_at(within));
        assert!(commits.is_at(commits.stand()));
    }
}
