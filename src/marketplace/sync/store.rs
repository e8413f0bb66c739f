//! The progress of readings, in the database.

use rusqlite::params_from_iter;

use super::rules::next_turn;
use super::{ACCOUNT, Area, Step};
use crate::base::queue::AREAS_REST_S;
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::account::store::note_synced;
use crate::marketplace::kinds::RecordKind;
use crate::row;

/// Most accounts that other threads may be reading.
pub const MOST_TAKEN: usize = 10;
/// Never by time: the area waits for an event, such as that the account is
/// linked again.
const LATER: Instant = Instant(i64::MAX);

/// Who waits for a reading; the number is stored as `at_once`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Nobody: it runs in the periodic tasks.
    Periodic = 0,
    /// A person: it is the first reading, or a person asked for it.
    AtOnce = 1,
}

row! {
    /// An account as it was when a reading of it began.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Account {
        pub ml_user_id: MlUserId = "a.ml_user_id",
        pub owner: UserId = "a.owner_id",
        pub linked_at: Instant = "a.linked_at",
    }
}

row! {
    /// The progress of an area of an account.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AreaState {
        pub account: MlUserId = "s.ml_user_id",
        pub area: i64 = "s.area",
        /// All changes before this time are in the books; `None` until the first
        /// reading is over.
        pub good_until: Option<Instant> = "s.good_until",
        /// When the reading under way, or the last one, began.
        pub started_at: Option<Instant> = "s.started_at",
        /// `None` while it is under way.
        pub ended_at: Option<Instant> = "s.ended_at",
        /// Where the reading continues, in a format of the area's own.
        pub position: String = "s.position",
        /// Records that it has read.
        pub done: i64 = "s.done",
        /// How many there are, as far as the marketplace says.
        pub expected: Option<i64> = "s.expected",
        /// Failures in a row, and the last one in words for the account's owner.
        pub attempts: i64 = "s.attempts",
        pub error: Option<String> = "s.error",
        /// Whether a person waits for it.
        pub is_wanted: bool = "s.at_once",
    }
}

/// A step that is due.
#[derive(Clone, Debug)]
pub struct Due {
    pub account: Account,
    pub pace: Pace,
    pub state: AreaState,
    /// When the reading began that the step belongs to.
    pub began: Instant,
}

impl AreaState {
    /// Whether a reading has begun and is not over.
    pub const fn is_under_way(&self) -> bool {
        self.started_at.is_some() && self.ended_at.is_none()
    }
}

/// Plans the first reading of a new account. An account that was linked before
/// continues where its readings stopped, but an area that follows another, as
/// the shipments of old orders, is read again.
pub fn plan(tx: &WriteTx<'_>, account: MlUserId) -> Result<()> {
    for area in Area::all() {
        let (now, is_later) = (tx.now(), area.follows.is_some());
        let first_at = if is_later { LATER } else { now };
        tx.execute(
            "INSERT INTO ml_sync (ml_user_id, area, next_at, at_once) VALUES (?1, ?2, ?4, 1)
             ON CONFLICT (ml_user_id, area) DO UPDATE
             SET next_at = iif(good_until IS NULL, ?4, ?3), at_once = 1, attempts = 0, error = NULL,
                 position = iif(?5, '', position)",
            (account, area.number, now, first_at, is_later),
        )?;
    }
    Ok(())
}

/// Plans the first reading of areas of accounts that were linked before this
/// program read them; false when some are left. Nobody waits for these
/// readings.
pub fn plan_new_areas(tx: &WriteTx<'_>) -> Result<bool> {
    tx.work_off(|most| {
        Area::all().try_fold(0, |planned, area| Ok(planned + plan_area(tx, area, most)?))
    })
}

fn plan_area(tx: &WriteTx<'_>, area: Area, most: usize) -> Result<usize> {
    tx.execute(
        "INSERT INTO ml_sync (ml_user_id, area, next_at, at_once)
         SELECT ml_user_id, ?1,
                iif(token_ok AND (?2 IS NULL OR EXISTS (
                        SELECT 1 FROM ml_sync s
                        WHERE s.ml_user_id = a.ml_user_id AND s.area = ?2 AND s.good_until IS NOT NULL)), ?3, ?4), 0
         FROM ml_account a
         WHERE EXISTS (SELECT 1 FROM ml_sync s WHERE s.ml_user_id = a.ml_user_id)
             AND NOT EXISTS (SELECT 1 FROM ml_sync s WHERE s.ml_user_id = a.ml_user_id AND s.area = ?1)
         LIMIT ?5",
        (area.number, area.follows, tx.now(), LATER, i64::try_from(most).unwrap_or(1)),
    )
}

/// Starts the first reading of areas of an account that follow one.
pub fn wake_followers(tx: &WriteTx<'_>, account: &Account, done: Area) -> Result<()> {
    let followers =
        Area::all().filter(|area| area.follows.map(RecordKind::area) == Some(done.number));
    for area in followers {
        tx.execute(
            "UPDATE ml_sync SET next_at = ?3 WHERE ml_user_id = ?1 AND area = ?2 AND next_at = ?4 AND good_until IS NULL",
            (account.ml_user_id, area.number, tx.now(), LATER),
        )?;
    }
    Ok(())
}

/// Accounts that can be read, those first that are read next.
pub fn callable(tx: &ReadTx<'_>, most: u32) -> Result<Vec<MlUserId>> {
    tx.values(
        "SELECT ml_user_id FROM ml_sync
         WHERE at_once = 0 AND next_at < ?1 AND area = ?3
         ORDER BY next_at, ml_user_id
         LIMIT ?2",
        (LATER, most, ACCOUNT.number),
    )
}

/// Makes every area of an account due at once, except one that waits for
/// another area's first reading. Stores the time of this request.
pub fn ask(tx: &WriteTx<'_>, account: MlUserId) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET next_at = iif(good_until IS NULL AND next_at = ?3, ?3, ?2), at_once = 1, asked_at = ?2
         WHERE ml_user_id = ?1",
        (account, tx.now(), LATER),
    )
}

/// Makes every area of an account due at once, except those that wait for an
/// event.
pub fn schedule_now(tx: &WriteTx<'_>, account: MlUserId) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET next_at = ?2, at_once = 1 WHERE ml_user_id = ?1 AND next_at < ?3",
        (account, tx.now(), LATER),
    )
}

/// Returns areas that could not be read at once to the periodic tasks, except
/// first readings.
pub fn unschedule(tx: &WriteTx<'_>, account: MlUserId) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET at_once = 0 WHERE ml_user_id = ?1 AND at_once = 1 AND good_until IS NOT NULL",
        [account],
    )
}

/// An account with its owner and the instant of its link.
pub fn account(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<Account>> {
    tx.record("FROM ml_account a WHERE a.ml_user_id = ?1", [account])
}

/// Makes an area of some accounts due now, those first that are due next. Areas
/// that failed keep waiting.
pub fn hurry(tx: &WriteTx<'_>, area: RecordKind, accounts: u32) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET next_at = ?2
         WHERE area = ?1 AND ml_user_id IN (
             SELECT ml_user_id FROM ml_sync
             WHERE at_once = 0 AND next_at > ?2 AND next_at < ?4 AND area = ?1 AND attempts = 0
             ORDER BY next_at, ml_user_id
             LIMIT ?3)",
        (area, tx.now(), accounts, LATER),
    )
}

/// Whether the marketplace still accepts an account's tokens.
pub fn is_callable(tx: &ReadTx<'_>, account: MlUserId) -> Result<bool> {
    tx.value("SELECT token_ok FROM ml_account WHERE ml_user_id = ?1", [account])
}

/// When the owner of an account last asked for a reading.
pub fn asked_at(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<Instant>> {
    tx.value("SELECT max(asked_at) FROM ml_sync WHERE ml_user_id = ?1", [account])
}

/// The account that has waited longest for a reading, of those not taken.
pub fn longest_waiting(
    tx: &ReadTx<'_>,
    pace: Pace,
    taken: impl Iterator<Item = MlUserId>,
) -> Result<Option<Account>> {
    let mut others = [MlUserId(-1); MOST_TAKEN];
    for (place, account) in others.iter_mut().zip(taken) {
        *place = account;
    }
    tx.record(
        "FROM ml_sync s JOIN ml_account a ON a.ml_user_id = s.ml_user_id
         WHERE s.at_once = ?1 AND s.next_at <= ?2
             AND s.ml_user_id NOT IN (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ORDER BY s.next_at, s.ml_user_id
         LIMIT 1",
        params_from_iter([pace as i64, tx.now().0].into_iter().chain(others.map(|other| other.0))),
    )
}

/// The area of an account that has waited longest.
pub fn due_area(tx: &ReadTx<'_>, account: MlUserId, pace: Pace) -> Result<Option<AreaState>> {
    tx.record(
        "FROM ml_sync s
         WHERE s.ml_user_id = ?1 AND s.at_once = ?2 AND s.next_at <= ?3
         ORDER BY s.next_at, s.area
         LIMIT 1",
        (account, pace as i64, tx.now()),
    )
}

/// Every area of all accounts of an owner, by account and area.
pub fn of_owner(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<AreaState>> {
    tx.records(
        "FROM ml_account a JOIN ml_sync s ON s.ml_user_id = a.ml_user_id
         WHERE a.owner_id = ?1
         ORDER BY a.ml_user_id, s.area",
        [owner],
    )
}

/// Why an area of an account could not be read when it was last tried, of the first that
/// could not.
pub fn first_error(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<String>> {
    tx.maybe(
        "SELECT error FROM ml_sync WHERE ml_user_id = ?1 AND attempts > 0 AND error IS NOT NULL
         ORDER BY area LIMIT 1",
        [account],
    )
}

/// Whether the account is still linked as it was.
pub fn is_still(tx: &ReadTx<'_>, account: &Account) -> Result<bool> {
    Ok(self::account(tx, account.ml_user_id)?.as_ref() == Some(account))
}

/// Stores the progress of a reading; false when the account is no longer linked
/// as it was.
pub fn note(tx: &WriteTx<'_>, due: &Due, area: Area, step: &Step) -> Result<bool> {
    let Due { account, state, .. } = due;
    if !is_still(tx, account)? {
        return Ok(false);
    }
    let now = tx.now();
    let done = if state.is_under_way() { state.done + step.read } else { step.read };
    let (ended_at, next_at) = if step.ends_reading {
        (Some(now), next_turn(now, area.every_s, account.ml_user_id))
    } else {
        (None, now)
    };
    tx.execute(
        "UPDATE ml_sync
         SET good_until = ?3, started_at = ?4, ended_at = ?5, position = ?6, done = ?7, expected = ?8,
             next_at = ?9, at_once = iif(?5 IS NULL, at_once, 0), attempts = 0, error = NULL
         WHERE ml_user_id = ?1 AND area = ?2",
        (
            account.ml_user_id,
            state.area,
            step.good_until,
            due.began,
            ended_at,
            &step.position,
            done,
            step.expected.map(|expected| expected.max(done)),
            next_at,
        ),
    )?;
    if step.ends_reading {
        area.settle(tx, account)?;
    }
    note_synced(tx, account.ml_user_id)?;
    Ok(true)
}

/// Stores that an area could not be read, and postpones it. With `elsewhere` it
/// also postpones the account's other areas that are due at that pace, for a
/// shorter time, so that they are retried first.
pub fn fail(tx: &WriteTx<'_>, due: &Due, error: &str, pause_s: i64, elsewhere: bool) -> Result<()> {
    let Due { account, pace, state, .. } = due;
    if !is_still(tx, account)? {
        return Ok(());
    }
    let now = tx.now();
    if elsewhere {
        let until = now.plus(pause_s.min(AREAS_REST_S));
        tx.execute(
            "UPDATE ml_sync SET next_at = ?4 WHERE ml_user_id = ?1 AND at_once = ?2 AND next_at <= ?3",
            (account.ml_user_id, *pace as i64, now, until),
        )?;
    }
    tx.run(
        "UPDATE ml_sync SET attempts = attempts + 1, error = ?3, next_at = ?4 WHERE ml_user_id = ?1 AND area = ?2",
        (account.ml_user_id, state.area, error, now.plus(pause_s + 1)),
    )
}

/// Lets areas that have waited go first, because the time was over before all
/// of this area was read.
pub fn requeue(tx: &WriteTx<'_>, due: &Due) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET next_at = ?3 WHERE ml_user_id = ?1 AND area = ?2 AND next_at < ?3",
        (due.account.ml_user_id, due.state.area, tx.now()),
    )
}

/// Stops reading an area that this program does not know.
pub fn disable_area(tx: &WriteTx<'_>, account: &Account, state: &AreaState) -> Result<()> {
    tx.run(
        "UPDATE ml_sync SET next_at = ?3 WHERE ml_user_id = ?1 AND area = ?2",
        (account.ml_user_id, state.area, LATER),
    )
}

/// Postpones all areas of an account until it is linked again.
pub fn suspend_account(tx: &WriteTx<'_>, account: &Account) -> Result<()> {
    if is_still(tx, account)? {
        tx.execute(
            "UPDATE ml_sync SET next_at = ?2 WHERE ml_user_id = ?1",
            (account.ml_user_id, LATER),
        )?;
    }
    Ok(())
}

/// Deletes the stored ids of an account's scan; false when some are left.
pub fn forget_seen(tx: &WriteTx<'_>, account: MlUserId) -> Result<bool> {
    tx.work_off(|most| {
        tx.execute(
            "DELETE FROM ml_seen WHERE ml_user_id = ?1 AND item_id IN (
                 SELECT item_id FROM ml_seen WHERE ml_user_id = ?1 LIMIT ?2)",
            (account, i64::try_from(most).unwrap_or(1)),
        )
    })
}
