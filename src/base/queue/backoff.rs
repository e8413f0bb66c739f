//! How long to wait after a failure: longer each time, and not all at once.

use std::time::Duration;

use crate::base::{DAY_S, secrets};

/// Pauses after failures.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The first pauses, in seconds; the last of them is doubled from then on.
    pub pauses_s: &'static [i64],
    longest_s: i64,
    spread: Spread,
}

/// What chance adds to a pause, so that what failed together is not tried
/// together.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    None,
    /// Up to a quarter more.
    Longer,
    /// Up to half less.
    Shorter,
}

impl Backoff {
    /// These pauses, then doubled ones up to `longest_s`.
    pub const fn doubling(pauses_s: &'static [i64], longest_s: i64, spread: Spread) -> Self {
        Self { pauses_s, longest_s, spread }
    }

    /// Seconds until the next try after `failures` in a row.
    pub fn pause_s(&self, failures: i64) -> i64 {
        let before = usize::try_from(failures - 1).unwrap_or(0);
        let last = self.pauses_s.len() - 1;
        let doublings = before.saturating_sub(last).min(16);
        let pause = (self.pauses_s[before.min(last)] << doublings).min(self.longest_s);
        let share =
            |of: i64| of * i64::from(u16::from_le_bytes(secrets::random())) / i64::from(u16::MAX);
        match self.spread {
            Spread::None => pause,
            Spread::Longer => pause + share(pause) / 4,
            Spread::Shorter => pause / 2 + share(pause - pause / 2),
        }
    }

    /// The same, for whoever waits in place.
    pub fn pause(&self, failures: i64) -> Duration {
        Duration::from_secs(self.pause_s(failures).unsigned_abs())
    }

    /// The same, but at least the pause that the other side asks for, up to a day.
    pub fn pause_asked_s(&self, failures: i64, asked_s: Option<i64>) -> i64 {
        self.pause_s(failures).max(asked_s.unwrap_or(0).clamp(0, DAY_S))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CONNECTION, INBOX, MESSAGES, WEBHOOKS};
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_are_spread() {
        for (failures, least) in
            [(0, 5), (1, 5), (2, 10), (5, 80), (10, 2560), (11, 3600), (1000, 3600)]
        {
            let pause = INBOX.retry.pause_s(failures);
            assert!((least..=least + least / 4).contains(&pause), "{failures}: {pause}");
        }
        for (failures, whole) in [(1, 30), (2, 60), (5, 480), (8, 3600), (500, 3600)] {
            for _ in 0..20 {
                let pause = MESSAGES.retry.pause_s(failures);
                assert!((whole / 2..=whole).contains(&pause), "{failures}: {pause}");
            }
        }
        let pauses = |backoff: Backoff| [1, 2, 3, 4, 5, 6, 90].map(|tries| backoff.pause_s(tries));
        assert_eq!(pauses(MESSAGES.probe), [5, 10, 20, 40, 60, 60, 60]);
        assert_eq!(pauses(WEBHOOKS.probe), [4, 8, 16, 32, 64, 128, 300]);
        assert_eq!(pauses(INBOX.probe), [4; 7]);
        assert_eq!(pauses(CONNECTION), [1, 2, 4, 8, 16, 32, 60]);
    }

    #[test]
    fn a_pause_that_is_asked_for_is_kept_up_to_a_day() {
        assert!(INBOX.retry.pause_asked_s(1, Some(120)) >= 120);
        assert_eq!(INBOX.retry.pause_asked_s(1, Some(7_200)), 7_200);
        assert_eq!(INBOX.retry.pause_asked_s(1, Some(i64::MAX)), DAY_S);
    }
}
