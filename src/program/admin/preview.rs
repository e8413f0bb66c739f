//! Preview of other rules: recalculates the entries of the last days with the
//! points that these rules would give.

use std::collections::HashMap;

use super::views::{Effect, EffectRow};
use crate::base::{Day, UserId};
use crate::db::{ReadTx, Record as _, Result};
use crate::program::rules::{Given, Posting, Rules, sign};
use crate::program::views::action_icon;
use crate::program::{Action, ProgramSettings};
use crate::row;

/// Days that are looked at.
const DAYS: i64 = 30;
/// Most students in the preview. If there are more, every n-th is used.
const MOST_STUDENTS: u64 = 20_000;

row! {
    /// A posting with its cause.
    #[derive(Clone, Copy)]
    struct Caused {
        student: UserId = "p.student_id",
        posting: Posting as row,
        cause: i64,
        /// Whether a challenge names its own reward.
        promised: bool = "program_entry.action = ?4 AND EXISTS (
        SELECT 1 FROM challenge c WHERE c.challenge_id = cause AND c.reward_xp IS NOT NULL)",
    }
}
// ?4 the action of challenges.

/// What the typed rules would have given in the last days, compared with what
/// was given.
pub fn effect(
    tx: &ReadTx<'_>,
    settings: ProgramSettings,
    present: &Rules,
    typed: &Rules,
    today: Day,
) -> Result<Effect> {
    let from = today.plus(1 - DAYS);
    let students = tx.count("SELECT count(*) FROM program_student", ())?;
    let step = students.div_ceil(MOST_STUDENTS).max(1);
    let mut sums = Sums::default();
    let mut own: Vec<Caused> = Vec::new();
    // Entries of one lap before the period are read too, for the streak. The
    // cross join makes students the outer loop, so that the entries of each
    // student are one range.
    let sql = format!(
        "SELECT {} FROM program_student p CROSS JOIN program_entry
         WHERE program_entry.student_id = p.student_id AND day >= ?1 AND p.student_id % ?2 = 0
           AND p.xp_at >= ?3
         ORDER BY p.student_id, day, at, action, cause, turn",
        Caused::COLUMNS
    );
    let values = (
        from.plus(-settings.lap_days),
        i64::try_from(step).unwrap_or(1),
        settings.zone.start_of(from),
        Action::Challenge,
    );
    tx.each(&sql, values, |row| {
        let next = Caused::read(row)?;
        if own.last().is_some_and(|last| last.student != next.student) {
            sums.add(typed, settings, from, &own);
            own.clear();
        }
        own.push(next);
        Ok(())
    })?;
    sums.add(typed, settings, from, &own);
    let scale = i64::try_from(step).unwrap_or(1);
    let row = |action: Action| {
        let (entries, given, would) = sums.0[action.place()];
        EffectRow {
            icon: action_icon(action.name()),
            label: action.words(),
            entries: entries.saturating_mul(step),
            given: given.saturating_mul(scale),
            would: would.saturating_mul(scale),
        }
    };
    Ok(Effect { rows: Action::ALL.map(row).into(), same: present == typed, one_in: step })
}

/// Entries, points given and points that would have been given, by action.
#[derive(Default)]
struct Sums([(u64, i64, i64); Action::ALL.len()]);

impl Sums {
    /// Adds a student's postings, in the order of the ledger. Those before
    /// `from` only count for the streak.
    fn add(&mut self, rules: &Rules, settings: ProgramSettings, from: Day, own: &[Caused]) {
        let (mut streak, mut last) = (0, Day(0));
        let mut day = (Day(0), Given::default());
        // What each cause would have given, to take back the same amount.
        let mut would_have: HashMap<(usize, i64), i64> = HashMap::new();
        for Caused { posting, cause, promised, .. } in own {
            let Some(action) = posting.action else { continue };
            if action == Action::CheckIn {
                streak = if last.plus(1) == posting.day { streak + 1 } else { 1 };
                last = posting.day;
            }
            if posting.day < from {
                continue;
            }
            if day.0 != posting.day {
                day = (posting.day, Given::default());
            }
            let would = if sign(posting.reversals) < 0 {
                would_have.get(&(action.place(), *cause)).map_or(posting.xp, |given| -given)
            } else if *promised {
                posting.xp
            } else {
                let points = rules.points(action, (streak, settings.lap_days));
                rules.within_limits(action, points, day.1)
            };
            if sign(posting.reversals) > 0 {
                day.1.limited += if action.is_limited() { would } else { 0 };
                day.1.sales += if action == Action::Sale { would } else { 0 };
                would_have.insert((action.place(), *cause), would);
            }
            let sums = &mut self.0[action.place()];
            *sums = (sums.0 + 1, sums.1 + posting.xp, sums.2 + would);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Instant;
    use crate::fixture::ZONE;

    const SETTINGS: ProgramSettings = ProgramSettings { lap_days: 30, zone: ZONE };

    fn rules() -> Rules {
        Rules { xp: [10, 20, 50, 5, 100, 100, 150], multiplier: 100, ..Rules::default() }
    }

    fn entry(day: i64, action: Action, cause: i64, reversals: i64, xp: i64) -> Caused {
        let posting =
            Posting { day: Day(day), at: Instant(day), action: Some(action), reversals, xp };
        Caused { student: UserId(1), posting, cause, promised: false }
    }

    fn would(rules: &Rules, own: &[Caused]) -> Vec<(u64, i64, i64)> {
        let mut sums = Sums::default();
        sums.add(rules, SETTINGS, Day(100), own);
        sums.0.into()
    }

    #[test]
    fn the_rules_in_force_would_have_given_what_they_gave() {
        let own = [
            entry(99, Action::CheckIn, 99, 0, 10),
            entry(100, Action::CheckIn, 100, 0, 10),
            entry(100, Action::Sale, 7, 0, 5),
            entry(101, Action::Sale, 7, 1, -5),
        ];
        let sums = would(&rules(), &own);
        assert_eq!(sums[Action::CheckIn.place()], (1, 10, 10), "the day before is not counted");
        assert_eq!(sums[Action::Sale.place()], (2, 0, 0));
    }

    #[test]
    fn limits_streaks_and_promises_are_seen() {
        let rules = Rules { streak_multiplier: 3_000, sales_limit: 7, ..rules() };
        let mut own = vec![
            entry(99, Action::CheckIn, 99, 0, 10),
            entry(100, Action::CheckIn, 100, 0, 10),
            entry(100, Action::Sale, 1, 0, 5),
            entry(100, Action::Sale, 2, 0, 5),
            entry(101, Action::Sale, 2, 1, -5),
            entry(101, Action::Challenge, 1, 0, 777),
        ];
        own[5].promised = true;
        let sums = would(&rules, &own);
        assert_eq!(sums[Action::CheckIn.place()], (1, 10, 30), "two days of thirty");
        assert_eq!(sums[Action::Sale.place()], (3, 5, 5), "5, then the 2 that are left, and back");
        assert_eq!(sums[Action::Challenge.place()], (1, 777, 777));
    }
}
