//! Lanes: queues with a limited number of places, for slow requests.
//!
//! Each kind of slow work has a lane of its own. So a marketplace that does not
//! answer delays no login, and a flood of logins delays no report. One caller
//! cannot take all places of a lane either: it runs few requests at a time, and
//! may hold at most as many places as are still free, so the next caller finds
//! one. A request that gets no place is answered with 503 at once. Decision http-22.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::http::Problem;
use crate::http::limit::Subject;

/// Sizes of a lane, in requests.
#[derive(Clone, Copy)]
struct Size {
    /// Requests that run at a time; each uses a thread.
    running: usize,
    /// Requests that run or wait.
    places: usize,
    /// Requests of one caller that run at a time.
    running_of_one: usize,
    /// Requests of one caller that run or wait.
    places_of_one: usize,
    /// The message if there is no place.
    refusal: &'static str,
    /// Seconds after which a refused caller may retry.
    retry_after_s: i64,
}

/// Our own work; the other lanes say what is different in them.
const SLOW: Size = Size {
    running: 16,
    places: 128,
    running_of_one: 2,
    places_of_one: 64,
    refusal: "too many slow requests at once; try again in a moment",
    retry_after_s: 2,
};
/// Of the running requests, five call the marketplace at a time
/// (`marketplace/client/limits.rs`).
const OUTSIDE: Size = Size {
    places_of_one: 32,
    refusal: "too many calls to other services at once; try again in a moment",
    retry_after_s: 5,
    ..SLOW
};
/// Of the running requests, one computes a password hash at a time
/// (`accounts/passwords.rs`).
const PASSWORDS: Size =
    Size { running: 2, refusal: "too many logins at once; try again in a moment", ..SLOW };
/// Documents that programs name as theirs. Anybody can name one that hangs, so
/// an address has one at a time.
const DOCUMENTS: Size = Size {
    running: 4,
    places: 16,
    running_of_one: 1,
    places_of_one: 2,
    refusal: "too many documents of programs are being read at once; try again in a moment",
    retry_after_s: 5,
};
/// Requested runs of the periodic tasks, one after the other. All calls of the
/// cron address count as one caller, which may hold half of the places.
const RUNS: Size = Size {
    running: 1,
    running_of_one: 1,
    refusal: "too many calls for the periodic tasks at once; try again in a moment",
    ..SLOW
};

/// Threads that all lanes need together, so that no lane waits for the threads
/// of another one.
pub const THREADS: usize =
    OUTSIDE.running + 2 * DOCUMENTS.running + 2 * PASSWORDS.running + SLOW.running + RUNS.running;

pub struct Lanes {
    /// Calls to the marketplace and other services.
    pub outside: Lane,
    /// Documents of programs, for unknown callers.
    pub documents: Lane,
    /// Documents of programs, for people with a session and for addresses with
    /// a recent successful login.
    pub known_documents: Lane,
    /// Requests with a password, from unknown callers.
    pub passwords: Lane,
    /// Requests with a password, from people with a session and from addresses
    /// with a recent successful login. A flood from other addresses does not
    /// delay them.
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
            documents: Lane::new(DOCUMENTS),
            known_documents: Lane::new(DOCUMENTS),
            passwords: Lane::new(PASSWORDS),
            known_passwords: Lane::new(PASSWORDS),
            slow: Lane::new(SLOW),
            runs: Lane::new(RUNS),
        }
    }
}

/// How much is in a lane.
pub struct LaneFigures {
    /// Its name in figures.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    pub running: usize,
    pub waiting: usize,
    /// Requests that may run at a time.
    pub threads: usize,
}

impl Lanes {
    /// How much is in each lane.
    pub fn figures(&self) -> [LaneFigures; 7] {
        let of = |lane: &Lane, name, title| {
            let threads = lane.size.running;
            let running = threads.saturating_sub(lane.running.available_permits());
            let waiting = lane.taken.lock().all.saturating_sub(running);
            LaneFigures { name, title, running, waiting, threads }
        };
        [
            of(&self.outside, "outside", "Chamadas a outros serviços"),
            of(&self.documents, "documents", "Documentos de programas"),
            of(
                &self.known_documents,
                "known_documents",
                "Documentos de programas, para conhecidos",
            ),
            of(&self.passwords, "passwords", "Senhas"),
            of(&self.known_passwords, "known_passwords", "Senhas, para conhecidos"),
            of(&self.slow, "slow", "Relatórios, listas e arquivos"),
            of(&self.runs, "runs", "Execuções pedidas do cron"),
        ]
    }
}

/// The caller whose places are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallerKey {
    /// A known caller, by kind and number.
    Identity(&'static str, i64),
    /// The network address of a caller that is not known.
    Address(Subject),
}

pub struct Lane {
    size: Size,
    running: Arc<Semaphore>,
    taken: Arc<Mutex<Taken>>,
}

/// Places that are taken.
#[derive(Default)]
struct Taken {
    all: usize,
    of: HashMap<CallerKey, CallerShare>,
}

/// The places that one caller holds in a lane.
struct CallerShare {
    places: usize,
    running: Arc<Semaphore>,
}

impl Lane {
    fn new(size: Size) -> Self {
        Self { size, running: Arc::new(Semaphore::new(size.running)), taken: Arc::default() }
    }

    /// A place in the lane, or the refusal if there is none.
    pub fn enter(&self, caller_key: CallerKey) -> Result<LanePermit, Problem> {
        let size = self.size;
        let mut taken = self.taken.lock();
        let own = taken.of.get(&caller_key).map_or(0, |own| own.places);
        if own >= size.places_of_one.min(size.places - taken.all) {
            return Err(Problem::unavailable(size.refusal, size.retry_after_s));
        }
        taken.all += 1;
        let own = taken.of.entry(caller_key).or_insert_with(|| CallerShare {
            places: 0,
            running: Arc::new(Semaphore::new(size.running_of_one)),
        });
        own.places += 1;
        Ok(LanePermit {
            running_of_one: Arc::clone(&own.running),
            running: Arc::clone(&self.running),
            taken: Arc::clone(&self.taken),
            caller_key,
        })
    }
}

/// A place in a lane; it is free again when dropped.
pub struct LanePermit {
    running_of_one: Arc<Semaphore>,
    running: Arc<Semaphore>,
    taken: Arc<Mutex<Taken>>,
    caller_key: CallerKey,
}

/// A place whose request may run now.
pub struct Turn {
    _running: [OwnedSemaphorePermit; 2],
    _place: LanePermit,
}

impl LanePermit {
    /// Waits until the request may run: first for the other requests of its
    /// caller, then for those of all callers. So a caller with many requests
    /// has only few in the common queue.
    pub async fn turn(self) -> Result<Turn, AcquireError> {
        let own = Arc::clone(&self.running_of_one).acquire_owned().await?;
        let all = Arc::clone(&self.running).acquire_owned().await?;
        Ok(Turn { _running: [own, all], _place: self })
    }
}

impl Drop for LanePermit {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        taken.all -= 1;
        if let Some(own) = taken.of.get_mut(&self.caller_key) {
            own.places -= 1;
            if own.places == 0 {
                taken.of.remove(&self.caller_key);
            }
        }
    }
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

    fn fill(lane: &Lane, who: i64) -> Vec<LanePermit> {
        std::iter::from_fn(|| lane.enter(CallerKey::Identity("session", who)).ok()).collect()
    }

    #[test]
    fn the_next_caller_finds_a_place() {
        let lane = Lane::new(SIZE);
        let places: Vec<_> = (0..4).map(|who| fill(&lane, who)).collect();
        let counts: Vec<_> = places.iter().map(Vec::len).collect();
        assert_eq!(counts, [6, 3, 2, 1]);
        let refused = lane.enter(CallerKey::Identity("session", 9)).err().unwrap();
        assert_eq!(refused.retry_after_s, Some(2), "no place is left at all");
        drop(places);
        assert_eq!(lane.taken.lock().all, 0);
        assert!(lane.taken.lock().of.is_empty());
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
        let other = lane.enter(CallerKey::Identity("session", 2)).unwrap();
        // It runs, although the third request of caller 1 came earlier.
        let _other = other.turn().await.unwrap();
        assert!(!third.is_finished());
        drop(running);
        third.await.unwrap().unwrap();
    }
}
