//! Emblems, flames and rings of the program, as numbers for inline SVG, because
//! the content security policy allows no inline styles. `program/kit.html`
//! draws them.

use super::views::days;

/// Milestones of one tier: its emblems have the same frame.
const TIER: i64 = 4;

/// The emblem of a milestone, or of the level that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emblem {
    /// From 1 to 20; 0 when none was reached yet.
    pub number: i64,
    /// Whether it was reached; else it is drawn in lines, with a lock.
    pub earned: bool,
}

impl Emblem {
    /// The emblem of a level, reached by being there.
    pub fn level(number: i64) -> Self {
        Self { number, earned: number > 0 }
    }

    /// From 1 to 5: each brings one more part of the drawing.
    pub fn tier(self) -> i64 {
        1 + (self.number.max(1) - 1) / TIER
    }

    /// From 1 to 4: its place within the tier.
    pub fn step(self) -> i64 {
        1 + (self.number.max(1) - 1) % TIER
    }
}

/// The flame of a streak. It grows at 7, 30 and 100 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flame {
    /// Days in a row.
    pub days: i64,
}

impl Flame {
    /// From 0 (no streak, an outline) to 4.
    pub fn stage(self) -> u8 {
        match self.days {
            ..1 => 0,
            1..7 => 1,
            7..30 => 2,
            30..100 => 3,
            _ => 4,
        }
    }
}

/// A lap of check-ins: a ring with one mark a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lap {
    /// 1 for the first.
    pub number: i64,
    /// Check-ins of it that were done.
    pub done: i64,
    /// Check-ins that complete it.
    pub of: i64,
}

impl Lap {
    /// `Volta 2: 13 de 30 dias`.
    pub fn words(self) -> String {
        format!("Volta {}: {} de {}", self.number, self.done, days(self.of))
    }

    /// Length of the ring in units of the drawing: ten for each day.
    pub fn length(self) -> i64 {
        10 * self.of.max(1)
    }

    /// The track: a dash for each day, or a closed ring when there are too many
    /// days.
    pub fn track(self) -> String {
        if self.is_fine() { "8 2".to_owned() } else { format!("{} 0", self.length()) }
    }

    /// The part of the ring that is done, as dashes that end with it.
    pub fn dashes(self) -> String {
        let done = self.done.clamp(0, self.of.max(1));
        let dashes = usize::try_from(done).unwrap_or(0);
        let (drawn, rest) = match (self.is_fine(), dashes) {
            (_, 0) => ("0 ".to_owned(), self.length()),
            (true, _) => ("8 2 ".repeat(dashes - 1) + "8 ", 10 * (self.of.max(1) - done) + 2),
            (false, _) => return self.solid(),
        };
        // The pattern repeats, so its last gap is longer than the ring.
        format!("{drawn}{}", rest + self.length())
    }

    /// The same as one arc, for a small ring.
    pub fn solid(self) -> String {
        format!("{} {}", 10 * self.done.clamp(0, self.of.max(1)), 2 * self.length())
    }

    /// Today on the ring: a dash that begins at its position.
    pub fn today(self) -> String {
        let at = 10 * self.done.clamp(0, self.of.max(1) - 1);
        format!("0 {at} {} {}", if self.is_fine() { 8 } else { 10 }, 2 * self.length())
    }

    fn is_fine(self) -> bool {
        self.of <= 40
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_emblems_are_five_tiers_of_four() {
        let of = |number| {
            let emblem = Emblem { number, earned: true };
            (emblem.tier(), emblem.step())
        };
        let drawn = [1, 4, 5, 8, 9, 17, 20].map(of);
        assert_eq!(drawn, [(1, 1), (1, 4), (2, 1), (2, 4), (3, 1), (5, 1), (5, 4)]);
        assert_eq!(of(0), (1, 1));
    }

    #[test]
    fn the_flame_grows_at_7_30_and_100() {
        let drawn = [0, 1, 6, 7, 29, 30, 99, 100, 4000].map(|days| Flame { days }.stage());
        assert_eq!(drawn, [0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn a_ring_has_as_many_dashes_as_days_were_done() {
        let lap = |done| Lap { number: 1, done, of: 4 };
        assert_eq!(lap(0).dashes(), "0 80");
        assert_eq!(lap(1).dashes(), "8 72");
        assert_eq!(lap(4).dashes(), "8 2 8 2 8 2 8 42");
        assert_eq!(lap(9).dashes(), lap(4).dashes());
        assert_eq!(lap(2).today(), "0 20 8 80");
        let long = Lap { number: 1, done: 183, of: 366 };
        assert_eq!((&*long.track(), &*long.dashes()), ("3660 0", "1830 7320"));
    }
}
