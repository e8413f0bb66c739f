//! Listings: all of them, by scan, and those that are not in it one by one.
//!
//! A scan gives ids only, and the marketplace remembers how far it is: the next
//! call gets the next page. So the ids are noted (`ml_seen`) before the
//! next page is asked for, and a scan of which a page may have been lost begins
//! anew. What was looked at is noted too and not looked at twice.

use parking_lot::Mutex;

use super::alone;
use super::lanes::{Queue, two_at_a_time};
use super::store::Account;
use super::{Asked, Reading, Step};
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{DbError, Pending, ReadTx, Result as DbResult, WriteTx};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::document::{ItemId, ListingDocument};
use crate::marketplace::books::listings as books;
use crate::marketplace::client::{Caller, Client, Failure, ITEMS_AT_ONCE, ItemFailure, ItemIds};
use crate::named;
use crate::row;

/// Pages of a scan in one step, and in all.
const PAGES: usize = 10;
const MOST_PAGES: usize = 5_000;
/// A scroll is good for five minutes.
const SCROLL_S: i64 = 240;
/// Listings that are looked at one by one in a step, and those for which there
/// was no time before.
const ALONE: u32 = 40;
const AGAIN: u32 = 500;
/// Notes that are removed at a time.
const FORGOTTEN: u32 = 5_000;

/// Listings that were asked for together, and what came.
struct Details {
    asked: Vec<ItemId>,
    listings: Vec<Result<ListingDocument, ItemFailure>>,
}

named! {
    /// Whether a listing that the scan met was looked at.
    enum Looked: number {
        NotYet = 0, "not yet";
        Done = 1, "done";
        /// It is to be looked at alone: with others it told too little.
        Alone = 2, "alone";
    }
}

/// Where a reading is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    /// Before a scan, or in one of which a page may have been lost.
    Start,
    /// In a scan, every page of which is noted.
    Scan { given_at: Instant, pages: usize, scroll: String },
    /// At those for which there was no time in the scan, from this number on.
    Again { after: i64 },
    /// At those that could not be looked at with others.
    Rest { after: i64 },
    /// At those that the scan did not meet.
    Missing { after: i64 },
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
            ["again", after] => number(after).map(|after| Self::Again { after }),
            ["rest", after] => number(after).map(|after| Self::Rest { after }),
            ["missing", after] => number(after).map(|after| Self::Missing { after }),
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
            Self::Again { after } => format!("again {after}"),
            Self::Rest { after } => format!("rest {after}"),
            Self::Missing { after } => format!("missing {after}"),
        }
    }
}

/// Reads some pages of the scan, or some of what comes after it.
pub fn read(reading: &Reading<'_>) -> Asked<Step> {
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
        Position::Again { after } => again(reading, after),
        Position::Rest { after } => rest(reading, after),
        Position::Missing { after } => missing(reading, after),
    }
}

/// Counts an account's listings, now that all of them are here.
pub fn recount(tx: &WriteTx<'_>, account: &Account) -> DbResult<()> {
    books::store::recount(tx, account.owner, account.ml_user_id)
}

/// What the lanes do between two pages of ids.
enum Task {
    Scan(String),
    Details(Vec<ItemId>),
}

fn scan(reading: &Reading<'_>, scroll: Option<&str>, pages: usize) -> Asked<Step> {
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
        two_at_a_time(take, fetch, |found| book(reading, found))?;
        let Some(scroll) = goes_on else {
            break Position::Again { after: 0 };
        };
        match next.into_inner() {
            // Without time too its ids are noted: they are not told twice.
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

/// A step that leads on.
fn step(reading: &Reading<'_>, position: &Position, expected: Option<i64>) -> Asked<Step> {
    let account = reading.account.ml_user_id;
    let looked = reading.look_up(|tx| looked(tx, account))?;
    Ok(Step {
        is_over: false,
        position: position.text(),
        // Steps that failed half-way count too.
        read: looked - reading.done_before(),
        expected: expected.or(reading.state.expected),
        good_until: reading.state.good_until,
    })
}

/// What was met by the scan when there was no time to look at it.
fn again(reading: &Reading<'_>, after: i64) -> Asked<Step> {
    let account = reading.account.ml_user_id;
    let found = reading.look_up(|tx| not_looked_at(tx, account, Looked::NotYet, after, AGAIN))?;
    let Some(last) = found.last().map(|item| item.number) else {
        return step(reading, &Position::Rest { after: 0 }, None);
    };
    let tasks = Queue::new(found.chunks(ITEMS_AT_ONCE).map(<[_]>::to_vec));
    let take = || tasks.take(reading);
    let fetch = |ids| details_of(reading, ids).map(Some);
    two_at_a_time(take, fetch, |found| book(reading, found))?;
    let after = if tasks.is_done() { last } else { after };
    step(reading, &Position::Again { after }, None)
}

/// What was met by the scan and could not be looked at with others.
fn rest(reading: &Reading<'_>, after: i64) -> Asked<Step> {
    let account = reading.account.ml_user_id;
    let found = reading.look_up(|tx| not_looked_at(tx, account, Looked::Alone, after, ALONE))?;
    let Some(last) = found.last().map(|item| item.number) else {
        return step(reading, &Position::Missing { after: 0 }, None);
    };
    look(reading, found)?;
    step(reading, &Position::Rest { after: last }, None)
}

/// What is here and was not met by the scan.
fn missing(reading: &Reading<'_>, after: i64) -> Asked<Step> {
    let account = reading.account;
    let found = reading.look_up(|tx| not_met(tx, reading, after))?;
    if let Some(last) = found.last().map(|item| item.number) {
        // They are none of those that the marketplace counts.
        look(reading, found)?;
        return step(reading, &Position::Missing { after: last }, None);
    }
    let last = step(reading, &Position::Start, None)?;
    forget(reading)?;
    tracing::debug!(ml_user_id = account.ml_user_id.0, "all listings are read");
    Ok(Step { is_over: true, good_until: Some(reading.began), ..last })
}

/// Looks at listings one by one.
fn look(reading: &Reading<'_>, items: Vec<ItemId>) -> Asked<()> {
    let ask = |client: &Client, caller: &Caller<'_>, item: &ItemId| client.item(caller, item);
    alone::each_own(reading, items, ask, |tx, account, item| {
        note_looked(tx, account.ml_user_id, item, Looked::Done)
    })
}

fn ids(reading: &Reading<'_>, scroll: Option<&str>) -> Result<ItemIds, CallError> {
    reading.call(|client, caller| client.items_page(caller, scroll))
}

fn details_of(reading: &Reading<'_>, asked: Vec<ItemId>) -> Result<Details, CallError> {
    let listings = reading.call(|client, caller| client.items(caller, &asked))?;
    Ok(Details { asked, listings })
}

/// Queues listings for the books; brings how many were looked at. Those that
/// failed by themselves, or told too little, are looked at alone later.
fn book(reading: &Reading<'_>, found: Details) -> Pending<usize, DbError> {
    reading.submit(move |tx, account, books| {
        let mut looked = 0;
        let id = account.ml_user_id;
        for listing in &found.listings {
            match listing {
                Ok(listing) if listing.seller == id => {
                    let hidden = hidden(tx, account.owner, listing)?;
                    if hidden != Hidden::Changed {
                        books::apply((tx, books, account.owner), listing, account.linked_at)?;
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

/// What a listing of many does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    Nothing,
    /// Codes that were never read.
    Unread,
    /// Codes that may be others now; what is here stays until they are read too.
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

/// Notes ids that a scan met; returns those that were not looked at.
fn note_seen(reading: &Reading<'_>, ids: Vec<ItemId>) -> DbResult<Vec<ItemId>> {
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

/// Notes what came of a look; that it was done stays.
fn note_looked(tx: &WriteTx<'_>, account: MlUserId, item: &ItemId, looked: Looked) -> DbResult<()> {
    tx.run(
        "UPDATE ml_seen SET looked = ?3 WHERE ml_user_id = ?1 AND item_id = ?2 AND looked <> ?4",
        (account, item.number, looked, Looked::Done),
    )
}

fn set_position(reading: &Reading<'_>, position: &Position) -> DbResult<()> {
    let (area, position) = (reading.state.area, position.text());
    reading.write(move |tx, account, _| {
        tx.run(
            "UPDATE ml_sync SET position = ?3 WHERE ml_user_id = ?1 AND area = ?2",
            (account.ml_user_id, area, position),
        )
    })
}

/// How many that the scan met were looked at.
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

/// Listings of an account that the scan did not meet, but for those that were
/// closed already.
fn not_met(tx: &ReadTx<'_>, reading: &Reading<'_>, after: i64) -> DbResult<Vec<ItemId>> {
    let closed = reading.app.marketplace.words.known(tx, "closed")?;
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

row!(ItemId { site, number = "item_id" });

/// Forgets what was noted of a scan, in pieces.
fn forget(reading: &Reading<'_>) -> Asked<()> {
    let account = reading.account.ml_user_id;
    loop {
        let gone = reading.app.db.write(move |tx| {
            tx.execute(
                "DELETE FROM ml_seen WHERE ml_user_id = ?1 AND item_id IN (
                     SELECT item_id FROM ml_seen WHERE ml_user_id = ?1 LIMIT ?2)",
                (account, FORGOTTEN),
            )
        })?;
        if gone == 0 {
            return Ok(());
        }
    }
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
            Position::Again { after: 3 },
            Position::Rest { after: 7 },
            Position::Missing { after: 0 },
        ] {
            assert_eq!(Position::of(&position.text()), position);
        }
        assert_eq!(Position::of("scan x 1 y"), Position::Start);
        assert_eq!(Position::of("scan 1"), Position::Start);
    }
}
