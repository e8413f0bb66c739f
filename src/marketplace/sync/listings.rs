//! Listings: all of them by a scan, and stored ones that are not in it one by
//! one.
//!
//! A scan returns only ids, and the marketplace keeps its position: each call
//! returns the next page. So the ids are stored (`ml_seen`) before the next
//! page is requested, and a scan that may have lost a page starts again.
//! Listings that were read are marked there and not read twice.

use parking_lot::Mutex;

use super::lanes::{Queue, two_at_a_time};
use super::records;
use super::store::Account;
use super::{Asked, Step, StepContext, store};
use crate::base::{Cents, Instant, MlUserId, UserId};
use crate::db::{DbError, Pending, ReadTx, Result as DbResult, WriteTx};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::document::{ItemId, ListingDocument};
use crate::marketplace::books::listings as books;
use crate::marketplace::client::{Failure, ITEMS_AT_ONCE, ItemFailure, ItemIds};
use crate::named;

/// Most pages of a scan in one step, and in all.
const PAGES: usize = 10;
const MOST_PAGES: usize = 5_000;
/// A scroll expires after five minutes.
const SCROLL_S: i64 = 240;
/// Most listings that a step reads one by one, and most that it reads in groups
/// because the scan had no time for them.
const ALONE: u32 = 40;
const AGAIN: u32 = 500;

/// Listings that were requested together, and the answers.
struct Details {
    asked: Vec<ItemId>,
    listings: Vec<Result<ListingDocument, ItemFailure>>,
}

named! {
    /// Whether a listing that the scan returned was read.
    enum Looked: number {
        NotYet = 0, "not yet";
        Done = 1, "done";
        /// To be read alone: the answer for several listings was incomplete.
        Alone = 2, "alone";
    }
}

named! {
    /// What comes after the scan, in this order.
    enum Stage: text {
        /// Listings for which the scan had no time.
        Again = "again";
        /// Listings that must be read alone.
        Rest = "rest";
        /// Stored listings that the scan did not return.
        Missing = "missing";
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    /// Before a scan, or in one that may have lost a page.
    Start,
    /// In a scan of which every page is stored.
    Scan { given_at: Instant, pages: usize, scroll: String },
    /// In what comes after the scan, after this id.
    After(Stage, i64),
}

impl Position {
    fn of(text: &str) -> Self {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let number = |word: &str| word.parse::<i64>().ok();
        let read = match *words {
            ["scan", given_at, pages, scroll] => number(given_at).and_then(|given_at| {
                Some(Self::Scan {
                    given_at: Instant(given_at),
                    pages: pages.parse().ok()?,
                    scroll: scroll.to_owned(),
                })
            }),
            [stage, after] => Stage::from_name(stage)
                .zip(number(after))
                .map(|(stage, after)| Self::After(stage, after)),
            _ => None,
        };
        read.unwrap_or(Self::Start)
    }

    fn text(&self) -> String {
        match self {
            Self::Start => String::new(),
            Self::Scan { given_at, pages, scroll } => {
                format!("scan {} {pages} {scroll}", given_at.0)
            }
            Self::After(stage, after) => format!("{} {after}", stage.name()),
        }
    }
}

/// Reads some pages of the scan, or some of what comes after it.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    if !reading.goes_on() {
        forget(reading)?;
        return scan(reading, None, 0);
    }
    let now = reading.app.clock.now();
    match Position::of(&reading.state.position) {
        Position::Scan { given_at, pages, scroll } if now.since(given_at) < SCROLL_S => {
            scan(reading, Some(&scroll), pages)
        }
        Position::Start | Position::Scan { .. } => scan(reading, None, 0),
        Position::After(stage, after) => pass(reading, stage, after),
    }
}

/// Recounts an account's listings, when a reading has ended.
pub fn recount(tx: &WriteTx<'_>, account: &Account) -> DbResult<()> {
    books::store::recount(tx, account.owner, account.ml_user_id)
}

/// The work of the lanes between two pages of ids.
enum Task {
    Scan(String),
    Details(Vec<ItemId>),
}

fn scan(reading: &StepContext<'_>, scroll: Option<&str>, pages: usize) -> Asked<Step> {
    let mut taken = 0;
    if scroll.is_some() {
        set_position(reading, &Position::Start)?;
    }
    let mut page = ids(reading, scroll)?;
    let total = page.total;
    let position = loop {
        taken += 1;
        let unknown = note_seen(reading, page.ids)?;
        let goes_on = page.scroll.filter(|_| pages + taken < MOST_PAGES);
        let fetches_next = taken < PAGES;
        let scan = goes_on.clone().filter(|_| fetches_next).map(Task::Scan);
        let details = unknown.chunks(ITEMS_AT_ONCE).map(|ids| Task::Details(ids.to_vec()));
        let tasks = Queue::new(scan.into_iter().chain(details));
        let next: Mutex<Option<ItemIds>> = Mutex::default();
        let take = || tasks.take(reading);
        let fetch = |task| match task {
            Task::Scan(scroll) => {
                let found = ids(reading, Some(&scroll))?;
                *next.lock() = Some(found);
                Ok(None)
            }
            Task::Details(ids) => details_of(reading, ids).map(Some),
        };
        two_at_a_time(take, fetch, |found| vec![book(reading, found)])?;
        let Some(scroll) = goes_on else {
            break Position::After(Stage::Again, 0);
        };
        match next.into_inner() {
            // Its ids are stored also when the time is over: the scan does not
            // return them again.
            Some(next) => page = next,
            None => {
                break Position::Scan {
                    given_at: reading.app.clock.now(),
                    pages: pages + taken,
                    scroll,
                };
            }
        }
    };
    step(reading, &position, Some(total))
}

/// A step that does not end the reading.
fn step(reading: &StepContext<'_>, position: &Position, expected: Option<i64>) -> Asked<Step> {
    let account = reading.account.ml_user_id;
    let looked = reading.look_up(|tx| looked(tx, account))?;
    Ok(Step {
        ends_reading: false,
        position: position.text(),
        // Listings that were read by failed steps count too.
        read: looked - reading.done_before(),
        expected: expected.or(reading.state.expected),
        good_until: reading.state.good_until,
    })
}

/// Reads some of what comes after the scan.
fn pass(reading: &StepContext<'_>, stage: Stage, after: i64) -> Asked<Step> {
    let account = reading.account.ml_user_id;
    let found = reading.look_up(|tx| match stage {
        Stage::Again => not_looked_at(tx, account, Looked::NotYet, after, AGAIN),
        Stage::Rest => not_looked_at(tx, account, Looked::Alone, after, ALONE),
        Stage::Missing => not_met(tx, reading, after),
    })?;
    let Some(last) = found.last().map(|item| item.number) else {
        return match stage {
            Stage::Again => step(reading, &Position::After(Stage::Rest, 0), None),
            Stage::Rest => step(reading, &Position::After(Stage::Missing, 0), None),
            Stage::Missing => end(reading),
        };
    };
    let is_done = match stage {
        Stage::Again => read_details(reading, &found)?,
        // The marketplace's total does not include the missing ones.
        Stage::Rest | Stage::Missing => {
            records::fetch_own::<ListingDocument>(reading, found, |tx, account, item| {
                note_looked(tx, account.ml_user_id, item, Looked::Done)
            })?;
            true
        }
    };
    step(reading, &Position::After(stage, if is_done { last } else { after }), None)
}

/// Reads listings in groups; false when the time was over before the end.
fn read_details(reading: &StepContext<'_>, items: &[ItemId]) -> Asked<bool> {
    let tasks = Queue::new(items.chunks(ITEMS_AT_ONCE).map(<[_]>::to_vec));
    let take = || tasks.take(reading);
    let fetch = |ids| details_of(reading, ids).map(Some);
    two_at_a_time(take, fetch, |found| vec![book(reading, found)])?;
    Ok(tasks.is_done())
}

/// The step that ends the reading.
fn end(reading: &StepContext<'_>) -> Asked<Step> {
    let last = step(reading, &Position::Start, None)?;
    forget(reading)?;
    tracing::debug!(ml_user_id = reading.account.ml_user_id.0, "all listings are read");
    Ok(Step { ends_reading: true, good_until: Some(reading.began), ..last })
}

fn ids(reading: &StepContext<'_>, scroll: Option<&str>) -> Result<ItemIds, CallError> {
    reading.call(|client, caller| client.items_page(caller, scroll))
}

fn details_of(reading: &StepContext<'_>, asked: Vec<ItemId>) -> Result<Details, CallError> {
    let mut listings = reading.call(|client, caller| client.items(caller, &asked))?;
    for found in &mut listings {
        let Ok(listing) = found else { continue };
        if listing.price.is_none() {
            match price_of(reading, listing) {
                Ok(price) => listing.price = price,
                // It is read alone later.
                Err(CallError::Failed(why)) => {
                    *found = Err(ItemFailure { id: Some(listing.id.clone()), why });
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Details { asked, listings })
}

/// The price of a listing that came without one: the stored one while nothing of the
/// listing changed, else the one that the marketplace names when asked; `None` when it
/// names none. Other changes of prices are announced.
fn price_of(
    reading: &StepContext<'_>,
    listing: &ListingDocument,
) -> Result<Option<Cents>, CallError> {
    let owner = reading.account.owner;
    let before = reading.look_up(|tx| books::store::stored(tx, owner, listing.id.number))?;
    let known = before.filter(|before| before.updated_at == listing.updated_at);
    match known.and_then(|before| before.price) {
        Some(price) => Ok(Some(price)),
        None => reading.call(|client, caller| client.sale_price(caller, &listing.id)),
    }
}

/// Queues the write of listings; the result is how many were read completely.
/// Those that failed or were incomplete are read alone later.
fn book(reading: &StepContext<'_>, found: Details) -> Pending<usize, DbError> {
    reading.submit(move |tx, account, context| {
        let mut looked = 0;
        let id = account.ml_user_id;
        for listing in &found.listings {
            match listing {
                Ok(listing) if listing.seller == id => {
                    let hidden = hidden(tx, account.owner, listing)?;
                    if hidden != Hidden::Changed {
                        books::apply((tx, context, account.owner), listing, account.linked_at)?;
                    }
                    if hidden == Hidden::Nothing {
                        note_looked(tx, id, &listing.id, Looked::Done)?;
                        looked += 1;
                    }
                }
                Ok(_) => {}
                Err(ItemFailure { why, .. }) => {
                    if !matches!(why, Failure::Unreachable | Failure::RateLimited { .. }) {
                        tracing::warn!(ml_user_id = id.0, %why, "a listing is to be read alone");
                    }
                }
            }
        }
        for item in &found.asked {
            note_looked(tx, id, item, Looked::Alone)?;
        }
        Ok(looked)
    })
}

/// What the answer for several listings leaves out of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    Nothing,
    /// Codes that were never read before.
    Unread,
    /// Codes that may have changed; the stored listing stays until they are
    /// read too.
    Changed,
}

fn hidden(tx: &ReadTx<'_>, owner: UserId, listing: &ListingDocument) -> DbResult<Hidden> {
    if !listing.hides_codes {
        return Ok(Hidden::Nothing);
    }
    let before = books::store::stored(tx, owner, listing.id.number)?;
    Ok(match before {
        None => Hidden::Unread,
        Some(before) if before.updated_at != listing.updated_at => Hidden::Changed,
        Some(before) if before.sku.is_empty() => Hidden::Unread,
        Some(_) => Hidden::Nothing,
    })
}

/// Stores ids that a scan returned; returns those that were not read yet.
fn note_seen(reading: &StepContext<'_>, ids: Vec<ItemId>) -> DbResult<Vec<ItemId>> {
    reading.write(move |tx, account, _| {
        let mut unknown = Vec::with_capacity(ids.len());
        for item in ids {
            let is_new = tx.execute(
                "INSERT INTO ml_seen (ml_user_id, item_id, site, looked) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET site = ?3 WHERE looked = ?4",
                (account.ml_user_id, item.number, &item.site, Looked::NotYet),
            )?;
            if is_new > 0 {
                unknown.push(item);
            }
        }
        Ok(unknown)
    })
}

/// Notes whether a listing was read; `Done` is never changed back.
fn note_looked(tx: &WriteTx<'_>, account: MlUserId, item: &ItemId, looked: Looked) -> DbResult<()> {
    tx.run(
        "UPDATE ml_seen SET looked = ?3 WHERE ml_user_id = ?1 AND item_id = ?2 AND looked <> ?4",
        (account, item.number, looked, Looked::Done),
    )
}

fn set_position(reading: &StepContext<'_>, position: &Position) -> DbResult<()> {
    let (area, position) = (reading.state.area, position.text());
    reading.write(move |tx, account, _| {
        tx.run(
            "UPDATE ml_sync SET position = ?3 WHERE ml_user_id = ?1 AND area = ?2",
            (account.ml_user_id, area, position),
        )
    })
}

fn looked(tx: &ReadTx<'_>, account: MlUserId) -> DbResult<i64> {
    tx.value(
        "SELECT count(*) FROM ml_seen WHERE ml_user_id = ?1 AND looked = ?2",
        (account, Looked::Done),
    )
}

fn not_looked_at(
    tx: &ReadTx<'_>,
    account: MlUserId,
    looked: Looked,
    after: i64,
    most: u32,
) -> DbResult<Vec<ItemId>> {
    tx.records(
        "FROM ml_seen
         WHERE ml_user_id = ?1 AND item_id > ?2 AND looked = ?3
         ORDER BY item_id
         LIMIT ?4",
        (account, after, looked, most),
    )
}

/// Stored listings of an account that the scan did not return, except closed
/// ones.
fn not_met(tx: &ReadTx<'_>, reading: &StepContext<'_>, after: i64) -> DbResult<Vec<ItemId>> {
    let closed = reading.app.marketplace.words.find(tx, "closed")?;
    tx.records(
        "FROM listing l
         WHERE owner_id = ?1 AND item_id > ?3 AND ml_user_id = ?2 AND status IS NOT ?4
             AND NOT EXISTS (SELECT 1 FROM ml_seen s WHERE s.ml_user_id = ?2 AND s.item_id = l.item_id)
         ORDER BY item_id
         LIMIT ?5",
        (
            reading.account.owner,
            reading.account.ml_user_id,
            after,
            closed,
            ALONE,
        ),
    )
}

fn forget(reading: &StepContext<'_>) -> Asked<()> {
    let account = reading.account.ml_user_id;
    Ok(reading.app.db.write_pieces(move |tx| store::forget_seen(tx, account))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        for position in [
            Position::Start,
            Position::Scan {
                given_at: Instant(1_795_140_600),
                pages: 12,
                scroll: "a b=c".to_owned(),
            },
            Position::After(Stage::Again, 3),
            Position::After(Stage::Rest, 7),
            Position::After(Stage::Missing, 0),
        ] {
            assert_eq!(Position::of(&position.text()), position);
        }
        assert_eq!(Position::of("scan x 1 y"), Position::Start);
        assert_eq!(Position::of("scan 1"), Position::Start);
    }
}
