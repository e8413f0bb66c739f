//! Milestones, and which of them a number of points reaches. Levels are not
//! stored with students, so that a changed milestone applies to everybody at
//! once.

use super::Milestone;
use crate::db::{ReadTx, Result, WriteTx};

/// All milestones, M1 first.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<Milestone>> {
    tx.records("FROM milestone ORDER BY number", ())
}

pub fn one(tx: &ReadTx<'_>, number: i64) -> Result<Option<Milestone>> {
    tx.record("FROM milestone WHERE number = ?1", [number])
}

/// The milestones that are reached when points rise from `before` to `after`.
pub fn between(tx: &ReadTx<'_>, before: i64, after: i64) -> Result<Vec<Milestone>> {
    tx.records("FROM milestone WHERE xp > ?1 AND xp <= ?2 ORDER BY xp", (before, after))
}

/// How many ranked students have at least `xp` points.
pub fn reached(tx: &ReadTx<'_>, xp: i64) -> Result<u64> {
    tx.count("SELECT count(*) FROM program_student WHERE ranked = 1 AND xp >= ?1", [xp])
}

/// Changes a milestone.
pub fn put(tx: &WriteTx<'_>, milestone: &Milestone) -> Result<()> {
    tx.change("milestone", milestone, &[], &[("number", &milestone.number)]).map(drop)
}

/// The level of `xp` points, counted in the database.
pub fn level_of(tx: &ReadTx<'_>, xp: i64) -> Result<u64> {
    tx.count("SELECT count(*) FROM milestone WHERE xp <= ?1", [xp])
}

/// The level of `xp` points: the number of milestones that they reach.
pub fn level(all: &[Milestone], xp: i64) -> usize {
    all.partition_point(|milestone| milestone.xp <= xp)
}

/// The same as the number of the last one.
pub fn level_number(all: &[Milestone], xp: i64) -> i64 {
    level(all, xp).checked_sub(1).map_or(0, |place| all[place].number)
}

/// The badge of a level; `None` before the first milestone.
pub fn badge(all: &[Milestone], level: usize) -> Option<&str> {
    let reached = level.checked_sub(1).and_then(|place| all.get(place));
    reached.map(|milestone| &*milestone.badge)
}

/// The bounds of a milestone's points: it needs more than the first and less
/// than the second, so that points increase with the number.
pub fn bounds(all: &[Milestone], number: i64) -> (i64, Option<i64>) {
    let xp_of = |number: i64| all.iter().find(|one| one.number == number).map(|one| one.xp);
    (xp_of(number - 1).unwrap_or(-1), xp_of(number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<Milestone> {
        let milestone = |number, xp| Milestone { number, xp, ..Milestone::default() };
        vec![milestone(1, 50), milestone(2, 150), milestone(3, 300)]
    }

    #[test]
    fn a_level_is_the_number_of_milestones_reached() {
        let levels: Vec<usize> = [-5, 0, 49, 50, 149, 150, 300, 9_999]
            .into_iter()
            .map(|xp| level(&three(), xp))
            .collect();
        assert_eq!(levels, [0, 0, 0, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn a_milestone_stands_between_its_neighbours() {
        assert_eq!(bounds(&three(), 1), (-1, Some(150)));
        assert_eq!(bounds(&three(), 2), (50, Some(300)));
        assert_eq!(bounds(&three(), 3), (150, None));
    }
}
