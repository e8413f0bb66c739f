//! How many points an action gives, and what a student has: pure arithmetic
//! over the rules, days and entries.

use super::Action;
use crate::base::{Day, Instant};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

/// A multiplier of 1; multipliers are stored in hundredths.
pub const NEUTRAL: i64 = 100;
/// Most points of an action, and highest limit of a day.
pub const MOST_XP: i64 = 1_000_000;
/// Highest multiplier, in hundredths.
pub const MOST_MULTIPLIER: i64 = 100 * NEUTRAL;

/// The points of each action, and the limits. Changes apply to new entries
/// only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Points by action, in the order of [`Action::ALL`].
    pub xp: [i64; Action::ALL.len()],
    /// In hundredths; applies to every action.
    pub multiplier: i64,
    /// In hundredths: the bonus of a check-in at a streak of a whole lap or
    /// more; proportionally less below.
    pub streak_multiplier: i64,
    /// Most points of a civil day, without laps and challenges; 0 for no limit.
    pub day_limit: i64,
    /// Most points of a civil day by sales; 0 for no limit.
    pub sales_limit: i64,
}

/// A number of the rules: its name and its field.
type Named = (&'static str, fn(&mut Rules) -> &mut i64);

/// The numbers other than the points of the actions.
const NUMBERS: [Named; 4] = [
    ("multiplicador", |rules| &mut rules.multiplier),
    ("multiplicador_streak", |rules| &mut rules.streak_multiplier),
    ("limite_diario", |rules| &mut rules.day_limit),
    ("limite_venda_diario", |rules| &mut rules.sales_limit),
];

impl Rules {
    /// The rules in force.
    pub fn read(tx: &ReadTx<'_>) -> Result<Self> {
        let mut rules = Self::default();
        tx.each("SELECT name, value FROM program_rule", (), |row| {
            if let Some(number) = rules.number(row.get_ref(0)?.as_str()?) {
                *number = row.get(1)?;
            }
            Ok(())
        })?;
        Ok(rules)
    }

    /// Puts these rules in force.
    pub fn store(&self, tx: &WriteTx<'_>) -> Result<()> {
        let mut rules = self.clone();
        let names = Action::NAMES.into_iter().chain(NUMBERS.map(|(name, _)| name));
        for name in names {
            let value = rules.number(name).map_or(0, |number| *number);
            tx.run("UPDATE program_rule SET value = ?2 WHERE name = ?1", (name, value))?;
        }
        Ok(())
    }

    /// The field of a name.
    fn number(&mut self, name: &str) -> Option<&mut i64> {
        if let Some(action) = Action::from_name(name) {
            return Some(&mut self.xp[action.place()]);
        }
        let known = NUMBERS.iter().find(|(known, _)| *known == name);
        known.map(|(_, at)| at(self))
    }

    /// Points of an action before the daily limits. `streak` is the days of the
    /// streak and the days of a lap; it counts for check-ins only. Half a point
    /// is rounded up.
    pub fn points(&self, action: Action, streak: (i64, i64)) -> i64 {
        let (days, lap) = (streak.0.clamp(0, streak.1), streak.1.max(1));
        let gain = if action == Action::CheckIn { self.streak_multiplier * days } else { 0 };
        let over = NEUTRAL * NEUTRAL * lap;
        let points = self.xp[action.place()] * self.multiplier * (NEUTRAL * lap + gain);
        (2 * points + over) / (2 * over)
    }

    /// An action's points within the daily limits. `given` is what the day
    /// already gave.
    pub fn within_limits(&self, action: Action, points: i64, given: Given) -> i64 {
        let room = |limit: i64, given: i64| if limit > 0 { (limit - given).max(0) } else { points };
        let mut points_left = points;
        if action.is_limited() {
            points_left = points_left.min(room(self.day_limit, given.limited));
        }
        if action == Action::Sale {
            points_left = points_left.min(room(self.sales_limit, given.sales));
        }
        points_left
    }

    /// Whether an action's points depend on what its day already gave.
    pub const fn looks_at_day(&self, action: Action) -> bool {
        action.is_limited() && self.day_limit > 0
            || matches!(action, Action::Sale) && self.sales_limit > 0
    }
}

/// Points that a student got on a civil day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// By actions under the limit of the day.
    pub limited: i64,
    /// By sales.
    pub sales: i64,
}

row! {
    /// A student's sums of the ledger.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LedgerTotals: stored {
        pub entries: i64,
        pub xp: i64,
        pub xp_at: Instant,
        /// First day of the newest month with an entry.
        pub month: Day,
        pub month_xp: i64,
        pub month_at: Instant,
        /// Monday of the newest week with an entry.
        pub week: Day,
        pub week_xp: i64,
        pub week_at: Instant,
        pub checkins: i64,
        pub last_checkin: Option<Day>,
        pub checked_at: Instant,
        /// Consecutive days up to the last check-in; 0 after a task found a missed
        /// day.
        pub streak: i64,
        pub best_streak: i64,
        pub sales: i64,
        pub sales_at: Instant,
    }
}

row! {
    /// What an entry of the ledger adds to the totals.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Posting {
        pub day: Day = "program_entry.day",
        pub at: Instant = "program_entry.at",
        /// `None` for a correction.
        pub action: Option<Action> = "program_entry.action" => Action::from_number,
        /// How often the same points were taken back or given again before: even for
        /// an entry that gives, odd for one that takes back.
        pub reversals: i64 = "program_entry.turn",
        pub xp: i64 = "program_entry.xp",
    }
}

impl LedgerTotals {
    /// Adds an entry. Check-ins must be added in the order of their days, other
    /// entries in any order.
    pub fn add(&mut self, entry: &Posting) {
        let Posting { day, at, xp, .. } = *entry;
        let changed = |known: &mut Instant| *known = (*known).max(at);
        self.entries += 1;
        if xp != 0 {
            self.xp += xp;
            changed(&mut self.xp_at);
        }
        let (month, week) = (day.month_start(), day.week_start());
        if month > self.month {
            (self.month, self.month_xp, self.month_at) = (month, 0, Instant(0));
        }
        if month == self.month && xp != 0 {
            self.month_xp += xp;
            changed(&mut self.month_at);
        }
        if week > self.week {
            (self.week, self.week_xp, self.week_at) = (week, 0, Instant(0));
        }
        if week == self.week && xp != 0 {
            self.week_xp += xp;
            changed(&mut self.week_at);
        }
        match entry.action {
            Some(Action::CheckIn) => {
                self.checkins += 1;
                let goes_on = self.last_checkin.is_some_and(|last| last.plus(1) == day);
                self.streak = if goes_on { self.streak + 1 } else { 1 };
                self.best_streak = self.best_streak.max(self.streak);
                self.last_checkin = Some(day);
                self.checked_at = at;
            }
            Some(Action::Sale) => {
                self.sales += sign(entry.reversals);
                changed(&mut self.sales_at);
            }
            _ => {}
        }
    }

    /// Consecutive days up to yesterday or today; 0 after a missed day, even if
    /// `streak` was not reset yet.
    pub fn streak_on(&self, today: Day) -> i64 {
        let holds = self.last_checkin.is_some_and(|last| last.plus(1) >= today);
        if holds { self.streak } else { 0 }
    }

    /// The current lap: 1 and the completed ones.
    pub const fn lap(&self, lap_days: i64) -> i64 {
        1 + self.checkins / lap_days
    }

    /// Whole days since the last check-in.
    pub fn days_away(&self, today: Day) -> Option<i64> {
        self.last_checkin.map(|last| (today.0 - last.0).max(0))
    }

    /// Points of the month of a day.
    pub fn xp_of_month(&self, day: Day) -> i64 {
        if self.month == day.month_start() { self.month_xp } else { 0 }
    }

    /// Points of the week of a day.
    pub fn xp_of_week(&self, day: Day) -> i64 {
        if self.week == day.week_start() { self.week_xp } else { 0 }
    }
}

/// How an entry counts for its action: 1 when it gives, -1 when it takes back.
pub const fn sign(reversals: i64) -> i64 {
    if reversals % 2 == 0 { 1 } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules { xp: [10, 20, 50, 5, 100, 100, 150], multiplier: NEUTRAL, ..Rules::default() }
    }

    #[test]
    fn a_streak_adds_its_share_of_a_lap_to_a_check_in() {
        let rules = Rules { streak_multiplier: 50, ..rules() };
        for (streak, points) in [(1, 10), (3, 11), (15, 13), (30, 15), (400, 15)] {
            assert_eq!(rules.points(Action::CheckIn, (streak, 30)), points, "{streak}");
        }
        assert_eq!(rules.points(Action::Lesson, (30, 30)), 20);
    }

    #[test]
    fn the_multiplier_holds_for_every_action_and_halves_count() {
        let rules = Rules { multiplier: 150, ..rules() };
        assert_eq!(rules.points(Action::Sale, (0, 30)), 8);
        assert_eq!(rules.points(Action::Lap, (0, 30)), 225);
        assert_eq!(Rules { multiplier: 0, ..rules }.points(Action::Meet, (0, 30)), 0);
    }

    #[test]
    fn limits_leave_what_the_day_has_not_given() {
        let rules = Rules { day_limit: 60, sales_limit: 12, ..rules() };
        let given = |limited, sales| Given { limited, sales };
        for (action, points, given, left) in [
            (Action::CheckIn, 10, given(0, 0), 10),
            (Action::CheckIn, 10, given(55, 0), 5),
            (Action::Meet, 50, given(70, 0), 0),
            (Action::Sale, 5, given(10, 10), 2),
            (Action::Sale, 5, given(58, 0), 2),
            (Action::Lap, 150, given(60, 0), 150),
            (Action::Challenge, 100, given(60, 0), 100),
        ] {
            assert_eq!(rules.within_limits(action, points, given), left, "{action:?}");
        }
    }

    #[test]
    fn weeks_begin_on_monday() {
        let monday = Day::parse("2026-11-23").unwrap();
        for ahead in 0..7 {
            assert_eq!(monday.plus(ahead).week_start(), monday);
        }
        assert_eq!(monday.plus(-1).week_start(), monday.plus(-7));
    }
}
