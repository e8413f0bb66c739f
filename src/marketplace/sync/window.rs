//! A window of orders: all whose dates lie in a span, read page by page.
//!
//! Pages are offsets in a list that changes while it is read: when an order is
//! cancelled, it leaves the list, and those after it move up, also from one
//! page to the one before. So each page begins with the last order of the one
//! before. If two pages do not overlap, an order may have been missed, and the
//! window is read again.
//!
//! How far a search can be paged is not documented. The shortest window is read
//! however full it is: from its oldest order on as far as there are pages, then
//! from its newest order back until both passes meet. Decisions sync-4, sync-5, sync-6.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::Ordering;

use super::buyers::Names;
use super::lanes::{both, pieces, two_at_a_time};
use super::rules::{MOST_ORDERS, whole_hours};
use super::unreadable;
use super::{Asked, Halt, StepContext, count_of};
use crate::db::{DbError, Pending};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::document::{OrderDocument, UnreadableRecord};
use crate::marketplace::books::orders::{self as books, Applied};
use crate::marketplace::client::{Failure, ORDERS_PAGE, OrderSearch, Page, Span};
use crate::marketplace::kinds::RecordKind;

/// Orders from the beginning of one page to that of the next.
const STRIDE: usize = ORDERS_PAGE - 1;
/// Most pages of a search: no search is paged beyond 10,000 orders.
const MOST_PAGES: usize = 10_000 / STRIDE;
/// How often a window is read when its pages do not overlap.
const MOST_TIMES: usize = 5;
/// Searches of a window: a search leaves out cancelled orders unless it asks for them.
const SEARCHES: usize = 2;
/// Passes over a window: for each of the searches one from the oldest order on,
/// then one back from the newest.
const PASSES: usize = 2 * SEARCHES;
/// From this offset on, paging may end though there are more orders.
const SURE_REACH: usize = 900;

/// A window with the first page of each of its two searches.
pub struct Window {
    span: Span,
    first: [Page<OrderDocument>; 2],
}

impl Window {
    /// Begins to read the orders of a span, which is rounded to whole hours.
    pub fn open(reading: &StepContext<'_>, span: Span) -> Asked<Self> {
        reading.check_time()?;
        let span = match span {
            Span::Created(from, to) => {
                let (from, to) = whole_hours(from, to);
                Span::Created(from, to)
            }
            Span::Updated(from, to) => {
                let (from, to) = whole_hours(from, to);
                Span::Updated(from, to)
            }
        };
        let first = |pass| page(reading, span, pass, 0);
        let (standing, cancelled) = both(|| first(0), || first(1));
        Ok(Self { span, first: [standing?, cancelled?] })
    }

    /// How many orders there are, as the marketplace counts.
    pub fn total(&self) -> i64 {
        self.first.iter().map(|page| page.total.max(0)).sum()
    }

    /// Whether there are more orders than can be paged reliably. If the first
    /// page is not full, the marketplace's total is wrong.
    pub fn is_too_full(&self) -> bool {
        let is_full = |page: &Page<OrderDocument>| page.records.len() >= ORDERS_PAGE;
        let mut first = self.first.iter();
        first.any(|page| page.total > MOST_ORDERS && is_full(page))
    }

    /// Brings all orders of the window into the books; returns how many there
    /// are.
    pub fn read(self, reading: &StepContext<'_>) -> Asked<i64> {
        let span = self.span;
        let (mut window, mut seen) = (self, HashSet::<i64>::new());
        for times in 1.. {
            let course = window.read_once(reading)?;
            unreadable::queue_unreadable(reading, RecordKind::Order, course.unreadable)?;
            seen.extend(course.pages.iter().flat_map(|page| page.rows.iter().flatten()));
            if course.was_stopped {
                return Err(Halt::NoTime);
            }
            if all_meet(course.pages, ORDERS_PAGE) {
                break;
            }
            let account = reading.account.ml_user_id.0;
            if times == MOST_TIMES {
                tracing::warn!(ml_user_id = account, "orders moved each time they were read");
                break;
            }
            tracing::debug!(ml_user_id = account, "orders moved while they were read");
            window = Self::open(reading, span)?;
        }
        Ok(count_of(seen.len()))
    }

    /// Reads the pages and brings them into the books. The marketplace's totals
    /// have been wrong. So a pass ends where both the total and a page that is
    /// not full say so, or with an empty page.
    fn read_once(self, reading: &StepContext<'_>) -> Result<Course, CallError> {
        let (span, names) = (self.span, Names::default());
        let course = Mutex::new(Course {
            next: [1, 1, 0, 0],
            ends: [pages_of(self.first[0].total), pages_of(self.first[1].total), 0, 0],
            first: self.first.into_iter().enumerate().collect(),
            ..Course::default()
        });
        let locked = || course.lock();
        let take = || locked().take(reading);
        let fetch = |(pass, number, fetched): (usize, usize, Option<Page<OrderDocument>>)| {
            let found = match fetched {
                Some(first) => first,
                None => page(reading, span, pass, number)?,
            };
            let mut course = locked();
            course.note(reading, pass, number, &found);
            if found.records.is_empty() {
                return Ok(None);
            }
            let mut orders = unreadable::take_readable(
                reading,
                RecordKind::Order,
                found.records,
                &mut course.unreadable,
            );
            drop(course);
            if let Span::Updated(..) = span {
                names.add(reading, &mut orders)?;
            }
            Ok(Some(orders))
        };
        let news = two_at_a_time(take, fetch, |page| book(reading, page))?;
        reading.news.fetch_add(news, Ordering::Relaxed);
        Ok(course.into_inner())
    }
}

/// The progress of the lanes in a window.
#[derive(Default)]
struct Course {
    /// The next page of each pass, and how many pages it has, as far as is
    /// known.
    next: [usize; PASSES],
    ends: [usize; PASSES],
    /// First pages that are not in the books yet.
    first: Vec<(usize, Page<OrderDocument>)>,
    /// The orders on each page.
    pages: Vec<Seen>,
    /// Ids of orders that could not be read.
    unreadable: Vec<i64>,
    was_stopped: bool,
}

/// The ids on a page; `None` for an order whose id could not be read.
#[derive(Clone, Debug)]
struct Seen {
    pass: usize,
    number: usize,
    rows: Vec<Option<i64>>,
}

impl Course {
    /// The next page to process: its pass, its number, and the page itself when
    /// it was fetched already.
    fn take(
        &mut self,
        reading: &StepContext<'_>,
    ) -> Option<(usize, usize, Option<Page<OrderDocument>>)> {
        if let Some((pass, page)) = self.first.pop() {
            return Some((pass, 0, Some(page)));
        }
        let pass = (0..PASSES).find(|pass| self.next[*pass] < self.ends[*pass])?;
        if reading.is_time_over() {
            self.was_stopped = true;
            return None;
        }
        let number = self.next[pass];
        self.next[pass] += 1;
        if number >= MOST_PAGES {
            self.cut(reading, pass, number);
            return self.take(reading);
        }
        Some((pass, number, None))
    }

    fn note(
        &mut self,
        reading: &StepContext<'_>,
        pass: usize,
        number: usize,
        page: &Page<OrderDocument>,
    ) {
        let number_of = |order: &Result<OrderDocument, UnreadableRecord>| match order {
            Ok(order) => Some(order.id.0),
            Err(unreadable) => unreadable.id,
        };
        let seen = Seen { pass, number, rows: page.records.iter().map(number_of).collect() };
        let meets_other_end = self.meets_other_end(&seen);
        let end = &mut self.ends[pass];
        match page.records.len() {
            0 if number * STRIDE >= SURE_REACH => return self.cut(reading, pass, number),
            0 => *end = (*end).min(number),
            _ if meets_other_end => *end = (*end).min(number + 1),
            ORDERS_PAGE.. => *end = (*end).max(number + 2),
            _ => {}
        }
        self.pages.push(seen);
    }

    /// Ends a pass that returned nothing more though there may be more orders.
    /// The rest is read from the other end.
    fn cut(&mut self, reading: &StepContext<'_>, pass: usize, number: usize) {
        self.ends[pass] = self.ends[pass].min(number);
        let back = pass + SEARCHES;
        if back >= PASSES {
            let account = reading.account.ml_user_id.0;
            tracing::warn!(ml_user_id = account, "an hour holds more orders than can be paged");
        } else if self.ends[back] == 0 {
            self.ends[back] = 1;
        }
    }

    /// Whether a page of a pass from the newest order back has an order of the
    /// pass from the oldest order on.
    fn meets_other_end(&self, page: &Seen) -> bool {
        let Some(forth) = page.pass.checked_sub(SEARCHES) else {
            return false;
        };
        let others = self.pages.iter().filter(|other| other.pass == forth);
        let known: HashSet<_> = others.flat_map(|other| &other.rows).collect();
        page.rows.iter().any(|row| row.is_some() && known.contains(row))
    }
}

/// The number of pages of so many orders, at least one.
fn pages_of(orders: i64) -> usize {
    let more = usize::try_from(orders).unwrap_or(0).saturating_sub(ORDERS_PAGE);
    1 + more.div_ceil(STRIDE)
}

/// Whether each page after a full one contains the last order of that one.
fn all_meet(mut pages: Vec<Seen>, full: usize) -> bool {
    pages.sort_unstable_by_key(|page| (page.pass, page.number));
    pages.windows(2).all(|pair| {
        let [before, after] = pair else { return true };
        let last = before.rows.last().copied().flatten();
        before.pass != after.pass
            || before.rows.len() < full
            || last.is_none_or(|last| after.rows.contains(&Some(last)))
    })
}

fn page(
    reading: &StepContext<'_>,
    span: Span,
    pass: usize,
    number: usize,
) -> Result<Page<OrderDocument>, CallError> {
    let search =
        OrderSearch { span, left_out: pass % SEARCHES == 1, newest_first: pass >= SEARCHES };
    match reading.call(|client, caller| client.orders(caller, &search, number * STRIDE)) {
        // Paging goes no further. It counts as an empty page.
        Err(CallError::Failed(Failure::Refused { status: 400, .. }))
            if number * STRIDE >= SURE_REACH =>
        {
            Ok(Page { total: 0, records: Vec::new(), scroll: None })
        }
        found => found,
    }
}

/// Queues the writes of a page; the results are how many of its sales no
/// notification announced.
fn book(reading: &StepContext<'_>, mut orders: Vec<OrderDocument>) -> Vec<Pending<usize, DbError>> {
    orders.retain(|order| order.seller == reading.account.ml_user_id);
    pieces(orders).map(|piece| book_piece(reading, piece)).collect()
}

fn book_piece(reading: &StepContext<'_>, orders: Vec<OrderDocument>) -> Pending<usize, DbError> {
    let counts_news = reading.state.good_until.is_some();
    reading.submit(move |tx, account, context| {
        let mut news = 0;
        for order in &orders {
            let known = !counts_news || books::is_sale(tx, account.owner, order.id)?;
            let applied = books::apply((tx, context, account.owner), order, account.linked_at)?;
            news += usize::from(!known && applied == Applied::Stored && order.is_sale());
        }
        Ok(news)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_overlap_by_one() {
        for (orders, pages) in [(-1, 1), (0, 1), (50, 1), (51, 2), (99, 2), (100, 3), (148, 3)] {
            assert_eq!(pages_of(orders), pages, "{orders}");
        }
    }

    #[test]
    fn pages_meet_when_nothing_slipped_between_them() {
        let page = |pass, number, rows: &[i64]| Seen {
            pass,
            number,
            rows: rows.iter().map(|row| Some(*row)).collect(),
        };
        for (pages, meet) in [
            (vec![], true),
            (vec![page(0, 0, &[])], true),
            (vec![page(0, 0, &[1, 2, 3]), page(0, 1, &[3, 4])], true),
            // The order in which pages came does not matter.
            (vec![page(0, 1, &[3, 4]), page(0, 0, &[1, 2, 3])], true),
            // 2 was cancelled: the next page begins with 4 instead of 3.
            (vec![page(0, 0, &[1, 2, 3]), page(0, 1, &[4, 5])], false),
            (vec![page(0, 0, &[1, 2, 3]), page(0, 1, &[])], false),
            // An older order was added in between.
            (vec![page(0, 0, &[1, 2, 3]), page(0, 1, &[9, 3, 4])], true),
            (vec![page(0, 0, &[1, 2, 3]), page(1, 0, &[7])], true),
            (vec![page(0, 0, &[1, 2]), page(0, 1, &[])], true),
        ] {
            assert_eq!(all_meet(pages.clone(), 3), meet, "{pages:?}");
        }
        let mut unreadable = page(0, 0, &[1, 2]);
        unreadable.rows.push(None);
        assert!(all_meet(vec![unreadable, page(0, 1, &[4])], 3));
    }
}
