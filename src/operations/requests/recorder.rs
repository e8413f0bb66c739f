//! Chooses which responses are logged, and queues their entries for writing.
//! Decision operations-7.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use http::StatusCode;

use super::masked::masked;
use super::{RequestEntry, store};
use crate::base::Instant;
use crate::db::{Db, DbError};

/// Up to this many responses per second are all logged.
const ALL_UP_TO: u32 = 50;
/// Up to this many server errors per second are all logged, however many other
/// responses there are.
const FAILURES_UP_TO: u32 = 50;
/// Of the rest, one in this many is logged and represents the others.
const ONE_IN: u32 = 100;
/// Most entries that wait to be written. While the writer is blocked, further
/// entries are dropped and counted.
const MOST_WAITING: usize = 10_000;
/// Most entries that one job of the writer stores.
pub const PIECE: usize = 100;
/// Most bytes of a path and of a method that are stored.
const LONGEST_PATH: usize = 200;
const LONGEST_METHOD: usize = 20;

/// Chooses which responses are logged, and holds their entries until written.
#[derive(Default)]
pub struct Recorder {
    rows: Vec<PathLogging>,
    answers: RateCounter,
    failures: RateCounter,
    above: AtomicU64,
    waiting: Mutex<VecDeque<RequestEntry>>,
    dropped: AtomicU64,
    /// Whether disk space ran short when it was last looked at.
    is_short: AtomicBool,
}

/// How the log shows requests of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathLogging {
    Never,
    AsAsked,
    /// The route's pattern, because a part of the path is secret.
    Pattern(&'static str),
}

impl PathLogging {
    fn of((path, is_secret): (&'static str, bool)) -> Self {
        // Not logged: what browsers and probes fetch often, and the log itself.
        let alone = ["/favicon.ico", "/healthz", "/manifest.webmanifest", "/readyz", "/sw.js"];
        let under = ["/assets/", "/admin/requisicoes"];
        if alone.contains(&path) || under.iter().any(|it| path.starts_with(it)) {
            Self::Never
        } else if is_secret {
            Self::Pattern(path)
        } else {
            Self::AsAsked
        }
    }
}

/// Counts within the current second: the upper 32 bits hold the second, the lower
/// 32 bits the count.
#[derive(Default)]
struct RateCounter(AtomicU64);

impl RateCounter {
    /// Returns whether one more is within `most` for this second, and counts it.
    fn takes(&self, now: Instant, most: u32) -> bool {
        let second = now.0.cast_unsigned() << 32;
        let (this, count) = (!u64::from(u32::MAX), u64::from(u32::MAX));
        let state = self.0.load(Ordering::Relaxed);
        if state & this == second {
            if state & count >= u64::from(most) {
                return false;
            }
        } else {
            let (is, relaxed) = (second | 1, Ordering::Relaxed);
            if self.0.compare_exchange(state, is, relaxed, relaxed).is_ok() {
                return true;
            }
        }
        // At the end of a second, racing threads may count one in the wrong second.
        self.0.fetch_add(1, Ordering::Relaxed) & count < u64::from(most)
    }
}

impl Recorder {
    /// A recorder for the rows of a table: the path of each, and whether a part of it is
    /// secret.
    pub fn new(rows: impl Iterator<Item = (&'static str, bool)>) -> Self {
        Self { rows: rows.map(PathLogging::of).collect(), ..Self::default() }
    }

    /// Whether a response is logged: `Some` with the number of responses that
    /// the entry represents. `row` is `None` when no route matched. To be called
    /// once for each response.
    pub fn admits(&self, row: Option<usize>, status: StatusCode, now: Instant) -> Option<u32> {
        if self.path_logging(row) == PathLogging::Never {
            return None;
        }
        let is_failure = status.is_server_error();
        if is_failure && self.failures.takes(now, FAILURES_UP_TO)
            || self.answers.takes(now, ALL_UP_TO)
        {
            return Some(1);
        }
        let before = self.above.fetch_add(1, Ordering::Relaxed);
        let is_last = (before + 1).is_multiple_of(u64::from(ONE_IN));
        is_last.then_some(ONE_IN)
    }

    /// A path as logs may show it.
    pub fn path<'p>(&self, row: Option<usize>, asked: &'p str) -> Cow<'p, str> {
        match self.path_logging(row) {
            PathLogging::Pattern(pattern) => Cow::Borrowed(pattern),
            // Masked before it is cut: the beginning of a secret is one too.
            PathLogging::Never | PathLogging::AsAsked => match masked(asked) {
                Cow::Borrowed(path) => Cow::Borrowed(cut(path, LONGEST_PATH)),
                Cow::Owned(path) => Cow::Owned(cut(&path, LONGEST_PATH).to_owned()),
            },
        }
    }

    fn path_logging(&self, row: Option<usize>) -> PathLogging {
        let known = row.and_then(|row| self.rows.get(row));
        known.copied().unwrap_or(PathLogging::AsAsked)
    }

    /// Queues an entry for the next write.
    pub fn keep(&self, mut entry: RequestEntry) {
        entry.method.truncate(cut(&entry.method, LONGEST_METHOD).len());
        entry.path.truncate(cut(&entry.path, LONGEST_PATH).len());
        let mut waiting = self.waiting.lock();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(entry);
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes the oldest entries from the queue, at most [`PIECE`] of them.
    pub fn take(&self) -> Vec<RequestEntry> {
        let mut waiting = self.waiting.lock();
        let count = waiting.len().min(PIECE);
        waiting.drain(..count).collect()
    }

    /// Puts entries that could not be written back into the queue.
    pub fn put_back(&self, entries: &[RequestEntry]) {
        let mut waiting = self.waiting.lock();
        let free = MOST_WAITING.saturating_sub(waiting.len());
        let (lost, kept) = entries.split_at(entries.len().saturating_sub(free));
        for entry in kept.iter().rev() {
            waiting.push_front(entry.clone());
        }
        self.dropped.fetch_add(lost.len() as u64, Ordering::Relaxed);
    }

    /// Counts entries that were dropped, because the log or the disk is full.
    pub fn count_dropped(&self, entries: usize) {
        self.dropped.fetch_add(entries as u64, Ordering::Relaxed);
    }

    /// Entries that wait to be written.
    pub fn count_waiting(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Entries that were dropped since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Writes all entries that wait now; drops them while disk space runs short.
    pub fn flush(&self, db: &Db) -> Result<(), DbError> {
        let is_short = !db.has_space_to_spare();
        if self.is_short.swap(is_short, Ordering::Relaxed) != is_short {
            if is_short {
                tracing::warn!("disk space runs short: requests are not logged any more");
            } else {
                tracing::info!("requests are logged again");
            }
        }
        if is_short {
            let dropped = std::mem::take(&mut *self.waiting.lock()).len();
            self.count_dropped(dropped);
            return Ok(());
        }
        for _ in 0..=MOST_WAITING / PIECE {
            let entries = std::sync::Arc::new(self.take());
            if entries.is_empty() {
                break;
            }
            let job = std::sync::Arc::clone(&entries);
            match db.write_piece(move |tx| store::add(tx, &job)) {
                Ok(dropped) => self.count_dropped(dropped),
                Err(error) => {
                    self.put_back(&entries);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// The beginning of a text: at most `longest` bytes, whole characters only.
fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::requests::Caller;

    const NOW: Instant = Instant(1_795_176_000);

    fn entry(number: usize) -> RequestEntry {
        RequestEntry {
            at: NOW,
            request_id: number.to_string(),
            method: "GET".to_owned(),
            path: "/".to_owned(),
            status: 200,
            us: 1,
            caller: Caller::default(),
            address: None,
            sampled: 1,
        }
    }

    fn recorded(recorder: &Recorder, answers: u32, status: StatusCode, now: Instant) -> (u32, u32) {
        let given = (0..answers).filter_map(|_| recorder.admits(None, status, now));
        given.fold((0, 0), |(entries, sum), sampled| (entries + 1, sum + sampled))
    }

    #[test]
    fn all_are_kept_up_to_the_rate_and_a_sample_above_it() {
        let recorder = Recorder::new(std::iter::empty());
        let ok = StatusCode::OK;
        assert_eq!(recorded(&recorder, 50, ok, NOW), (50, 50));
        assert_eq!(recorded(&recorder, 99, ok, NOW), (0, 0));
        assert_eq!(recorded(&recorder, 1, ok, NOW), (1, 100));
        assert_eq!(recorded(&recorder, 1_000, ok, NOW), (10, 1_000));
        // Each second starts at zero, also after the clock was set back.
        for now in [NOW.plus(1), NOW, NOW.plus(1)] {
            assert_eq!(recorded(&recorder, 60, ok, now).0, 50, "{now:?}");
        }
        // The counter of the sample continues over seconds: 30 so far.
        assert_eq!(recorded(&recorder, 50 + 70, ok, NOW.plus(9)), (51, 150));
    }

    #[test]
    fn failures_of_ours_are_kept_also_in_a_flood() {
        let recorder = Recorder::new(std::iter::empty());
        recorded(&recorder, 5_000, StatusCode::OK, NOW);
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        assert_eq!(recorded(&recorder, 50, failed, NOW), (50, 50));
        assert_eq!(recorded(&recorder, 100, failed, NOW).0, 1, "above it a sample");
        assert_eq!(recorded(&recorder, 100, StatusCode::NOT_FOUND, NOW).0, 1);
        assert_eq!(recorded(&recorder, 100, failed, NOW.plus(1)), (100, 100));
    }

    #[test]
    fn threads_that_race_keep_no_more_than_the_rate() {
        let recorder = Recorder::new(std::iter::empty());
        let counts: Vec<u32> = std::thread::scope(|scope| {
            let threads =
                [(); 4].map(|()| scope.spawn(|| recorded(&recorder, 2_500, StatusCode::OK, NOW).0));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let (entries, above) = (counts.iter().sum::<u32>(), 10_000 - 50);
        assert_eq!(entries, 50 + above / 100);
    }

    #[test]
    fn every_row_is_shown_as_it_should_be() {
        let routes = crate::routes::all();
        let recorder = Recorder::new(routes.iter().map(|row| (row.path, row.secret_path)));
        let left_out = |path: &str| {
            let row = routes.iter().position(|row| row.path == path);
            recorder.admits(row, StatusCode::OK, NOW).is_none()
        };
        for path in [
            "/healthz",
            "/readyz",
            "/favicon.ico",
            "/manifest.webmanifest",
            "/sw.js",
            "/assets/{*rest}",
            "/admin/requisicoes/{id}",
        ] {
            assert!(routes.iter().any(|row| row.path == path), "{path}");
            assert!(left_out(path), "{path}");
        }
        for path in ["/", "/metrics", "/admin", "/api/v1/cron", "/fotos/{digest}"] {
            assert!(!left_out(path), "{path}");
        }
        let secret = "/perfil/sessoes/{sessao}/encerrar";
        let row = routes.iter().position(|row| row.path == secret);
        assert_eq!(recorder.path(row, "/perfil/sessoes/ab12/encerrar"), secret);
        assert_eq!(recorder.path(None, &"á".repeat(150)), "á".repeat(100));
    }

    #[test]
    fn what_finds_no_place_is_counted() {
        let recorder = Recorder::new(std::iter::empty());
        for number in 0..MOST_WAITING + 3 {
            recorder.keep(entry(number));
        }
        assert_eq!((recorder.count_waiting(), recorder.dropped()), (MOST_WAITING, 3));
        let taken = recorder.take();
        assert_eq!(taken.len(), PIECE);
        recorder.keep(entry(99_999));
        recorder.put_back(&taken);
        // The oldest are dropped first, and the order stays.
        assert_eq!((recorder.count_waiting(), recorder.dropped()), (MOST_WAITING, 4));
        assert_eq!(recorder.take()[0].request_id, "1");
    }
}
