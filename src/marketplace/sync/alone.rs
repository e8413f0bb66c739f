//! Records that are asked for one by one, two at a time.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Reading;
use super::lanes::{Queue, two_at_a_time};
use super::store::{Account, is_still};
use crate::db::{Result as DbResult, WriteTx};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::orders::Books;
use crate::marketplace::client::{Caller, Failure};

/// What asking for one record brought.
pub enum Single<D> {
    Found(D),
    /// The marketplace has no such thing.
    Gone,
    /// It was refused, makes no sense or does not come, which is its own trouble.
    Odd,
}

/// Records of a step that may fail to come by themselves; with more of them the
/// area is out of order. Twice as many each time that the step failed: some
/// records may never come, and those behind them are to be read all the same.
const MOST_MISSING: usize = 3;

/// What it means that an account may see none of the records of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// Nothing for the area, which answers otherwise.
    Records,
    /// That the area is closed to the account: it asks for nothing else.
    Area,
}

/// What came of the records of a step.
#[derive(Default)]
struct Tally {
    /// Those of which the marketplace said something.
    told: AtomicUsize,
    /// Those that it kept back.
    withheld: AtomicUsize,
    /// The last reason.
    why: Mutex<Option<Failure>>,
}

impl Tally {
    fn tell(&self) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn withhold(&self, why: &Failure) {
        *self.why.lock() = Some(why.clone());
        self.withheld.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the whole step failed, when too many did not come and no other did.
    fn failure(self) -> Option<Failure> {
        let is_failed = self.told.into_inner() == 0 && self.withheld.into_inner() > MOST_MISSING;
        let why = self.why.into_inner();
        why.filter(|_| is_failed)
    }
}

/// Brings what asking for a record brought into the books.
pub type Book<T, D> = fn(&WriteTx<'_>, &Books, &Account, &T, &Single<D>) -> DbResult<()>;

/// Asks for each of some records and has what came booked, while the account is
/// still linked as it was; gives back how many were, `None` when there was no
/// time for all.
pub fn each<T: Send + 'static, D: Send + 'static>(
    reading: &Reading<'_>,
    records: Vec<T>,
    forbidden: Forbidden,
    ask: impl Fn(&Caller<'_>, &T) -> Result<D, Failure> + Sync,
    book: Book<T, D>,
) -> Result<Option<usize>, CallError> {
    let (owned, books) = (reading.account, Books::of(reading.app));
    let account = reading.account.ml_user_id;
    let records = Queue::new(records);
    let tally = Tally::default();
    let missing = AtomicUsize::new(0);
    let most_missing = MOST_MISSING << reading.state.attempts.clamp(0, 8);
    // A marketplace that answers something else is not out of order.
    let is_alone = || {
        missing.fetch_add(1, Ordering::Relaxed) < most_missing
            && with_token(reading.app, account, |caller| reading.app.marketplace.client.me(caller))
                .is_ok()
    };
    let fetch = |record: T| {
        let single = match with_token(reading.app, account, |caller| ask(caller, &record)) {
            Ok(found) => {
                tally.tell();
                Single::Found(found)
            }
            Err(CallError::Failed(failure)) if failure.is_not_found() => {
                tally.tell();
                Single::Gone
            }
            Err(CallError::Failed(
                failure @ (Failure::Garbled(_) | Failure::Refused { status: 400 | 403.., .. }),
            )) => {
                tracing::warn!(ml_user_id = account.0, %failure, "a record was passed over");
                match failure {
                    Failure::Refused { status: 403, .. } if forbidden == Forbidden::Area => {
                        tally.withhold(&failure);
                    }
                    _ => tally.tell(),
                }
                Single::Odd
            }
            Err(CallError::Failed(failure @ Failure::Unreachable)) if is_alone() => {
                tally.withhold(&failure);
                tracing::warn!(ml_user_id = account.0, %failure, "a record was passed over");
                Single::Odd
            }
            Err(error) => return Err(error),
        };
        Ok(Some((record, single)))
    };
    let take = || records.take(reading);
    let booked = two_at_a_time(take, fetch, |(record, single)| {
        let books = books.clone();
        reading.app.db.submit(move |tx| {
            if !is_still(tx, &owned)? {
                return Ok(0);
            }
            book(tx, &books, &owned, &record, &single)?;
            Ok(1)
        })
    })?;
    if let Some(failure) = tally.failure() {
        return Err(CallError::Failed(failure));
    }
    Ok(records.is_done().then_some(booked))
}
