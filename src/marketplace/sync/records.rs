//! Fetches records one by one, with two requests at a time.

use parking_lot::Mutex;
use rusqlite::ToSql;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lanes::{Queue, pieces, two_at_a_time};
use super::store::Account;
use super::unreadable::take_readable;
use super::{Asked, Halt, StepContext};
use crate::db::{Result as DbResult, WriteTx};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::booked::Booked;
use crate::marketplace::books::document::UnreadableRecord;
use crate::marketplace::books::orders::{Applied, BookContext};
use crate::marketplace::client::{Caller, Client, Failure};
use crate::marketplace::kinds::BookTable;

/// The result of fetching one record.
pub enum FetchedRecord<D> {
    Found(D),
    /// The marketplace has no such record.
    Gone,
    /// It was refused, is unreadable or does not come; other records are not
    /// affected.
    Unavailable,
}

/// Most records of a step that may get no answer while the marketplace answers
/// otherwise. With more, the step fails. The number doubles with each failure
/// of the step: some records may never come, and those after them must be read
/// all the same.
const MOST_MISSING: usize = 3;

/// What it means that every record of a step is forbidden to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// Nothing for the area: its other requests work.
    Records,
    /// The area is closed to the account: it has no other requests.
    Area,
}

#[derive(Default)]
struct Tally {
    /// Records about which the marketplace gave an answer.
    answered: AtomicUsize,
    /// Records that did not come or are forbidden.
    missing: AtomicUsize,
    /// Why the last one of these did not come.
    why: Mutex<Option<Failure>>,
}

impl Tally {
    fn count_answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    fn count_missing(&self, why: &Failure) {
        *self.why.lock() = Some(why.clone());
        self.missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the whole step failed: too many records did not come, and no other
    /// did.
    fn failure(self) -> Option<Failure> {
        let is_failed = self.answered.into_inner() == 0 && self.missing.into_inner() > MOST_MISSING;
        let why = self.why.into_inner();
        why.filter(|_| is_failed)
    }
}

/// Brings the account's own records of a page into the books. Returns the keys of
/// all of them, and of those that are older than what the books have. Numbers of
/// records that cannot be read are added to `unreadable`.
pub fn book_page<D: Booked, K: Copy + Send + 'static>(
    reading: &StepContext<'_>,
    page: Vec<Result<D, UnreadableRecord>>,
    unreadable: &mut Vec<i64>,
    key: fn(&D) -> K,
) -> Asked<(Vec<K>, Vec<K>)> {
    let mut records = take_readable(reading, D::KIND, page, unreadable);
    records.retain(|record| record.seller() == reading.account.ml_user_id);
    let (all, mut stale) = (records.iter().map(key).collect(), Vec::new());
    for piece in pieces(records) {
        stale.extend(reading.write(move |tx, account, context| {
            let mut stale = Vec::new();
            for record in &piece {
                let write = (tx, context, account.owner);
                if record.apply(write, account.linked_at)? == Applied::Stale {
                    stale.push(key(record));
                }
            }
            Ok(stale)
        })?);
    }
    Ok((all, stale))
}

/// Most records open in our books that are compared with the marketplace's.
const MOST_OPEN: u32 = 10_000;

/// Numbers of records of the account that are open in our books, the oldest first.
pub fn open_in_books<D: Booked>(reading: &StepContext<'_>, open: &dyn ToSql) -> DbResult<Vec<i64>> {
    let Account { owner, ml_user_id, .. } = reading.account;
    let BookTable { name, key, .. } = &D::KIND.row().tables[0];
    // The key is the time and the number of a record.
    let (_, id) = key.split_once(", ").unwrap_or(("", key));
    let sql = format!(
        "SELECT {id} FROM {name} WHERE owner_id = ?1 AND state = ?3 AND ml_user_id = ?2
         ORDER BY {key} LIMIT ?4"
    );
    reading.look_up(|tx| tx.values(&sql, (owner, ml_user_id, open, MOST_OPEN)))
}

/// Fetches records of the account one by one and brings them into the books.
/// `note` is called for each of them in the same transaction.
pub fn fetch_own<D: Booked>(
    reading: &StepContext<'_>,
    ids: Vec<D::Id>,
    note: impl Fn(&WriteTx<'_>, &Account, &D::Id) -> DbResult<()> + Copy + Send + Sync + 'static,
) -> Asked<()> {
    fetch_each(
        reading,
        ids,
        Forbidden::Records,
        D::fetch,
        move |tx, account, context, id, fetched| {
            match fetched {
                FetchedRecord::Found(found) if found.seller() == account.ml_user_id => {
                    found.apply((tx, context, account.owner), account.linked_at)?;
                }
                FetchedRecord::Gone => {
                    D::gone((tx, context, account.owner), account.ml_user_id, id)?;
                }
                FetchedRecord::Found(_) | FetchedRecord::Unavailable => {}
            }
            note(tx, account, id)
        },
    )
    .map(|_| ())
}

/// Fetches records one by one and has `book` store each of them, while the
/// account is still linked as it was. Returns how many were stored.
pub fn fetch_each<T: Send + 'static, D: Send + 'static>(
    reading: &StepContext<'_>,
    records: Vec<T>,
    forbidden: Forbidden,
    ask: impl Fn(&Client, &Caller<'_>, &T) -> Result<D, Failure> + Sync,
    book: impl Fn(&WriteTx<'_>, &Account, &BookContext, &T, &FetchedRecord<D>) -> DbResult<()>
    + Copy
    + Send
    + Sync
    + 'static,
) -> Asked<usize> {
    let account = reading.account.ml_user_id;
    let records = Queue::new(records);
    let tally = Tally::default();
    let missing = AtomicUsize::new(0);
    let most_missing = MOST_MISSING << reading.state.attempts.clamp(0, 8);
    // If the marketplace answers another request, it is not down.
    let is_alone = || {
        missing.fetch_add(1, Ordering::Relaxed) < most_missing && reading.call(Client::me).is_ok()
    };
    let fetch = |record: T| {
        let fetched = match reading.call(|client, caller| ask(client, caller, &record)) {
            Ok(found) => {
                tally.count_answered();
                FetchedRecord::Found(found)
            }
            Err(CallError::Failed(failure)) if failure.is_not_found() => {
                tally.count_answered();
                FetchedRecord::Gone
            }
            Err(CallError::Failed(
                failure @ (Failure::Garbled(_) | Failure::Refused { status: 400 | 403.., .. }),
            )) => {
                tracing::warn!(ml_user_id = account.0, %failure, "a record was passed over");
                match failure {
                    Failure::Refused { status: 403, .. } if forbidden == Forbidden::Area => {
                        tally.count_missing(&failure);
                    }
                    _ => tally.count_answered(),
                }
                FetchedRecord::Unavailable
            }
            Err(CallError::Failed(failure @ Failure::Unreachable)) if is_alone() => {
                tally.count_missing(&failure);
                tracing::warn!(ml_user_id = account.0, %failure, "a record was passed over");
                FetchedRecord::Unavailable
            }
            Err(error) => return Err(error),
        };
        Ok(Some((record, fetched)))
    };
    let take = || records.take(reading);
    let booked = two_at_a_time(take, fetch, |(record, fetched)| {
        vec![reading.submit(move |tx, account, context| {
            book(tx, account, context, &record, &fetched)?;
            Ok(1)
        })]
    })?;
    if let Some(failure) = tally.failure() {
        return Err(failure.into());
    }
    if records.is_done() { Ok(booked) } else { Err(Halt::NoTime) }
}
