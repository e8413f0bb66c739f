//! A copy that follows the replica, on a second machine.
//!
//! Litestream fetches the copy and applies what comes after it, each second. We see
//! whether the copy is level with the replica, check it each hour, and begin anew when
//! another server took over or the copy is not sound. Decision replica-8.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Monotonic};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;

use super::epoch::{self, Epoch};
use super::place::{Replica, Use};
use super::tool::{self, Running, Tool};
use super::worker::prepare;
use super::{Fault, Result};
use crate::base::queue::CONNECTION;
use crate::base::{Clock, Instant, Stop};
use crate::db::{Depth, read_without_traces};

/// After so long a run the pauses begin anew.
const STEADY: Duration = Duration::from_secs(60);
/// How often it is looked how far the copy is: where that is cheap, and at least.
const LOOK: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
/// At most one in so many parts of the time is spent with looking: each look lists the
/// pieces of an hour.
const LOOK_SHARE: u32 = 20;
/// How long a piece that is being applied may keep us from holding Litestream up.
const PIECE: Duration = Duration::from_secs(5);
/// How often it is looked whether another server took over.
const LOOK_EPOCH: Duration = Duration::from_secs(15);
/// How often the copy is checked, in seconds.
const CHECK_S: i64 = 3600;
/// A piece may be half applied when the copy is looked at; so many looks tell.
const LOOKS: u32 = 5;
/// Pause between two of them.
const BETWEEN: Duration = Duration::from_millis(700);
/// Most looks that are remembered until the copy has caught up with them.
const MOST_SAMPLES: usize = 2_000;

/// The copy of a replica.
pub struct Follower {
    pub replica: Replica,
    pub clock: Clock,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The copy has what the replica had then.
    level_at: Option<Monotonic>,
    /// When the replica had which transaction, for those that the copy has not yet.
    samples: VecDeque<(Monotonic, u64)>,
    verified_at: Option<Instant>,
    trouble: Option<Fault>,
    is_there: bool,
}

/// How the copy is.
pub struct View {
    pub lag_s: i64,
    pub verified_at: Option<Instant>,
    pub trouble: Option<Fault>,
    pub is_there: bool,
}

/// The copy in the folder beside the database.
pub fn copy_of(replica: &Replica) -> PathBuf {
    replica.folder.join("standby.db")
}

/// The number of the newest transaction in the copy.
pub fn position(replica: &Replica) -> Option<u64> {
    let text = std::fs::read_to_string(replica.folder.join("standby.db-txid")).ok()?;
    u64::from_str_radix(text.trim(), 16).ok()
}

pub fn forget_copy(replica: &Replica) {
    for end in ["", "-txid", "-wal", "-shm", ".tmp", ".tmp-wal", ".tmp-shm"] {
        let _ = std::fs::remove_file(replica.folder.join(format!("standby.db{end}")));
    }
}

impl Follower {
    pub fn new(replica: Replica, clock: Clock) -> Self {
        let seen = Seen { level_at: Some(Monotonic::now()), ..Seen::default() };
        Self { replica, clock, seen: Mutex::new(seen) }
    }

    /// How the copy is now.
    pub fn view(&self) -> View {
        let seen = self.seen.lock();
        let lag_s = seen.level_at.map_or(0, |at| at.elapsed().as_secs());
        View {
            lag_s: i64::try_from(lag_s).unwrap_or(i64::MAX),
            verified_at: seen.verified_at,
            trouble: seen.trouble.clone(),
            is_there: seen.is_there,
        }
    }

    /// Follows until the stop. Each time there is a first copy, `judge` says whether it
    /// can be used; an error ends the following.
    pub fn run(&self, stop: &Stop, judge: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut failures = 0;
        while !stop.is_set() {
            let begun = Monotonic::now();
            let ended = self.follow(stop, &judge);
            match ended {
                Ok(Ended::Stopped) => break,
                Ok(Ended::Unfit(error)) => return Err(error),
                Ok(Ended::Anew(why)) => {
                    tracing::warn!("the copy is fetched anew: {why}");
                    self.forget();
                    failures = 0;
                    continue;
                }
                Err(fault) => self.fails(fault),
            }
            if begun.elapsed() >= STEADY {
                failures = 0;
            }
            failures += 1;
            if stop.wait(CONNECTION.pause(failures)) {
                break;
            }
        }
        Ok(())
    }

    fn forget(&self) {
        forget_copy(&self.replica);
        let mut seen = self.seen.lock();
        seen.is_there = false;
        seen.verified_at = None;
        seen.samples.clear();
    }

    fn fails(&self, fault: Fault) {
        let mut seen = self.seen.lock();
        if seen.trouble.as_ref() != Some(&fault) {
            tracing::warn!("the copy does not follow: {fault}");
        }
        seen.trouble = Some(fault);
    }

    fn follow(&self, stop: &Stop, judge: &impl Fn() -> anyhow::Result<()>) -> Result<Ended> {
        let replica = &self.replica;
        let (tool, alone) = prepare(replica, stop)?;
        let Some(epoch) = with_data(&tool, replica)? else {
            return Err(Fault("the replica holds nothing yet".to_owned()));
        };
        // Litestream does not go on with a copy that was left alone.
        self.forget();
        let described = replica.describe(&epoch.below(), Use::Once, None)?;
        let mut command = tool.command("restore", &described.0);
        command
            .args(["-f", "-follow-interval", "1s", "-o"])
            .arg(copy_of(replica))
            .arg(&replica.database);
        let (mut running, said) = alone.start(&mut command, replica, tool::last_words)?;
        let (mut looked, mut is_judged) = (Monotonic::now(), false);
        let mut pause = Duration::from_millis(50);
        loop {
            if stop.wait(pause) {
                // `takeover` may use the copy: no piece is half applied in it.
                let held = hold_still(&copy_of(replica));
                running.end(if held.is_some() { Duration::ZERO } else { PIECE });
                return Ok(Ended::Stopped);
            }
            if running.wait(Duration::ZERO).is_some() {
                return Err(Fault(format!("Litestream ended: {}", said.lock())));
            }
            if position(replica).is_none() {
                continue;
            }
            if !is_judged {
                if let Err(error) = judge() {
                    return Ok(Ended::Unfit(error));
                }
                is_judged = true;
                self.seen.lock().is_there = true;
            }
            let begun = Monotonic::now();
            self.look(&tool, &epoch);
            pause = (begun.elapsed() * LOOK_SHARE).clamp(LOOK.0, LOOK.1);
            if self.is_check_due()
                && let Some(fault) = self.check(&running, stop)
            {
                return Ok(Ended::Anew(format!("it is not sound ({fault})")));
            }
            if looked.elapsed() >= LOOK_EPOCH {
                looked = Monotonic::now();
                if let Ok(Some(above)) = epoch::newest(&tool, replica, epoch.number + 1, tool::LOOK)
                    && tool.newest(replica, &above.below()).is_ok_and(|newest| newest > 0)
                {
                    return Ok(Ended::Anew(format!("the replica belongs to {}", above.told())));
                }
            }
        }
    }

    /// Compares the copy with the replica.
    fn look(&self, tool: &Tool, epoch: &Epoch) {
        let now = Monotonic::now();
        match (tool.newest(&self.replica, &epoch.below()), position(&self.replica)) {
            (Ok(newest), Some(position)) => {
                let mut seen = self.seen.lock();
                if seen.samples.len() < MOST_SAMPLES {
                    seen.samples.push_back((now, newest));
                }
                while let Some((at, _)) =
                    seen.samples.pop_front_if(|(_, number)| *number <= position)
                {
                    seen.level_at = Some(at);
                }
                seen.trouble = None;
            }
            (Err(fault), _) => self.fails(fault),
            (Ok(_), None) => {}
        }
    }

    fn is_check_due(&self) -> bool {
        let verified = self.seen.lock().verified_at;
        verified.is_none_or(|at| self.clock.now().since(at) >= CHECK_S)
    }

    /// Checks the copy while Litestream holds still; the fault when it is not sound.
    fn check(&self, running: &Running, stop: &Stop) -> Option<String> {
        let mut last = None;
        for _ in 0..LOOKS {
            running.signal(Signal::STOP);
            let now = self.clock.now();
            let copy = copy_of(&self.replica);
            let found = read_without_traces(&copy, now, |tx| tx.first_fault(Depth::Light));
            running.signal(Signal::CONT);
            match found {
                Ok(None) => {
                    self.seen.lock().verified_at = Some(now);
                    return None;
                }
                Ok(fault) => last = fault,
                Err(error) => last = Some(error.to_string()),
            }
            if stop.wait(BETWEEN) {
                return None;
            }
        }
        last
    }
}

/// Keeps Litestream from applying anything more to the copy, by a read transaction: it
/// applies a piece under SQLite's lock. `None` when that cannot be.
fn hold_still(copy: &Path) -> Option<Connection> {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    connection.busy_timeout(PIECE).ok()?;
    connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").ok()?;
    Some(connection)
}

/// Why the following ended.
enum Ended {
    Stopped,
    /// The copy is of no use on this machine.
    Unfit(anyhow::Error),
    /// The copy must be fetched anew.
    Anew(String),
}

/// The newest epoch of which the replica holds a database.
pub fn with_data(tool: &Tool, replica: &Replica) -> Result<Option<Epoch>> {
    for epoch in epoch::all(tool, replica, 1, tool::LOOK)?.into_iter().rev() {
        if tool.newest(replica, &epoch.below())? > 0 {
            return Ok(Some(epoch));
        }
    }
    Ok(None)
}
