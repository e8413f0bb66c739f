//! Totals and entries in the database.

use super::Action;
use super::ledger::{CORRECTION, Cause};
use super::rules::{Given, LedgerTotals, Posting, Rules, sign};
use crate::accounts::person::{Group, PersonStatus};
use crate::base::{Day, Instant, UserId, Zone};
use crate::db::{ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::row;

/// A student's sums; `None` for a person who is not in the program.
pub fn ledger_totals(tx: &ReadTx<'_>, student: UserId) -> Result<Option<LedgerTotals>> {
    tx.record("FROM program_student WHERE student_id = ?1", [student])
}

/// The part of a student's sums that a dashboard shows. Only the columns of
/// check-ins are read, because a dashboard is cached until one of these columns
/// changes (`invalidation.rs`).
pub fn check_ins(tx: &ReadTx<'_>, student: UserId) -> Result<Option<LedgerTotals>> {
    let found = tx.tuple(
        "SELECT checkins, last_checkin, streak FROM program_student WHERE student_id = ?1",
        [student],
    )?;
    Ok(found.map(|(checkins, last_checkin, streak)| LedgerTotals {
        checkins,
        last_checkin,
        streak,
        ..LedgerTotals::default()
    }))
}

/// Adds a student to the program, without points; false for a person who is not
/// a student.
pub fn enrol(tx: &WriteTx<'_>, student: UserId) -> Result<bool> {
    let rows = tx.execute(
        "INSERT INTO program_student
             (student_id, joined_at, ranked, entries, xp, xp_at, month, month_xp, month_at, week, week_xp, week_at,
              checkins, checked_at, streak, best_streak, sales, sales_at)
         SELECT user_id, ?2, standing <> ?3, 0, 0, ?2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
         FROM user WHERE user_id = ?1 AND kind = ?4",
        (student, tx.now(), PersonStatus::Suspended, Group::Students),
    )?;
    Ok(rows > 0)
}

/// Stores the sums of a student in the program.
pub fn put(tx: &WriteTx<'_>, student: UserId, totals: &LedgerTotals) -> Result<()> {
    tx.change("program_student", totals, &[], &[("student_id", &student)]).map(drop)
}

/// What a student did before joining the program: lessons and linked accounts,
/// each on its day. The tables are read here, because their rooms depend on
/// this one.
pub fn done_before(tx: &ReadTx<'_>, zone: Zone, student: UserId) -> Result<Vec<Cause>> {
    let rows: Vec<(Action, i64, Instant)> = tx.tuples(
        "SELECT 2, lesson_id, done_at FROM lesson_done WHERE user_id = ?1
         UNION ALL
         SELECT 5, ml_user_id, linked_at FROM ml_account WHERE owner_id = ?1",
        [student],
    )?;
    let cause = |(action, id, at)| Cause { action, id, day: zone.day(at) };
    Ok(rows.into_iter().map(cause).collect())
}

/// How often the points of a cause were taken back or given again; `None` when
/// it never gave anything.
pub fn reversal_count(tx: &ReadTx<'_>, student: UserId, cause: Cause) -> Result<Option<i64>> {
    tx.value(
        "SELECT max(turn) FROM program_entry
         WHERE student_id = ?1 AND action = ?2 AND cause = ?3 AND action > 1",
        (student, cause.action, cause.id),
    )
}

/// The points of the entry of a cause after so many reversals.
pub fn points_of(tx: &ReadTx<'_>, student: UserId, cause: Cause, reversals: i64) -> Result<i64> {
    tx.value(
        "SELECT xp FROM program_entry
         WHERE student_id = ?1 AND action = ?2 AND cause = ?3 AND turn = ?4 AND action > 1",
        (student, cause.action, cause.id, reversals),
    )
}

/// The number of a student's next correction.
pub fn next_correction(tx: &ReadTx<'_>, student: UserId) -> Result<i64> {
    tx.value(
        "SELECT coalesce(max(cause), 0) + 1 FROM program_entry
         WHERE student_id = ?1 AND action = ?2 AND action > 1",
        (student, CORRECTION),
    )
}

/// Points that a student got on a civil day, where those of an action depend on
/// it. Points that were taken back still count for the limits.
pub fn given_for(
    tx: &ReadTx<'_>,
    rules: &Rules,
    student: UserId,
    action: Action,
    day: Day,
) -> Result<Given> {
    let mut given = Given::default();
    if !rules.looks_at_day(action) {
        return Ok(given);
    }
    tx.each(
        "SELECT action, turn, xp FROM program_entry WHERE student_id = ?1 AND day = ?2",
        (student, day),
        |row| {
            let (action, reversals, xp) = (row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?);
            if let Some(action) = Action::from_number(action).filter(|_| sign(reversals) == 1) {
                given.limited += if action.is_limited() { xp } else { 0 };
                given.sales += if action == Action::Sale { xp } else { 0 };
            }
            Ok(())
        },
    )?;
    Ok(given)
}

/// Writes an entry of the ledger, and adds it to the sums of its day.
pub fn post(
    tx: &WriteTx<'_>,
    student: UserId,
    posting: &Posting,
    cause: i64,
    note: Option<&str>,
) -> Result<()> {
    let Posting { day, at, action, reversals, xp } = *posting;
    let number = action.map_or(CORRECTION, Action::number);
    tx.run(
        "INSERT INTO program_entry (student_id, day, at, action, cause, turn, xp, note)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (student, day, at, number, cause, reversals, xp, note),
    )?;
    count(tx, day, i64::from(number), sign(reversals), xp)
}

/// The number, in place of an action's, that counts streaks that ended.
pub const ENDED_STREAKS: i64 = 0;

/// Adds to the sums of an action on a civil day; [`ENDED_STREAKS`] counts
/// streaks that ended.
pub fn count(tx: &WriteTx<'_>, day: Day, action: i64, entries: i64, xp: i64) -> Result<()> {
    tx.run(
        "INSERT INTO program_day (day, action, entries, xp) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET entries = entries + ?3, xp = xp + ?4",
        (day, action, entries, xp),
    )
}

row! {
    /// An entry of the ledger as people read it.
    #[derive(Clone, Debug)]
    pub struct LedgerEntry {
        pub day: Day,
        pub at: Instant,
        /// [`CORRECTION`], or the number of an [`Action`].
        pub action: i64,
        pub cause: i64,
        pub reversals: i64 = "turn",
        pub xp: i64,
        pub note: Option<String>,
        /// The title of the lesson or meet, or the nickname of the account, while
        /// that exists.
        pub about: Option<String> = "CASE action
        WHEN 2 THEN (SELECT title FROM lesson WHERE lesson_id = cause)
        WHEN 3 THEN (SELECT title FROM meet WHERE meet_id = cause)
        WHEN 5 THEN (SELECT nickname FROM ml_account WHERE ml_user_id = cause AND owner_id = student_id) END",
    }
}

/// One page of a student's ledger, newest first: `limit` rows after the first
/// `offset`.
pub fn history(
    tx: &ReadTx<'_>,
    student: UserId,
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<LedgerEntry>> {
    let sql = format!(
        "SELECT {} FROM (
             SELECT * FROM program_entry WHERE student_id = ?1
             ORDER BY day DESC, at DESC, action DESC, cause DESC, turn DESC LIMIT ?2 OFFSET ?3)
         ORDER BY day DESC, at DESC, action DESC, cause DESC, turn DESC",
        LedgerEntry::COLUMNS
    );
    tx.all(&sql, (student, limit, offset), LedgerEntry::read)
}

/// How many students there are, and how many of them are in the program.
pub fn enrolled(tx: &ReadTx<'_>) -> Result<(u64, u64)> {
    let students = tx.count(
        "SELECT coalesce(sum(people), 0) FROM person_count WHERE kind = ?1",
        [Group::Students],
    )?;
    let enrolled = tx.count(
        "SELECT count(*) FROM program_student p JOIN user u ON u.user_id = p.student_id WHERE u.kind = ?1",
        [Group::Students],
    )?;
    Ok((students, enrolled))
}

/// The next students with ids above `after` who are not in the program.
pub fn not_enrolled(tx: &ReadTx<'_>, after: UserId, limit: usize) -> Result<Vec<UserId>> {
    tx.values(
        "SELECT u.user_id FROM user u
         WHERE u.user_id > ?1 AND +u.kind = ?3
             AND NOT EXISTS (SELECT 1 FROM program_student p WHERE p.student_id = u.user_id)
         ORDER BY u.user_id LIMIT ?2",
        (after, i64::try_from(limit).unwrap_or(i64::MAX), Group::Students),
    )
}

/// The longest streak of check-ins before a day.
pub fn longest_streak_before(tx: &ReadTx<'_>, student: UserId, day: Day) -> Result<i64> {
    let (mut longest, mut present, mut last) = (0, 0, Day(0));
    tx.each(
        "SELECT cause FROM program_entry
         WHERE student_id = ?1 AND day < ?2 AND action = ?3 ORDER BY day",
        (student, day, Action::CheckIn),
        |row| {
            let day: Day = row.get(0)?;
            present = if last.plus(1) == day { present + 1 } else { 1 };
            (longest, last) = (longest.max(present), day);
            Ok(())
        },
    )?;
    Ok(longest)
}

/// The next students with ids above `after`, each with whether a check-in of `today` is
/// still to come.
pub fn who_lacks_today(
    tx: &ReadTx<'_>,
    after: UserId,
    today: Day,
    limit: u32,
) -> Result<Vec<(UserId, bool)>> {
    next_students(tx, "ranked = 1 AND coalesce(last_checkin, 0) < ?2", after, today, limit)
}

/// The same, each with whether a streak was broken by missing `day`.
pub fn who_missed(
    tx: &ReadTx<'_>,
    after: UserId,
    day: Day,
    limit: u32,
) -> Result<Vec<(UserId, bool)>> {
    next_students(tx, "streak > 0 AND last_checkin < ?2", after, day, limit)
}

/// The next students, each with whether a condition on a day holds.
fn next_students(
    tx: &ReadTx<'_>,
    condition: &str,
    after: UserId,
    day: Day,
    limit: u32,
) -> Result<Vec<(UserId, bool)>> {
    let sql = format!(
        "SELECT student_id, {condition} FROM program_student
         WHERE student_id > ?1 ORDER BY student_id LIMIT ?3"
    );
    tx.tuples(&sql, (after, day, limit))
}

/// Ends the streak of a student who missed `day`; false when there is none to end.
pub fn end_streak(tx: &WriteTx<'_>, student: UserId, day: Day) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE program_student SET streak = 0
         WHERE student_id = ?1 AND streak > 0 AND last_checkin < ?2",
        (student, day),
    )?;
    if ended > 0 {
        count(tx, day, ENDED_STREAKS, 1, 0)?;
    }
    Ok(ended > 0)
}

row! {
    /// Entries and points of an action on a civil day.
    #[derive(Clone, Copy, Debug)]
    pub struct DaySum {
        pub day: Day,
        pub action: i64,
        pub entries: i64,
        pub xp: i64,
    }
}

/// The sums from `from` to `to`, both included, for the days and actions that
/// have any.
pub fn days(tx: &ReadTx<'_>, from: Day, to: Day) -> Result<Vec<DaySum>> {
    tx.records("FROM program_day WHERE day BETWEEN ?1 AND ?2 ORDER BY day, action", (from, to))
}

row! {
    /// A student at risk of leaving.
    #[derive(Clone, Debug)]
    pub struct Leaving {
        pub student: UserId = "p.student_id",
        pub name: String = "u.name",
        pub last_checkin: Day = "p.last_checkin",
        pub best_streak: i64 = "p.best_streak",
        pub xp: i64 = "p.xp",
    }
}

/// Students whose last check-in was on one of these days after a streak of a
/// week or more, the longest streaks first; and how many there are.
pub fn leaving(tx: &ReadTx<'_>, from: Day, to: Day, limit: u32) -> Result<(Vec<Leaving>, u64)> {
    const WHO: &str =
        "ranked = 1 AND streak = 0 AND best_streak >= 7 AND last_checkin BETWEEN ?1 AND ?2";
    let count = format!("SELECT count(*) FROM program_student WHERE {WHO}");
    let rest = format!(
        "FROM (SELECT * FROM program_student WHERE {WHO}
               ORDER BY best_streak DESC, last_checkin DESC, student_id LIMIT ?3) p
         JOIN user u ON u.user_id = p.student_id
         ORDER BY p.best_streak DESC, p.last_checkin DESC, p.student_id"
    );
    Ok((tx.records(&rest, (from, to, limit))?, tx.count(&count, (from, to))?))
}
