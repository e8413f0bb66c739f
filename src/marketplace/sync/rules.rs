//! When and how much is read: pure rules over instants.

use crate::base::{DAY_S, Instant, MlUserId};

pub const HOUR_S: i64 = 3600;
/// Windows that hold more orders are split: paging far is not reliable.
pub const MOST_ORDERS: i64 = 900;
/// The number of orders that a window should hold: a little below the limit, so
/// that few windows have to be split.
const GOOD_ORDERS: i64 = 840;
/// Longest window, and the one to begin with.
const LONGEST_S: i64 = 400 * DAY_S;
pub const FIRST_S: i64 = 15 * DAY_S;

/// The whole hour at or before an instant.
pub const fn hour(at: Instant) -> Instant {
    Instant(at.0 - at.0.rem_euclid(HOUR_S))
}

/// The span that covers another in whole hours: the marketplace drops minutes.
pub const fn whole_hours(from: Instant, to: Instant) -> (Instant, Instant) {
    (hour(from), hour(to.plus(HOUR_S - 1)))
}

/// Half of a window that holds too much, in whole hours; `None` when it is not
/// to be split any more.
pub fn half(span_s: i64) -> Option<i64> {
    (span_s > HOUR_S).then(|| (span_s / 2 / HOUR_S * HOUR_S).max(HOUR_S))
}

/// The length of the next window to try, after one of `span_s` held too many
/// orders: what fits at that density or, when that was tried, half.
pub fn shorter(span_s: i64, orders: i64, tries: u32) -> Option<i64> {
    let half = half(span_s)?;
    Some(match tries {
        0 => next_span(span_s, orders).clamp(half, span_s - HOUR_S),
        _ => half,
    })
}

/// How long the next window is, after one of `span_s` held `orders` orders.
pub fn next_span(span_s: i64, orders: i64) -> i64 {
    let fitting = span_s.saturating_mul(GOOD_ORDERS) / orders.max(1);
    // Quiet weeks say little about the weeks before them.
    let fitting = fitting.min(span_s.saturating_mul(8));
    (fitting / HOUR_S * HOUR_S).clamp(HOUR_S, LONGEST_S)
}

/// When an area is next read: about `every_s` from now, at an offset of its own
/// in that time, so that accounts are not all read at once.
pub fn next_turn(now: Instant, every_s: i64, account: MlUserId) -> Instant {
    let soonest = now.plus(every_s / 2);
    // Neighbouring ids get offsets that are far apart.
    let place = account.0.wrapping_mul(7_919).rem_euclid(every_s);
    soonest.plus((place - soonest.0).rem_euclid(every_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_covered_by_whole_hours() {
        for (from, to, hours) in [
            (0, 3600, (0, 3600)),
            (1, 3601, (0, 7200)),
            (3599, 3600, (0, 3600)),
            (-1, 0, (-3600, 0)),
        ] {
            assert_eq!(
                whole_hours(Instant(from), Instant(to)),
                (Instant(hours.0), Instant(hours.1))
            );
        }
    }

    #[test]
    fn windows_are_halved_down_to_an_hour() {
        let mut span = FIRST_S;
        let mut halvings = 0;
        while let Some(shorter) = half(span) {
            assert!(shorter < span && shorter % HOUR_S == 0 && shorter >= HOUR_S);
            (span, halvings) = (shorter, halvings + 1);
        }
        assert_eq!((span, halvings), (HOUR_S, 8));
    }

    #[test]
    fn a_window_that_holds_too_much_becomes_as_long_as_fits() {
        for (span, orders, tries, next) in [
            (20 * HOUR_S, 1_050, 0, Some(16 * HOUR_S)),
            (20 * HOUR_S, 901, 0, Some(18 * HOUR_S)),
            (20 * HOUR_S, 50_000, 0, Some(10 * HOUR_S)),
            (20 * HOUR_S, 1_050, 1, Some(10 * HOUR_S)),
            (2 * HOUR_S, 901, 0, Some(HOUR_S)),
            (HOUR_S, 901, 0, None),
        ] {
            assert_eq!(shorter(span, orders, tries), next, "{span} {orders}");
        }
    }

    #[test]
    fn windows_follow_how_much_is_sold() {
        for (span, orders, next) in [
            (10 * DAY_S, 840, 10 * DAY_S),
            (10 * DAY_S, 420, 20 * DAY_S),
            (10 * DAY_S, 84_000, 2 * HOUR_S),
            (HOUR_S, 100_000, HOUR_S),
            (DAY_S, 0, 8 * DAY_S),
            (LONGEST_S, 1, LONGEST_S),
        ] {
            assert_eq!(next_span(span, orders), next, "{span} {orders}");
        }
    }

    #[test]
    fn accounts_take_turns_at_places_of_their_own() {
        let now = Instant(1_795_176_000);
        let turns: std::collections::BTreeSet<i64> =
            (1..=300).map(|id| next_turn(now, 900, MlUserId(id)).since(now)).collect();
        assert!(turns.iter().all(|wait| (450..1350).contains(wait)));
        assert!(turns.len() > 250, "{}", turns.len());
        // An account keeps its offset.
        let next = next_turn(now, 900, MlUserId(7));
        assert_eq!(next_turn(next, 900, MlUserId(7)).since(next), 900);
    }
}
