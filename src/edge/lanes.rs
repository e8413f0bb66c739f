//! Lanes: places for requests that take long.
//!
//! Each kind of slow work has places of its own, so that a marketplace that
//! hangs holds no login, and a flood of logins no report. Within a lane
//! nobody can have all places either: a caller runs few requests at a time,
//! and may have no more places than are left for everybody else, so the next
//! caller finds one. A request without a place is answered 503 at once.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::http::Problem;
use crate::http::limit::Subject;

/// Requests of a lane.
#[derive(Clone, Copy)]
struct Size {
    /// That run at a time; each has a thread.
    running: usize,
    /// That run or wait.
    places: usize,
    /// That run at a time for one caller.
    running_of_one: usize,
    /// That run or wait for one caller.
    places_of_one: usize,
    /// The message if there is no place.
    refusal: &'static str,
    /// Seconds after which a refused caller may retry.
    retry_after_s: i64,
}

/// Five of them call at a time (`marketplace/client/limits.rs`).
const OUTSIDE: Size = Size {
    running: 16,
    places: 128,
    running_of_one: 2,
    places_of_one: 32,
    refusal: "too many calls to other services at once; try again in a moment",
    retry_after_s: 5,
};
/// One of them hashes at a time (`accounts/passwords.rs`).
const PASSWORDS: Size = Size {
    running: 2,
    places: 128,
    running_of_one: 2,
    places_of_one: 64,
    refusal: "too many logins at once; try again in a moment",
    retry_after_s: 2,
};
const SLOW: Size = Size {
    running: 16,
    places: 128,
    running_of_one: 2,
    places_of_one: 64,
    refusal: "too many slow requests at once; try again in a moment",
    retry_after_s: 2,
};
/// Runs of the periodic tasks that are called for: one after the other. Those
/// who call by address are one caller, who may have half of the places.
const RUNS: Size = Size {
    running: 1,
    places: 128,
    running_of_one: 1,
    places_of_one: 64,
    refusal: "too many calls for the periodic tasks at once; try again in a moment",
    retry_after_s: 2,
};

/// Threads that all lanes need together, so that none waits for another's.
pub const THREADS: usize = OUTSIDE.running + 2 * PASSWORDS.running + SLOW.running + RUNS.running;

/// All lanes.
pub struct Lanes {
    /// Calls to the marketplace and other services.
    pub outside: Lane,
    /// Passwords, from anywhere.
    pub passwords: Lane,
    /// Passwords of people with a session, and from addresses with a good
    /// login of late, which no flood from elsewhere delays.
    pub known_passwords: Lane,
    /// Our own aggregates, exports and files.
    pub slow: Lane,
    /// Runs of the periodic tasks.
    pub runs: Lane,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            outside: Lane::new(OUTSIDE),
            passwords: Lane::new(PASSWORDS),
            known_passwords: Lane::new(PASSWORDS),
            slow: Lane::new(SLOW),
            runs: Lane::new(RUNS),
        }
    }
}

/// Whose places are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// An identity's: its kind and number.
    Identity(&'static str, i64),
    /// An address's, of callers without an identity.
    Address(Subject),
}

/// One lane.
pub struct Lane {
    size: Size,
    running: Arc<Semaphore>,
    taken: Arc<Mutex<Taken>>,
}

/// Places that are taken.
#[derive(Default)]
struct Taken {
    all: usize,
    of: HashMap<Whose, Own>,
}

/// What one caller has of a lane.
struct Own {
    places: usize,
    running: Arc<Semaphore>,
}

impl Lane {
    fn new(size: Size) -> Self {
        Self { size, running: Arc::new(Semaphore::new(size.running)), taken: Arc::default() }
    }

    /// A place in the lane, or the refusal if there is none.
    pub fn enter(&self, whose: Whose) -> Result<Place, Problem> {
        let size = self.size;
        let mut taken = lock(&self.taken);
        let own = taken.of.get(&whose).map_or(0, |own| own.places);
        if own >= size.places_of_one.min(size.places - taken.all) {
            return Err(Problem::unavailable(size.refusal, size.retry_after_s));
        }
        taken.all += 1;
        let own = taken.of.entry(whose).or_insert_with(|| Own {
            places: 0,
            running: Arc::new(Semaphore::new(size.running_of_one)),
        });
        own.places += 1;
        Ok(Place {
            running_of_one: Arc::clone(&own.running),
            running: Arc::clone(&self.running),
            taken: Arc::clone(&self.taken),
            whose,
        })
    }
}

/// A place in a lane; it is free again when dropped.
pub struct Place {
    running_of_one: Arc<Semaphore>,
    running: Arc<Semaphore>,
    taken: Arc<Mutex<Taken>>,
    whose: Whose,
}

/// A place whose turn has come.
pub struct Turn {
    _running: [OwnedSemaphorePermit; 2],
    _place: Place,
}

impl Place {
    /// Waits for the turn: first among the caller's own requests, so that a
    /// caller with many stands in the common queue with few.
    pub async fn turn(self) -> Result<Turn, AcquireError> {
        let own = Arc::clone(&self.running_of_one).acquire_owned().await?;
        let all = Arc::clone(&self.running).acquire_owned().await?;
        Ok(Turn { _running: [own, all], _place: self })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= 1;
        if let Some(own) = taken.of.get_mut(&self.whose) {
            own.places -= 1;
            if own.places == 0 {
                taken.of.remove(&self.whose);
            }
        }
    }
}

/// No code panics while it holds the lock, so a poisoned one is sound.
fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        running: 3,
        places: 12,
        running_of_one: 2,
        places_of_one: 8,
        refusal: "full",
        retry_after_s: 2,
    };

    fn fill(lane: &Lane, who: i64) -> Vec<Place> {
        std::iter::from_fn(|| lane.enter(Whose::Identity("session", who)).ok()).collect()
    }

    #[test]
    fn the_next_caller_finds_a_place() {
        let lane = Lane::new(SIZE);
        let places: Vec<_> = (0..4).map(|who| fill(&lane, who)).collect();
        let counts: Vec<_> = places.iter().map(Vec::len).collect();
        assert_eq!(counts, [6, 3, 2, 1]);
        let refused = lane.enter(Whose::Identity("session", 9)).err().unwrap();
        assert_eq!(refused.retry_after_s, Some(2), "no place is left at all");
        drop(places);
        assert_eq!(lock(&lane.taken).all, 0);
        assert!(lock(&lane.taken).of.is_empty());
        let small = Lane::new(Size { places_of_one: 2, ..SIZE });
        assert_eq!(fill(&small, 1).len(), 2);
    }

    #[tokio::test]
    async fn a_caller_with_many_requests_runs_few_and_delays_nobody() {
        let lane = Lane::new(SIZE);
        let mut greedy = fill(&lane, 1).into_iter();
        let running = [greedy.next().unwrap().turn().await, greedy.next().unwrap().turn().await];
        let third = tokio::spawn(greedy.next().unwrap().turn());
        tokio::task::yield_now().await;
        let other = lane.enter(Whose::Identity("session", 2)).unwrap();
        // Although the third request of the other caller came first.
        let _other = other.turn().await.unwrap();
        assert!(!third.is_finished());
        drop(running);
        third.await.unwrap().unwrap();
    }
}
