//! Orders: twelve months at the first reading, later what changed.
//!
//! The first reading goes backwards in windows of `date_created`, so that the
//! days people look at are there soonest; what is older than the link is
//! booked without telling anybody. Later readings go forwards in windows of
//! `date_last_updated` from where everything is known, with an overlap.

use std::sync::{Mutex, PoisonError};

use super::lanes::{both, two_at_a_time};
use super::rules::{self, HOUR_S, MOST_ORDERS, half, hour, next_span, whole_hours};
use super::{Reading, Step, store};
use crate::clock::{DAY_S, Instant};
use crate::db::{DbError, Pending};
use crate::marketplace::client::{ORDERS_PAGE, OrderSearch, OrdersPage, Span};
use crate::marketplace::document::OrderDocument;
use crate::marketplace::orders::{self as books, Applied, Books};
use crate::marketplace::tokens::{CallError, with_token};

/// How far back the marketplace keeps orders.
const SPAN_S: i64 = 365 * DAY_S;
/// What may arrive late, and minutes are dropped.
const OVERLAP_S: i64 = 2 * HOUR_S;
/// Pages of a search that are read: no search is paged beyond 10,000 orders.
const MOST_PAGES: usize = 10_000 / ORDERS_PAGE;
/// A search leaves out what was cancelled unless asked for it.
const PASSES: [Option<&str>; 2] = [None, Some("cancelled,pending_cancel,invalid")];

/// Reads one window.
pub fn read(reading: &Reading<'_>) -> Result<Option<Step>, CallError> {
    match reading.state.good_until {
        None => history(reading),
        Some(good_until) => changes(reading, good_until),
    }
}

/// Orders from here on are in the books, and how long the next window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    from: Instant,
    span_s: i64,
}

impl Position {
    /// Reads a stored position, such as `1795140600 1296000`.
    fn of(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let from = Instant(numbers.next()?.ok()?);
        let span_s = numbers.next().and_then(Result::ok);
        Some(Self {
            from,
            span_s: span_s.unwrap_or(rules::FIRST_S).max(HOUR_S),
        })
    }

    fn text(self) -> String {
        format!("{} {}", self.from.0, self.span_s)
    }
}

/// The newest window that is not here yet.
fn history(reading: &Reading<'_>) -> Result<Option<Step>, CallError> {
    let linked_at = reading.account.linked_at;
    let oldest = hour(linked_at.minus(SPAN_S));
    let Position { from: to, span_s } = Position::of(&reading.state.position).unwrap_or(Position {
        from: linked_at,
        span_s: rules::FIRST_S,
    });
    let expected = match reading.state.expected.filter(|_| reading.goes_on()) {
        Some(expected) => Some(expected),
        None => Some(Window::open(reading, Span::Created(oldest, to))?.total()),
    };
    let mut from = hour(to.minus(span_s)).max(oldest);
    let mut window = Window::open(reading, Span::Created(from, to))?;
    while let Some(shorter) = half(to.since(from)).filter(|_| window.is_too_full()) {
        from = hour(to.minus(shorter)).max(oldest);
        window = Window::open(reading, Span::Created(from, to))?;
    }
    let found = window.total();
    let Some(read) = window.read(reading)? else {
        return Ok(None);
    };
    let is_over = from <= oldest;
    let position = Position {
        from,
        span_s: next_span(to.since(from), found),
    };
    Ok(Some(Step {
        is_over,
        position: if is_over {
            String::new()
        } else {
            position.text()
        },
        read: read.orders,
        expected,
        // Notifications and later readings tell what happened meanwhile.
        good_until: is_over.then_some(reading.began),
        news: 0,
    }))
}

/// The oldest window of what changed since everything was known.
fn changes(reading: &Reading<'_>, good_until: Instant) -> Result<Option<Step>, CallError> {
    let target = reading.began;
    // A clock that was set back finds little to read.
    let known = good_until.min(target);
    let from = known.minus(OVERLAP_S);
    let mut to = target;
    let mut window = Window::open(reading, Span::Updated(from, to))?;
    while let Some(shorter) = half(to.since(known)).filter(|_| window.is_too_full()) {
        to = known.plus(shorter);
        window = Window::open(reading, Span::Updated(from, to))?;
    }
    let Some(read) = window.read(reading)? else {
        return Ok(None);
    };
    Ok(Some(Step {
        is_over: to >= target,
        position: String::new(),
        read: read.orders,
        expected: None,
        good_until: Some(to),
        news: read.news,
    }))
}

/// What came of a window.
struct Read {
    orders: i64,
    news: usize,
}

/// A search of both passes, their first pages fetched.
struct Window {
    span: Span,
    first: [OrdersPage; 2],
}

impl Window {
    fn open(reading: &Reading<'_>, span: Span) -> Result<Self, CallError> {
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
        Ok(Self {
            span,
            first: [standing?, cancelled?],
        })
    }

    /// How many orders there are, as the marketplace counts.
    fn total(&self) -> i64 {
        self.first.iter().map(|page| page.total.max(0)).sum()
    }

    fn is_too_full(&self) -> bool {
        self.first.iter().any(|page| page.total > MOST_ORDERS)
    }

    /// Books the first pages and reads the others; `None` when there was no
    /// time. The marketplace's totals have been wrong: a pass ends with an
    /// empty page.
    fn read(self, reading: &Reading<'_>) -> Result<Option<Read>, CallError> {
        let books = Books::of(reading.app);
        let span = self.span;
        let course = Mutex::new(Course {
            next: [1, 1],
            ended: [false, false],
            first: self.first.into_iter().enumerate().collect(),
            orders: 0,
            was_stopped: false,
        });
        let locked = || course.lock().unwrap_or_else(PoisonError::into_inner);
        let take = || locked().take(reading);
        let fetch = |(pass, number, fetched): (usize, usize, Option<OrdersPage>)| {
            let found = match fetched {
                Some(first) => first,
                None => page(reading, span, pass, number)?,
            };
            let mut course = locked();
            if found.orders.is_empty() {
                course.ended[pass] = true;
                return Ok(None);
            }
            course.orders += i64::try_from(found.orders.len()).unwrap_or(0);
            Ok(Some(found))
        };
        let news = two_at_a_time(take, fetch, |page| book(reading, &books, page))?;
        let course = course.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((!course.was_stopped).then_some(Read {
            orders: course.orders,
            news,
        }))
    }
}

/// Where two lanes are in a window.
struct Course {
    /// The next page of each pass, and whether an empty one was met.
    next: [usize; 2],
    ended: [bool; 2],
    /// First pages that nobody has booked yet.
    first: Vec<(usize, OrdersPage)>,
    orders: i64,
    was_stopped: bool,
}

impl Course {
    /// The next page to look at: its pass, its number, and the page itself
    /// when it is here already.
    fn take(&mut self, reading: &Reading<'_>) -> Option<(usize, usize, Option<OrdersPage>)> {
        if let Some((pass, page)) = self.first.pop() {
            self.ended[pass] |= page.orders.is_empty();
            return Some((pass, 0, Some(page)));
        }
        let pass = self.ended.iter().position(|ended| !ended)?;
        if reading.is_over() {
            self.was_stopped = true;
            return None;
        }
        let number = self.next[pass];
        self.next[pass] += 1;
        if number >= MOST_PAGES {
            let account = reading.account.ml_user_id.0;
            tracing::warn!(
                ml_user_id = account,
                "an hour holds more orders than can be paged"
            );
            self.ended[pass] = true;
            return self.take(reading);
        }
        Some((pass, number, None))
    }
}

fn page(
    reading: &Reading<'_>,
    span: Span,
    pass: usize,
    number: usize,
) -> Result<OrdersPage, CallError> {
    let search = OrderSearch {
        span,
        states: PASSES[pass],
    };
    with_token(reading.app, reading.account.ml_user_id, |caller| {
        let client = &reading.app.marketplace.client;
        client.orders(caller, &search, number * ORDERS_PAGE)
    })
}

/// Queues a page for the books of whoever has linked the account; gives back
/// how many sales nobody had told.
fn book(reading: &Reading<'_>, books: &Books, page: OrdersPage) -> Pending<usize, DbError> {
    let account = reading.account;
    let counts_news = reading.state.good_until.is_some();
    let orders: Vec<OrderDocument> = page
        .orders
        .into_iter()
        .filter_map(|order| readable(reading, order))
        .collect();
    let books = books.clone();
    reading.app.db.submit(move |tx| {
        let mut news = 0;
        if !store::is_still(tx, &account)? {
            return Ok(news);
        }
        for order in &orders {
            let known = !counts_news || books::is_sale(tx, account.owner, order.id)?;
            let applied = books::apply(tx, &books, account.owner, order, account.linked_at)?;
            news += usize::from(!known && applied == Applied::Stored && order.is_sale());
        }
        Ok(news)
    })
}

/// One odd record must not fail its page.
fn readable(
    reading: &Reading<'_>,
    order: Result<OrderDocument, crate::marketplace::document::Unreadable>,
) -> Option<OrderDocument> {
    let account = reading.account.ml_user_id;
    match order {
        Ok(order) => (order.seller == account).then_some(order),
        Err(error) => {
            tracing::warn!(ml_user_id = account.0, %error, "an order that cannot be read was passed over");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        let position = Position {
            from: Instant(1_795_140_600),
            span_s: 7_200,
        };
        assert_eq!(Position::of(&position.text()), Some(position));
        // As a file of an older program leaves it.
        let older = Position::of("1795140600").unwrap();
        assert_eq!((older.from, older.span_s), (position.from, rules::FIRST_S));
        assert_eq!(Position::of(""), None);
        assert_eq!(Position::of("x"), None);
    }
}
