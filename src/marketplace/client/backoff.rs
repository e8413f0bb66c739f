//! When to retry after a failure: with growing pauses, never all at once.

use crate::base::DAY_S;

/// First pause, and the longest, in seconds.
const FIRST_S: i64 = 5;
const LONGEST_S: i64 = 3600;

/// Seconds until the next try after `attempts` failed ones. The pause doubles
/// from five seconds to an hour. A random part of up to a quarter is added, so
/// that tasks that failed together do not retry together.
pub fn pause_s(attempts: i64) -> i64 {
    let doublings = attempts.clamp(1, 16) - 1;
    let pause = (FIRST_S << doublings).min(LONGEST_S);
    let chance = i64::from(u16::from_le_bytes(crate::base::secrets::random()));
    pause + pause * chance / (4 * i64::from(u16::MAX))
}

/// The same, but at least the pause that the marketplace asks for (up to a day).
pub fn pause_asked_s(attempts: i64, asked: Option<i64>) -> i64 {
    pause_s(attempts).max(asked.unwrap_or(0).clamp(0, DAY_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour() {
        for (attempts, least) in
            [(0, 5), (1, 5), (2, 10), (5, 80), (10, 2560), (11, 3600), (1000, 3600)]
        {
            let pause = pause_s(attempts);
            assert!((least..=least + least / 4).contains(&pause), "{attempts}: {pause}");
        }
        assert!(pause_asked_s(1, Some(120)) >= 120);
        assert_eq!(pause_asked_s(1, Some(7_200)), 7_200);
        assert_eq!(pause_asked_s(1, Some(i64::MAX)), DAY_S);
    }
}
