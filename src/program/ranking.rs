//! The rankings: five orders of the same students. Each has an index in this
//! order. A page is read along the index, from the nearer end. A student's
//! place is found by counting the rows before it.

use super::rules::LedgerTotals;
use crate::base::{Day, Instant, UserId};
use crate::db::{ReadTx, Result, RowWindow};

crate::named! {
    /// What students are ranked by.
    pub enum Ranking: text {
        Overall = "geral", "Geral";
        Month = "mensal", "Mês";
        Week = "semanal", "Semana";
        Streak = "streak", "Sequência";
        Sales = "vendas", "Vendas";
    }
}

/// A ranking in SQL: the column that ranks, the column that says since when a
/// student has this value, and the condition for students who are in the
/// ranking; `?1` is from [`Ranking::span`].
struct Order {
    value: &'static str,
    since: &'static str,
    who: &'static str,
}

impl Ranking {
    const fn order(self) -> Order {
        let (value, since, who) = match self {
            Self::Overall => ("xp", "xp_at", "ranked = 1 AND ?1 = ?1"),
            Self::Month => ("month_xp", "month_at", "ranked = 1 AND month_xp > 0 AND month = ?1"),
            Self::Week => ("week_xp", "week_at", "ranked = 1 AND week_xp > 0 AND week = ?1"),
            // Who missed yesterday has no streak, even if the row still says
            // so.
            Self::Streak => {
                ("streak", "checked_at", "ranked = 1 AND streak > 0 AND last_checkin >= ?1")
            }
            Self::Sales => ("sales", "sales_at", "ranked = 1 AND sales > 0 AND ?1 = ?1"),
        };
        Order { value, since, who }
    }

    /// Whether the number that ranks is points.
    pub const fn is_in_points(self) -> bool {
        matches!(self, Self::Overall | Self::Month | Self::Week)
    }

    /// The day with which the condition of the ranking is compared today.
    fn span(self, today: Day) -> Day {
        match self {
            Self::Month => today.month_start(),
            Self::Week => today.week_start(),
            Self::Streak => today.plus(-1),
            Self::Overall | Self::Sales => today,
        }
    }

    /// The value that ranks a student, and since when the student has it;
    /// `None` without a place in the ranking.
    fn value_of(self, totals: &LedgerTotals, today: Day) -> Option<(i64, Instant)> {
        let (value, since) = match self {
            Self::Overall => return Some((totals.xp, totals.xp_at)),
            Self::Month => (totals.xp_of_month(today), totals.month_at),
            Self::Week => (totals.xp_of_week(today), totals.week_at),
            Self::Streak => (totals.streak_on(today), totals.checked_at),
            Self::Sales => (totals.sales, totals.sales_at),
        };
        (value > 0).then_some((value, since))
    }
}

/// A student in a ranking.
#[derive(Clone, Debug)]
pub struct Ranked {
    pub student: UserId,
    /// Full name.
    pub name: String,
    /// Points in all.
    pub xp: i64,
    /// The number that ranks.
    pub value: i64,
}

/// How many students a ranking has.
pub fn total(tx: &ReadTx<'_>, ranking: Ranking, today: Day) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM program_student WHERE {}", ranking.order().who);
    tx.count(&sql, [ranking.span(today)])
}

/// One page of a ranking of `total` students: `limit` rows after the first
/// `offset`.
pub fn page(
    tx: &ReadTx<'_>,
    (ranking, today): (Ranking, Day),
    total: u64,
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<Ranked>> {
    let Order { value, since, who } = ranking.order();
    let end = (u64::from(offset) + u64::from(limit)).min(total);
    let shown = end.saturating_sub(offset.into());
    let from_end = u64::from(offset) > total / 2;
    let (down, up) = if from_end { ("ASC", "DESC") } else { ("DESC", "ASC") };
    let before = if from_end { total - end } else { offset.into() };
    let order =
        |table: &str| format!("{table}{value} {down}, {table}{since} {up}, {table}student_id {up}");
    let sql = format!(
        "SELECT {columns} FROM (
             SELECT student_id FROM program_student WHERE {who} ORDER BY {inner} LIMIT ?2 OFFSET ?3) AS place
         JOIN program_student p ON p.student_id = place.student_id
         JOIN user u ON u.user_id = place.student_id
         ORDER BY {outer}",
        columns = format_args!("p.student_id, u.name, p.xp, p.{value}"),
        inner = order(""),
        outer = order("p."),
    );
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut rows: Vec<Ranked> = tx
        .tuples(&sql, (ranking.span(today), number(shown), number(before)))?
        .into_iter()
        .map(|(student, name, xp, value)| Ranked { student, name, xp, value })
        .collect();
    if from_end {
        rows.reverse();
    }
    Ok(rows)
}

/// A student's own place: the position from 1 on, and the number that ranks.
/// `None` without a place, for example when the student is suspended.
pub fn place(
    tx: &ReadTx<'_>,
    (ranking, today): (Ranking, Day),
    student: UserId,
    totals: &LedgerTotals,
) -> Result<Option<(u64, i64)>> {
    let ranked =
        tx.maybe::<bool>("SELECT ranked FROM program_student WHERE student_id = ?1", [student])?;
    let own = ranking.value_of(totals, today).filter(|_| ranked == Some(true));
    let Some((own, own_since)) = own else { return Ok(None) };
    let Order { value, since, who } = ranking.order();
    let sql = format!(
        "SELECT (SELECT count(*) FROM program_student WHERE {who} AND {value} > ?2)
              + (SELECT count(*) FROM program_student
                 WHERE {who} AND {value} = ?2 AND ({since}, student_id) < (?3, ?4))"
    );
    let before = tx.count(&sql, (ranking.span(today), own, own_since, student))?;
    Ok(Some((before + 1, own)))
}

/// A student's name as other students see it: the first name and the initial of
/// the last one.
pub fn short_name(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().unwrap_or_default();
    match words.next_back().and_then(|last| last.chars().next()) {
        Some(initial) => format!("{first} {}.", initial.to_uppercase()),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_called_by_first_name_and_initial() {
        for (name, short) in [
            ("Ana Souza", "Ana S."),
            ("  Maria  das Dores de  Órion ", "Maria Ó."),
            ("Zé", "Zé"),
            ("", ""),
        ] {
            assert_eq!(short_name(name), short);
        }
    }
}
