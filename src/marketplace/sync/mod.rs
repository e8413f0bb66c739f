//! Reads the marketplace's records without a notification: everything once when
//! an account is linked, later what changed, and what no notification
//! announced.
//!
//! An account is read by areas ([`Area`]), each in steps. The progress is
//! stored after each step (`store.rs`), so a restart, a failure or an outage
//! costs one step at most. First readings, and those that a person asks for,
//! are done at once by [`work_one`]; the others run in the periodic tasks
//! ([`sweep`]). Readings and notifications write to the same books, so it does
//! not matter which comes first.

mod account;
pub mod api;
mod buyers;
mod claims;
pub mod health;
mod lanes;
mod listings;
pub mod missed;
pub mod now;
pub mod orders;
mod questions;
mod records;
mod rules;
mod shipments;
pub mod store;
mod unreadable;
mod window;
pub mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::thread::ScopedJoinHandle;

use parking_lot::Mutex;

use super::client::{Caller, Client, Failure};
use crate::app::App;
use crate::base::queue::{Permit, READINGS};
use crate::base::{Instant, MlUserId, Stop};
use crate::db::{DbError, Lane, Pending, ReadTx, Result as DbResult, WriteTx};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::orders::BookContext;
use crate::marketplace::kinds::{KindRow, RecordKind};
use crate::services::Services;
use store::{Account, AreaState, Due, Pace};

/// Threads of a periodic run, each for one account at a time. With the workers
/// they are no more than the calls that may run.
const SWEEPERS: usize = 3;
const _: () = assert!(READINGS.workers + SWEEPERS + now::MOST_READERS <= store::MOST_TAKEN);

const QUARTER_S: i64 = 900;

/// A part of an account's data that is read separately: the records of a kind,
/// or the account itself.
#[derive(Clone, Copy)]
pub struct Area {
    /// Its number in the database.
    pub number: i64,
    /// Its name on the wire.
    pub name: &'static str,
    /// The name shown in the panel.
    pub title: &'static str,
    /// Seconds between two readings.
    every_s: i64,
    /// The kind whose first reading comes before the first one of this area.
    follows: Option<RecordKind>,
    /// Reads one step.
    read: fn(&StepContext<'_>) -> Asked<Step>,
}

const ACCOUNT: Area = Area {
    number: 5,
    name: "conta",
    title: "Dados da conta",
    every_s: QUARTER_S,
    follows: None,
    read: account::read,
};

impl Area {
    pub fn all() -> impl Iterator<Item = Self> {
        RecordKind::ALL.into_iter().map(Self::of_kind).chain([ACCOUNT])
    }

    /// The area of a number; `None` for one that a newer program has added.
    pub fn of(number: i64) -> Option<Self> {
        Self::all().find(|area| area.number == number)
    }

    fn of_kind(kind: RecordKind) -> Self {
        let KindRow { every_s, follows, .. } = *kind.row();
        let read = match kind {
            RecordKind::Order => orders::read,
            RecordKind::Question => questions::read,
            RecordKind::Listing => listings::read,
            RecordKind::Claim => claims::read,
            RecordKind::Shipment => shipments::read,
        };
        let (number, name, title) = (kind.area(), kind.name(), kind.words());
        Self { number, name, title, every_s, follows, read }
    }

    /// Called in the transaction that ends a reading.
    fn settle(self, tx: &WriteTx<'_>, account: &Account) -> DbResult<()> {
        store::wake_followers(tx, account, self)?;
        if self.number == RecordKind::Listing.area() {
            listings::recount(tx, account)?;
        }
        Ok(())
    }
}

/// The context of one step of a reading.
pub struct StepContext<'r> {
    pub app: &'r App,
    pub account: Account,
    /// When the reading began that this step belongs to.
    pub began: Instant,
    pub state: &'r AreaState,
    /// Whether the time is over, so that the rest is left for later.
    is_time_over: &'r (dyn Fn() -> bool + Sync),
    /// Counts sales that no notification announced.
    news: &'r AtomicUsize,
}

/// Why a step did not end.
pub enum Halt {
    /// The time was over before all of it was done; it begins again.
    NoTime,
    Failed(CallError),
}

impl<E: Into<CallError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

type Asked<T> = Result<T, Halt>;

impl StepContext<'_> {
    fn is_time_over(&self) -> bool {
        (self.is_time_over)()
    }

    fn check_time(&self) -> Asked<()> {
        if self.is_time_over() { Err(Halt::NoTime) } else { Ok(()) }
    }

    /// Whether a step of this reading was done before.
    const fn goes_on(&self) -> bool {
        self.state.is_under_way()
    }

    /// Records that earlier steps of this reading have read.
    const fn done_before(&self) -> i64 {
        if self.goes_on() { self.state.done } else { 0 }
    }

    fn call<T>(
        &self,
        call: impl Fn(&Client, &Caller<'_>) -> Result<T, Failure>,
    ) -> Result<T, CallError> {
        let client = &self.app.marketplace.client;
        with_token(self.app, self.account.ml_user_id, |caller| call(client, caller))
    }

    fn look_up<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> DbResult<T>) -> DbResult<T> {
        self.app.db.read(Lane::Slow, read)
    }

    /// Writes, if the account is still linked as it was. What readings write is
    /// nobody's request, so it gives way to what is.
    fn write<T: Default + Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>, &Account, &BookContext) -> DbResult<T> + Send + 'static,
    ) -> DbResult<T> {
        self.submit(job).wait()
    }

    /// Like `write`, without waiting for the result.
    fn submit<T: Default + Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>, &Account, &BookContext) -> DbResult<T> + Send + 'static,
    ) -> Pending<T, DbError> {
        let (account, context) = (self.account, BookContext::of(self.app));
        self.app.db.submit_piece(move |tx| {
            if store::is_still(tx, &account)? {
                job(tx, &account, &context)
            } else {
                Ok(T::default())
            }
        })
    }
}

/// The result of a step.
pub struct Step {
    /// Whether the reading is over with this step.
    ends_reading: bool,
    /// Where the next step continues.
    position: String,
    /// Records that were read.
    read: i64,
    /// How many there are in all, as far as is known.
    expected: Option<i64>,
    /// All changes before this time are in the books now.
    good_until: Option<Instant>,
}

impl Step {
    /// A step that read all of an area, of which there are `total`.
    fn whole(reading: &StepContext<'_>, read: usize, total: i64) -> Self {
        let read = count_of(read);
        Self {
            ends_reading: true,
            position: String::new(),
            read,
            expected: Some(total.max(read)),
            good_until: Some(reading.began),
        }
    }
}

/// A number of records, as it is stored.
fn count_of(records: usize) -> i64 {
    i64::try_from(records).unwrap_or(i64::MAX)
}

/// Takes the account that has waited longest and is not taken.
fn take(app: &App, pace: Pace) -> DbResult<Option<(Permit<MlUserId>, Account)>> {
    app.marketplace.busy.take_next(|taken| {
        let next = app.db.read(Lane::Slow, |tx| store::longest_waiting(tx, pace, taken))?;
        Ok(next.map(|account| (account.ml_user_id, account)))
    })
}

/// The counts of a periodic run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accounts of which everything that was due has been read.
    pub accounts: usize,
    /// Sales that no notification had announced.
    pub sales: usize,
    /// Accounts of which something could not be read.
    pub errors: usize,
}

/// Does a step of the reading that is wanted at once and has waited longest; false
/// when there is none.
pub fn work_one(app: &App, stop: &Stop) -> DbResult<bool> {
    let Some((_taken, account)) = take(app, Pace::AtOnce)? else { return Ok(false) };
    step(app, account, Pace::AtOnce, &|| stop.is_set(), &AtomicUsize::new(0))?;
    Ok(true)
}

/// Makes the orders of some accounts due now, those first that are due next.
pub fn hurry(services: &Services, accounts: u32) -> Result<(), DbError> {
    services.db.write(move |tx| store::hurry(tx, RecordKind::Order, accounts))
}

/// Reads what is due of all accounts, as far as there is time.
pub fn sweep(app: &App, is_over: &(dyn Fn() -> bool + Sync)) -> Result<Counts, DbError> {
    let total = Mutex::new(Counts::default());
    let sweeper = || {
        while !is_over() {
            let Some((_taken, account)) = take(app, Pace::Periodic)? else { break };
            let counts = sweep_account(app, account, is_over)?;
            let mut total = total.lock();
            total.accounts += counts.accounts;
            total.sales += counts.sales;
            total.errors += counts.errors;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..SWEEPERS).map(|_| scope.spawn(sweeper)).collect();
        let mine = sweeper();
        let others = others.into_iter().map(ScopedJoinHandle::join);
        others.fold(mine, |all, other| all.and(other.unwrap_or(Err(DbError::JobPanicked))))
    })?;
    Ok(total.into_inner())
}

fn sweep_account(
    app: &App,
    account: Account,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Counts, DbError> {
    let (mut counts, news) = (Counts::default(), AtomicUsize::new(0));
    let mut failed = false;
    while !is_over() {
        match step(app, account, Pace::Periodic, is_over, &news)? {
            Stepped::Read => {}
            Stepped::Failed => failed = true,
            Stepped::NothingDue => {
                counts.accounts = usize::from(!failed);
                break;
            }
            Stepped::Interrupted => break,
        }
    }
    counts.errors = usize::from(failed);
    counts.sales = news.into_inner();
    Ok(counts)
}

enum Stepped {
    Read,
    Failed,
    NothingDue,
    /// The time was over, or the account is no longer linked as it was.
    Interrupted,
}

/// Does one step of the area of an account that has waited longest, and stores
/// the result.
fn step(
    app: &App,
    account: Account,
    pace: Pace,
    is_over: &(dyn Fn() -> bool + Sync),
    news: &AtomicUsize,
) -> Result<Stepped, DbError> {
    let id = account.ml_user_id;
    let state = app.db.read(Lane::Slow, |tx| store::due_area(tx, id, pace))?;
    let Some(state) = state else {
        return Ok(Stepped::NothingDue);
    };
    let Some(area) = Area::of(state.area) else {
        app.db.write(move |tx| store::disable_area(tx, &account, &state))?;
        return Ok(Stepped::Read);
    };
    let began = state.started_at.filter(|_| state.is_under_way());
    let due = Due { account, pace, began: began.unwrap_or_else(|| app.clock.now()), state };
    let reading = StepContext {
        app,
        account,
        began: due.began,
        state: &due.state,
        is_time_over: is_over,
        news,
    };
    let read = catch_unwind(AssertUnwindSafe(|| (area.read)(&reading)));
    match read.unwrap_or(Err(DbError::JobPanicked.into())) {
        Ok(step) => {
            let is_same = app.db.write(move |tx| store::note(tx, &due, area, &step))?;
            Ok(if is_same { Stepped::Read } else { Stepped::Interrupted })
        }
        Err(Halt::NoTime) => {
            app.db.write(move |tx| store::requeue(tx, &due))?;
            Ok(Stepped::Interrupted)
        }
        Err(Halt::Failed(error)) => put_off(app, area, due, &error),
    }
}

/// Stores a failure. The area waits, and so do areas that would fail in the
/// same way.
fn put_off(app: &App, area: Area, due: Due, error: &CallError) -> Result<Stepped, DbError> {
    let account = due.account;
    let (asked_s, elsewhere) = match error {
        CallError::NotLinked => return Ok(Stepped::Interrupted),
        // A call that a shutdown prevented is no failure.
        CallError::Failed(Failure::Unreachable) if app.marketplace.is_stopping() => {
            return Ok(Stepped::Interrupted);
        }
        CallError::LinkLost => {
            app.db.write(move |tx| store::suspend_account(tx, &account))?;
            return Ok(Stepped::Failed);
        }
        // The limit is for one endpoint only.
        CallError::Failed(Failure::RateLimited { retry_after_s }) => (*retry_after_s, false),
        CallError::Failed(Failure::Unreachable) => (None, true),
        CallError::Failed(_) | CallError::Db(_) => (None, false),
    };
    let number = account.ml_user_id.0;
    tracing::info!(ml_user_id = number, area = area.name, %error, "a reading has to wait");
    let pause_s = READINGS.retry.pause_asked_s(due.state.attempts + 1, asked_s);
    let words = wire::failure(error);
    app.db.write(move |tx| store::fail(tx, &due, words, pause_s, elsewhere))?;
    Ok(Stepped::Failed)
}
