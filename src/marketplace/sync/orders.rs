//! Orders: twelve months at the first reading, later what changed.
//!
//! The first reading goes backwards in windows of `date_created`, so that
//! recent days are available first. Orders older than the link are stored
//! without notifying anybody. Later readings go forwards in windows of
//! `date_last_updated`, from the time up to which the books are complete, with
//! an overlap.

use super::rules::{self, HOUR_S, half, hour, next_span};
use super::store::AreaState;
use super::window::Window;
use super::{Asked, Step, StepContext};
use crate::base::{DAY_S, Instant};
use crate::marketplace::client::Span;
use crate::marketplace::kinds::RecordKind;

/// How far back the marketplace keeps orders.
const SPAN_S: i64 = 365 * DAY_S;
/// Overlap of readings: changes may show late, and the marketplace drops
/// minutes.
const OVERLAP_S: i64 = 2 * HOUR_S;

/// Reads one window.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    match reading.state.good_until {
        None => history(reading),
        Some(good_until) => changes(reading, good_until),
    }
}

/// The position of the first reading: orders from `from` to `top`, where it
/// began, are in the books. The next window has a length of `span_s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    from: Instant,
    span_s: i64,
    /// `None` in a position that an older version stored.
    top: Option<Instant>,
}

impl Position {
    /// Reads a stored position, such as `1795140600 1296000 1795176000`.
    fn of(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let from = Instant(numbers.next()?.ok()?);
        let span_s = numbers.next().and_then(Result::ok);
        Some(Self {
            from,
            span_s: span_s.unwrap_or(rules::FIRST_S).max(HOUR_S),
            top: numbers.next().and_then(Result::ok).map(Instant),
        })
    }

    fn text(self) -> String {
        let top = self.top.map(|top| format!(" {}", top.0));
        format!("{} {}{}", self.from.0, self.span_s, top.unwrap_or_default())
    }
}

/// From when on an account's orders are in the books while older ones are still
/// to be read, according to the state of the account's areas.
pub fn history_from<'a>(
    linked_at: Instant,
    mut areas: impl Iterator<Item = &'a AreaState>,
) -> Option<Instant> {
    let orders = RecordKind::Order.area();
    let state = areas.find(|state| state.area == orders && state.good_until.is_none())?;
    Some(Position::of(&state.position).map_or(linked_at, |position| position.from))
}

/// Reads the newest window that is not in the books yet.
fn history(reading: &StepContext<'_>) -> Asked<Step> {
    let linked_at = reading.account.linked_at;
    let oldest = hour(linked_at.minus(SPAN_S));
    let first = Position { from: linked_at, span_s: rules::FIRST_S, top: Some(linked_at) };
    let position = Position::of(&reading.state.position).unwrap_or(first);
    let Position { from: to, span_s, top } = position;
    // Whole hours throughout, so that each split makes a window shorter.
    let (_, to) = rules::whole_hours(to, to);
    let open = |from| Window::open(reading, Span::Created(from, to));
    let expected = match reading.state.expected.filter(|_| reading.goes_on()) {
        Some(expected) => expected,
        None => open(oldest)?.total(),
    };
    let mut from = hour(to.minus(span_s)).max(oldest);
    let mut window = open(from)?;
    let mut tries = 0;
    while window.is_too_full()
        && let Some(shorter) = rules::shorter(to.since(from), window.total(), tries)
    {
        tries += 1;
        from = hour(to.minus(shorter)).max(oldest);
        window = open(from)?;
    }
    let read = window.read(reading)?;
    let ends_reading = from <= oldest;
    let position = Position {
        from,
        // Computed from the orders that were read, because totals have been
        // wrong.
        span_s: next_span(to.since(from), read),
        top,
    };
    Ok(Step {
        ends_reading,
        position: if ends_reading { String::new() } else { position.text() },
        read,
        expected: Some(expected),
        // The reading may have begun long after the link, and may have gone on
        // while the account was linked again. Later changes are for the next
        // reading.
        good_until: ends_reading.then_some(top.unwrap_or(reading.began)),
    })
}

/// Reads the oldest window of changes since the books were complete.
fn changes(reading: &StepContext<'_>, good_until: Instant) -> Asked<Step> {
    let target = reading.began;
    // After the clock was set back, there is little to read.
    let known = good_until.min(target);
    let from = known.minus(OVERLAP_S);
    let mut to = target;
    let open = |to| Window::open(reading, Span::Updated(from, to));
    let mut window = open(to)?;
    while let Some(shorter) = half(to.since(known)).filter(|_| window.is_too_full()) {
        to = known.plus(shorter);
        window = open(to)?;
    }
    let read = window.read(reading)?;
    Ok(Step {
        ends_reading: to >= target,
        position: String::new(),
        read,
        expected: None,
        good_until: Some(to),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        let position = Position {
            from: Instant(1_795_140_600),
            span_s: 7_200,
            top: Some(Instant(1_795_176_000)),
        };
        assert_eq!(Position::of(&position.text()), Some(position));
        // As older versions stored it.
        let old = Position::of("1795140600 7200").unwrap();
        assert_eq!((old.span_s, old.top), (7_200, None));
        assert_eq!(Position::of(&old.text()), Some(old));
        let older = Position::of("1795140600").unwrap();
        assert_eq!((older.from, older.span_s), (position.from, rules::FIRST_S));
        assert_eq!(Position::of(""), None);
        assert_eq!(Position::of("x"), None);
    }
}
