//! Random histories: points, streaks and rankings always match the ledger.

use proptest::prelude::*;

use super::ledger::{self, Cause};
use super::ranking::{self, Ranking};
use super::rules::{LedgerTotals, Rules};
use super::*;
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{ReadTx, RowWindow};
use crate::fixture::{NOW, TestApp, ZONE, config};

const SETTINGS: ProgramSettings = ProgramSettings { lap_days: 3, zone: ZONE };
const STUDENTS: i64 = 4;

/// What may happen.
#[derive(Clone, Debug)]
enum Event {
    /// So many seconds pass.
    Wait(i64),
    CheckIn(i64),
    Lesson(i64, i64),
    /// A sale of so many days ago.
    Sale(i64, i64, i64),
    Cancel(i64, i64),
    Correct(i64, i64),
    Rules(i64, i64, i64, i64),
    Challenge(i64, i64),
    Suspend(i64, bool),
    /// The task resets the streaks that a missed day ended.
    Midnight,
}

fn event() -> impl Strategy<Value = Event> {
    let student = || 1..=STUDENTS;
    prop_oneof![
        4 => (0..2 * DAY_S).prop_map(Event::Wait),
        4 => student().prop_map(Event::CheckIn),
        2 => (student(), 1_i64..5).prop_map(|(student, lesson)| Event::Lesson(student, lesson)),
        3 => (student(), 1_i64..9, 0_i64..40).prop_map(|(student, order, ago)| Event::Sale(student, order, ago)),
        2 => (student(), 1_i64..9).prop_map(|(student, order)| Event::Cancel(student, order)),
        1 => (student(), -30_i64..30).prop_map(|(student, xp)| Event::Correct(student, xp)),
        1 => (0_i64..40, 0_i64..300, 0_i64..60, 0_i64..20).prop_map(|(xp, by, day, sales)| Event::Rules(xp, by, day, sales)),
        1 => (1_i64..5, 1_i64..4).prop_map(|(goal, action)| Event::Challenge(goal, action)),
        1 => (student(), any::<bool>()).prop_map(|(student, is_in)| Event::Suspend(student, is_in)),
        1 => Just(Event::Midnight),
    ]
}

fn happen(test: &TestApp, event: &Event) {
    let cause = |action, id, day| Cause { action, id, day };
    let event = event.clone();
    test.write(move |tx| {
        let today = ZONE.day(tx.now());
        match event {
            Event::Wait(_) => {}
            Event::CheckIn(student) => {
                checkin::check_in(tx, SETTINGS, UserId(student))?;
            }
            Event::Lesson(student, lesson) => {
                ledger::give(tx, SETTINGS, UserId(student), cause(Action::Lesson, lesson, today))?;
            }
            Event::Sale(student, order, ago) => {
                let cause = cause(Action::Sale, order, today.plus(-ago));
                ledger::give(tx, SETTINGS, UserId(student), cause)?;
            }
            Event::Cancel(student, order) => {
                let cause = cause(Action::Sale, order, today);
                ledger::take_back(tx, SETTINGS, UserId(student), cause)?;
            }
            Event::Correct(student, xp) => {
                ledger::correct(tx, SETTINGS, UserId(student), (xp, "motivo"))?;
            }
            Event::Rules(xp, multiplier, day_limit, sales_limit) => {
                let rules = Rules {
                    xp: [xp, xp, xp, xp / 2, xp, xp, xp],
                    multiplier,
                    streak_multiplier: multiplier / 2,
                    day_limit,
                    sales_limit,
                };
                rules.store(tx)?;
            }
            Event::Challenge(goal, action) => {
                let entry = ChallengeEntry {
                    title: "Desafio".to_owned(),
                    action: Action::from_number(action).unwrap(),
                    goal,
                    starts_on: today.plus(-3),
                    ends_on: today.plus(5),
                    ..ChallengeEntry::default()
                };
                challenges::insert(tx, &entry)?;
            }
            Event::Suspend(student, is_in) => {
                let at = (!is_in).then_some(NOW);
                tx.run("UPDATE user SET suspended_at = ?2 WHERE user_id = ?1", (student, at))?;
            }
            Event::Midnight => {
                tx.run(
                    "UPDATE program_student SET streak = 0 WHERE streak > 0 AND last_checkin < ?1",
                    [today.plus(-1)],
                )?;
            }
        }
        Ok(())
    });
}

/// Sums of the ledger, computed independently of the program's code.
fn sums(tx: &ReadTx<'_>, student: UserId) -> (i64, i64, i64) {
    let sql = "SELECT coalesce(sum(xp), 0), coalesce(sum(iif(action = 4, iif(turn % 2 = 0, 1, -1), 0)), 0),
                      coalesce(sum(action = 1), 0) FROM program_entry WHERE student_id = ?1";
    tx.tuple(sql, [student]).unwrap().unwrap()
}

fn check(test: &TestApp, today: Day) -> Result<(), TestCaseError> {
    let (all_totals, orders) = test.read(|tx| {
        let mut all_totals = Vec::new();
        for student in (1..=STUDENTS).map(UserId) {
            if let Some(totals) = store::ledger_totals(tx, student)? {
                all_totals.push((student, totals, sums(tx, student)));
            }
        }
        let mut orders = Vec::new();
        for kind in Ranking::ALL {
            let total = ranking::total(tx, kind, today)?;
            let mut rows = Vec::new();
            // Pages from both ends of the order.
            for offset in 0..u32::try_from(total).unwrap() {
                rows.extend(ranking::page(
                    tx,
                    (kind, today),
                    total,
                    RowWindow { limit: 1, offset },
                )?);
            }
            for (place, row) in (1..).zip(&rows) {
                let totals = store::ledger_totals(tx, row.student)?.unwrap();
                let own = ranking::place(tx, (kind, today), row.student, &totals)?;
                assert_eq!(own, Some((place, row.value)), "{kind:?}");
            }
            orders.push((kind, rows));
        }
        Ok((all_totals, orders))
    });
    for (student, totals, (xp, sales, checkins)) in &all_totals {
        prop_assert_eq!(totals.xp, *xp, "{:?}", student);
        prop_assert_eq!((totals.sales, totals.checkins), (*sales, *checkins));
    }
    for (kind, rows) in orders {
        let key = |student: UserId| {
            let (_, totals, _) = all_totals.iter().find(|(known, ..)| *known == student).unwrap();
            (-number(kind, totals, today).0, number(kind, totals, today).1, student)
        };
        let keys: Vec<_> = rows.iter().map(|row| key(row.student)).collect();
        prop_assert!(keys.is_sorted(), "{:?} {:?}", kind, keys);
    }
    Ok(())
}

fn number(kind: Ranking, totals: &LedgerTotals, today: Day) -> (i64, Instant) {
    match kind {
        Ranking::Overall => (totals.xp, totals.xp_at),
        Ranking::Month => (totals.xp_of_month(today), totals.month_at),
        Ranking::Week => (totals.xp_of_week(today), totals.week_at),
        Ranking::Streak => (totals.streak_on(today), totals.checked_at),
        Ranking::Sales => (totals.sales, totals.sales_at),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_students_have_is_always_what_the_ledger_gives(
        events in prop::collection::vec(event(), 1..60)
    ) {
        let test = TestApp::new(config(&[]));
        test.write(|tx| {
            for student in 1..=STUDENTS {
                tx.run(
                    "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, 'a' || ?1, 'Ana ' || ?1, 'pro', 0)",
                    [student],
                )?;
            }
            Ok(())
        });
        let mut now = NOW;
        for event in &events {
            if let Event::Wait(seconds) = event {
                now = now.plus(*seconds);
                test.dir.now_is(now);
            }
            happen(&test, event);
            check(&test, ZONE.day(now))?;
        }
        let all = "SELECT json_array(student_id, entries, xp, xp_at, month, month_xp, month_at, week, week_xp, week_at,
                       checkins, last_checkin, checked_at, streak, best_streak, sales, sales_at) FROM program_student";
        let dump = || test.ask(all, |row| row.get::<_, String>(0));
        let before = dump();
        test.write(recounting::begin);
        while recount::step(&test.app).unwrap() {}
        prop_assert_eq!(test.read(recounting::last).unwrap().mended, 0);
        prop_assert_eq!(dump(), before.clone());
        // Damaged sums are corrected.
        test.write(|tx| tx.run("UPDATE program_student SET xp = xp + 7, week_at = 5, best_streak = 900", ()));
        test.write(recounting::begin);
        while recount::step(&test.app).unwrap() {}
        prop_assert_eq!(dump(), before);
    }
}
