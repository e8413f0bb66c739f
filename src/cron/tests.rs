//! The rules over generated instants, and the tasks on a database of their own.

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::civil::Time;
use proptest::prelude::*;

use super::rules::{Every, Moment, away_since_before, full_days_away, leaves_at, old_before};
use super::*;
use crate::base::{DAY_S, UserId, Zone};
use crate::fixture::{NOW, TestApp, ZONE, config};
use crate::outbox;

const ZONES: [&str; 4] =
    ["America/Sao_Paulo", "America/Noronha", "America/Manaus", "America/Santiago"];

/// Instants from 1985 to 2037, with every change of Brazil's clocks among them.
fn instant() -> impl Strategy<Value = Instant> {
    (473_385_600_i64..2_145_916_800).prop_map(Instant)
}

fn zone() -> impl Strategy<Value = Zone> {
    proptest::sample::select(ZONES.map(|name| Zone::named(name).unwrap()).to_vec())
}

fn time(text: &str) -> Time {
    Time::strptime("%H:%M", text).unwrap()
}

proptest! {
    #[test]
    fn a_meet_has_two_moments_and_no_others(start in instant(), ahead in -90_000_i64..90_000) {
        let now = start.minus(ahead);
        let day = Moment::DayBefore.is_now(start, now);
        let minutes = Moment::MinutesBefore.is_now(start, now);
        prop_assert_eq!(day, ahead > 23 * 3600 && ahead <= 24 * 3600);
        prop_assert_eq!(minutes, ahead > 0 && ahead <= 300);
    }

    #[test]
    fn somebody_is_away_from_the_midnight_after_the_full_days(
        zone in zone(), active in instant(), since in 0_i64..20 * DAY_S, days in 1_u32..10,
    ) {
        let now = active.plus(since);
        let away = active < away_since_before(zone, now, days);
        prop_assert_eq!(away, full_days_away(zone, active, now) >= i64::from(days));
        // Once inactive, a student stays inactive until there is activity.
        prop_assert!(!away || active < away_since_before(zone, now.plus(1), days));
        // Inactivity begins at midnight in the zone.
        let midnight = zone.start_of(zone.day(now));
        prop_assert_eq!(away, active < away_since_before(zone, midnight, days));
    }

    #[test]
    fn nothing_leaves_in_quiet_hours_nor_waits_longer_than_they_last(
        zone in zone(), now in instant(), user in 1_i64..1_000_000,
        from in 0_u32..96, until in 0_u32..96,
    ) {
        let quarter = |quarters: u32| Time::midnight() + SignedDuration::from_mins(i64::from(quarters) * 15);
        let (from, until) = (quarter(from), quarter(until));
        let quiet = |at: Instant| {
            let time = zone.civil(at).time();
            if until < from { time >= from || time < until } else { from <= time && time < until }
        };
        let leaves = leaves_at(zone, now, (from, until), UserId(user));
        prop_assert!(leaves >= now);
        if quiet(now) {
            // A clock change in the night may add an hour. When an hour occurs
            // twice, the quiet hours end in its first occurrence.
            prop_assert!(leaves.since(now) <= DAY_S + 3600 + 300);
        } else {
            prop_assert_eq!(leaves, now);
        }
    }

    #[test]
    fn old_entries_are_whole_days(zone in zone(), now in instant(), age in 0_i64..100 * DAY_S) {
        let at = now.minus(age);
        let old = at < old_before(zone, now, 90);
        prop_assert_eq!(old, zone.day(now).0 - zone.day(at).0 > 90);
    }

    #[test]
    fn a_daily_task_is_due_when_the_civil_day_is_another(
        zone in zone(), last in instant(), since in -3 * DAY_S..3 * DAY_S,
    ) {
        let now = last.plus(since);
        prop_assert_eq!(Every::Day.is_due(zone, Some(last), now), zone.day(last) != zone.day(now));
        prop_assert!(Every::Day.is_due(zone, None, now) && Every::Run.is_due(zone, Some(now), now));
    }
}

#[test]
fn quiet_hours_at_their_edges() {
    let night = (time("21:00"), time("08:00"));
    let leaves = |now: &str, quiet| {
        let now = ZONE.read(now).unwrap();
        let leaves = leaves_at(ZONE, now, quiet, UserId(300 * 7 + 61));
        ZONE.spaced(leaves)
    };
    for (now, expected) in [
        ("2026-11-20 20:59:59", "2026-11-20 20:59:59"),
        ("2026-11-20 21:00:00", "2026-11-21 08:01:01"),
        ("2026-11-30 23:59:59", "2026-12-01 08:01:01"),
        ("2026-12-01 00:00:00", "2026-12-01 08:01:01"),
        ("2026-12-01 07:59:59", "2026-12-01 08:01:01"),
        ("2026-12-01 08:00:00", "2026-12-01 08:00:00"),
        ("2028-02-29 22:00:00", "2028-03-01 08:01:01"),
    ] {
        assert_eq!(leaves(now, night), expected, "{now}");
    }
    let noon = (time("12:00"), time("14:00"));
    assert_eq!(leaves("2026-12-01 12:00:00", noon), "2026-12-01 14:01:01");
    assert_eq!(leaves("2026-12-01 14:00:00", noon), "2026-12-01 14:00:00");
    // Equal ends: never quiet.
    let never = (time("08:00"), time("08:00"));
    assert_eq!(leaves("2026-12-01 08:00:00", never), "2026-12-01 08:00:00");
    // The night of 2018-11-04 lost its first hour.
    let short = (time("22:00"), time("00:30"));
    assert_eq!(leaves("2018-11-03 23:00:00", short), "2018-11-04 01:01:01");
}

fn test_app() -> TestApp {
    TestApp::new(config(&[]))
}

impl TestApp {
    fn execute(&self, sql: &'static str) {
        self.write(move |tx| tx.execute(sql, []));
    }

    fn number(&self, sql: &str) -> i64 {
        self.read(|tx| tx.value(sql, []))
    }
}

/// Tasks that fail in every way, and one that works.
static BROKEN: [Task; 3] = [
    Task {
        name: "panico",
        title: "Pânico",
        every: Every::Run,
        work: |_, _, report| {
            report.inativos += 2;
            panic!("on purpose")
        },
    },
    Task {
        name: "erro",
        title: "Erro",
        every: Every::Run,
        work: |_, _, _| Err("it did not work".into()),
    },
    Task {
        name: "boa",
        title: "Boa",
        every: Every::Run,
        work: |_, _, report| {
            report.chat_enviados += 3;
            report.chat_erros += 2;
            report.chat_ignorados += 1;
            Ok(())
        },
    },
];

#[test]
fn what_happens_in_a_task_stays_in_it() {
    let test = test_app();
    let mut report = Report::default();
    let errors: Vec<Option<String>> = BROKEN
        .iter()
        .map(|task| run_one(&test.app, task, &TaskContext::new(NOW, None), &mut report).error)
        .collect();
    assert_eq!(
        errors,
        [Some("it panicked: on purpose".to_owned()), Some("it did not work".to_owned()), None]
    );
    // Work done before a failure is counted.
    let effects = serde_json::Value::Object(report.effects());
    let expected = serde_json::json!({
        "inativos": 2, "chat_enviados": 3, "chat_erros": 2, "chat_ignorados": 1,
    });
    assert_eq!(effects, expected);
}

#[test]
fn every_count_of_the_answer_has_words() {
    let mut report = Report::default();
    report.add_archived(1);
    let wire = serde_json::to_value(&report).unwrap();
    let mut names = vec!["suspensos".to_owned()];
    for (name, value) in wire.as_object().unwrap() {
        match value.as_object() {
            Some(parts) => names.extend(parts.keys().map(|part| format!("{name}.{part}"))),
            None => names.push(name.clone()),
        }
    }
    let counts = names.iter().map(|name| (name.clone(), 1.into())).collect();
    assert_eq!(report::in_words(&counts).len(), names.len());
}

#[test]
fn names_of_tasks_are_theirs_alone() {
    let mut names: Vec<&str> = TASKS.iter().map(|task| task.name).collect();
    names.push("historico");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TASKS.len() + 1);
}

#[test]
fn a_task_that_was_stopped_goes_on_where_it_was() {
    let test = test_app();
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
         INSERT INTO user (email, name, role, created_at, chat_number)
         SELECT 'p' || i, 'P', 'free', 1790000000, '5511987654321' FROM n",
    );
    let stop = Stop::default();
    stop.stop();
    let mut report = Report::default();
    // Stopped before its first piece: nothing is done, and nothing is lost.
    inactivity::alert(&test.app, &TaskContext::new(NOW, Some(&stop)), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM outbox"), 0);
    // As if it had ended after the first piece.
    test.execute(
        "INSERT INTO cron_mark (name, position, done, expires_at)
         VALUES ('inativos:20777', 500, 0, 1800000000)",
    );
    inactivity::alert(&test.app, &TaskContext::new(NOW, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM outbox"), 800);
    assert_eq!(test.number("SELECT done FROM cron_mark"), 1);
    // The next day only the people of the first piece are found.
    let tomorrow = NOW.plus(DAY_S);
    test.dir.now_is(tomorrow);
    inactivity::alert(&test.app, &TaskContext::new(tomorrow, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM outbox"), 1300);
    assert_eq!(test.number("SELECT count(DISTINCT user_id) FROM outbox"), 1300);
    // Marks of days that are over are deleted.
    let later = NOW.plus(10 * DAY_S);
    test.dir.now_is(later);
    inactivity::alert(&test.app, &TaskContext::new(later, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM outbox"), 1300);
    assert!(test.number("SELECT count(*) FROM cron_mark") <= 2);
}

#[test]
fn a_large_day_is_packed_in_parts_and_each_entry_is_in_one_place() {
    let test = test_app();
    // Five thousand runs in the last hours of a day and the first of the next.
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO cron_run (started_at, ended_at, ms, origin, outcome, counts, errors)
         SELECT 1780000000 + i, 1780000000 + i, i, 'relogio', 0, '{}', '[]' FROM n",
    );
    test.execute("UPDATE cron_run SET started_at = started_at + 86400 WHERE run_id > 4500");
    let mut report = Report::default();
    packing::pack(&test.app, &TaskContext::new(NOW, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM cron_run"), 0);
    assert_eq!(test.number("SELECT sum(runs) FROM cron_run_count"), 0);
    assert_eq!(test.number("SELECT sum(entries) FROM log_batch"), 5000);
    assert_eq!(test.number("SELECT max(part) FROM log_batch"), 18);
    let mut ids = Vec::new();
    for batch in 1..=test.number("SELECT max(batch_id) FROM log_batch") {
        let found = test.app.db.read(Lane::Slow, |tx| archive::batch(tx, batch));
        let (_, lines) = found.unwrap().unwrap();
        for line in lines.unwrap().lines() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(entry["run_id"], entry["ms"], "all of the entry is there");
            ids.push(entry["run_id"].as_i64().unwrap());
        }
    }
    assert!(ids.iter().copied().eq(1..=5000), "exactly, and in order");
}

#[test]
fn entries_that_change_while_they_are_packed_stay_where_they_are() {
    let test = test_app();
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
         INSERT INTO cron_run (started_at, ended_at, ms, origin, outcome, counts, errors)
         SELECT 1780000000 + i, 1780000000 + i, i, 'relogio', 0, '{}', '[]' FROM n",
    );
    let log = &archive::LOGS[0];
    let piece = test.app.db.read(Lane::Slow, |tx| archive::oldest(tx, log, NOW, ZONE));
    let batch = archive::Batch::of(log, piece.unwrap().unwrap()).unwrap();
    test.execute("DELETE FROM cron_run WHERE run_id = 5");
    let stored = test.app.db.write(move |tx| batch.store(tx));
    let told = stored.unwrap_err().to_string();
    assert!(told.contains("changed while they were packed"), "{told}");
    assert_eq!(test.number("SELECT count(*) FROM cron_run"), 9);
    assert_eq!(test.number("SELECT count(*) FROM log_batch"), 0);
}

#[test]
fn a_run_waits_for_the_one_before_it_and_only_so_many_wait() {
    let test = test_app();
    let before = test.app.work.cron_turns.take(1).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let app = Arc::clone(&test.app);
    let waiting = std::thread::spawn(move || {
        let run = run(&app, Origin::Panel, None);
        tell.send(run.map(|run| run.failures.len())).unwrap();
    });
    let at_most = Duration::from_millis(100);
    assert!(told.recv_timeout(at_most).is_err(), "it waits");
    // One waits, so there is no place for a second when one is the limit.
    assert!(test.app.work.cron_turns.take(1).is_none());
    assert_eq!(test.number("SELECT count(*) FROM cron_run"), 0);
    drop(before);
    assert_eq!(told.recv().unwrap(), Some(0));
    waiting.join().unwrap();
    assert_eq!(test.number("SELECT count(*) FROM cron_run"), 1);
}

#[test]
fn a_run_keeps_its_turn_until_it_is_over() {
    let test = test_app();
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO user (email, name, role, created_at, chat_number)
         SELECT 'p' || i, 'P', 'free', 1790000000, '5511987654321' FROM n",
    );
    let app = Arc::clone(&test.app);
    let running = std::thread::spawn(move || run(&app, Origin::Panel, None));
    let mut before = 0;
    while before < 5000 {
        let is_taken = test.app.work.cron_turns.is_taken();
        let queued = test.number("SELECT count(*) FROM outbox");
        let goes_on = 0 < before && queued < 5000;
        assert!(is_taken || !goes_on, "at {queued} messages nobody has the turn");
        before = queued;
    }
    running.join().unwrap();
    assert!(!test.app.work.cron_turns.is_taken());
}

#[test]
fn everybody_is_reminded_of_a_meet_also_in_several_pieces() {
    let test = test_app();
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
         INSERT INTO user (email, name, role, created_at, chat_number)
         SELECT 'p' || i, 'P', iif(i % 2, 'pro', 'free'), 1790000000, '5511987654321' FROM n",
    );
    test.execute(
        "INSERT INTO meet (title, starts_at, minutes, created_at, updated_at)
         VALUES ('Encontro', 1795176000 + 86400, 60, 1, 1)",
    );
    for _ in 0..2 {
        let mut report = Report::default();
        meets::remind(&test.app, &TaskContext::new(NOW, None), &mut report).unwrap();
        assert_eq!(test.number("SELECT count(*) FROM outbox"), 300);
        assert_eq!(test.number("SELECT count(DISTINCT user_id) FROM outbox"), 300);
    }
    // Moving a meet drops all its reminders, and new ones are queued.
    test.execute("UPDATE meet SET starts_at = starts_at - 60");
    let mut report = Report::default();
    meets::remind(&test.app, &TaskContext::new(NOW, None), &mut report).unwrap();
    let by_state =
        |state: i64| test.number(&format!("SELECT count(*) FROM outbox WHERE state = {state}"));
    assert_eq!((by_state(2), by_state(0)), (300, 300));
    // Marks of meets that have begun are deleted.
    let begun = NOW.plus(2 * DAY_S);
    test.dir.now_is(begun);
    meets::remind(&test.app, &TaskContext::new(begun, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM cron_mark"), 0);
}

#[test]
fn messages_that_are_done_are_packed_and_those_between_them_stay() {
    let test = test_app();
    test.execute(
        "INSERT INTO user (user_id, email, name, role, created_at)
         VALUES (7, 'ana@example.com', 'Ana Souza', 'free', 1700000000)",
    );
    // Every third message waits. Some of the others failed or were cancelled,
    // with texts that name people.
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, done_at, outcome, provider)
         SELECT 'email', 7, 'alerta', '{\"nome\":\"Ana Souza\"}', i, iif(i % 3 = 0, 0, 1 + i % 3), 1770000000, 1770000000,
                iif(i % 3 = 0, NULL, 1780000000 + i % 7),
                CASE i % 9 WHEN 1 THEN 'cancelada por Bia Lima' WHEN 2 THEN 'ana@example.com recusou'
                           WHEN 4 THEN 'sem resposta de 5511987654321' WHEN 7 THEN 'a pessoa está suspensa' END,
                'ok ana@example.com' FROM n",
    );
    let mut report = Report::default();
    packing::pack(&test.app, &TaskContext::new(NOW, None), &mut report).unwrap();
    assert_eq!(test.number("SELECT count(*) FROM outbox"), 1000);
    assert_eq!(test.number("SELECT count(*) FROM outbox WHERE state = 0"), 1000);
    assert_eq!(test.number("SELECT sum(messages) FROM outbox_count"), 1000);
    assert_eq!(test.number("SELECT sum(entries) FROM log_batch"), 2000);
    let lines: String = (1..=test.number("SELECT max(batch_id) FROM log_batch"))
        .map(|batch| {
            let packed = test.app.db.read(Lane::Slow, |tx| archive::batch(tx, batch));
            packed.unwrap().unwrap().1.unwrap()
        })
        .collect();
    let numbers: std::collections::BTreeSet<i64> = lines
        .lines()
        .map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(entry["user_id"], 7);
            entry["message_id"].as_i64().unwrap()
        })
        .collect();
    assert!(numbers.iter().copied().eq((1..=3000).filter(|i| i % 3 != 0)));
    for personal in ["Ana", "Bia", "@", "5511", "params", "provider"] {
        assert!(!lines.contains(personal), "{personal} in {lines}");
    }
    assert!(lines.contains("\"cancelada\"") && lines.contains("a pessoa está suspensa"));
}

#[test]
fn a_message_that_was_taken_up_again_is_not_packed() {
    let test = test_app();
    test.execute(
        "INSERT INTO user (user_id, email, name, role, created_at) VALUES (7, 'a@b', 'A', 'free', 1)",
    );
    test.execute(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, done_at)
         VALUES ('email', 7, 'alerta', '{}', 'a', 3, 1770000000, 1770000000, 1770000000),
                ('email', 7, 'alerta', '{}', 'b', 3, 1770000000, 1770000000, 1770000000)",
    );
    let log = &archive::LOGS[2];
    let piece = test.app.db.read(Lane::Slow, |tx| archive::oldest(tx, log, NOW, ZONE));
    let batch = Arc::new(archive::Batch::of(log, piece.unwrap().unwrap()).unwrap());
    // The message waits again, or was done again at another time.
    for change in ["0, done_at = NULL", "1, done_at = 1779999999"] {
        let change = format!("UPDATE outbox SET state = {change} WHERE message_id = 2");
        test.execute(change.leak());
        let batch = Arc::clone(&batch);
        let stored = test.app.db.write(move |tx| batch.store(tx));
        assert!(stored.is_err());
        assert_eq!(test.number("SELECT count(*) FROM outbox"), 2);
        assert_eq!(test.number("SELECT count(*) FROM log_batch"), 0);
    }
}

#[test]
fn bodies_of_messages_go_after_thirty_days_and_then_nothing_is_sent_again() {
    let test = test_app();
    test.execute(
        "INSERT INTO user (user_id, email, name, role, created_at) VALUES (7, 'a@b', 'A', 'free', 1)",
    );
    // Failed 31 and 29 days ago, and one that has waited for a long time.
    test.execute(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, done_at)
         SELECT 'email', 7, 'alerta', '{\"a\":1}', value, 3, 1, 1, 1795176000 - value * 86400
         FROM json_each('[31, 29]')",
    );
    test.execute(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at)
         VALUES ('email', 7, 'alerta', '{\"a\":1}', 'x', 0, 1, 1)",
    );
    let forgotten = test.app.db.write(|tx| outbox::forget_bodies(tx, 100));
    assert_eq!(forgotten.unwrap(), 1);
    assert_eq!(test.number("SELECT message_id FROM outbox WHERE params = '{}'"), 1);
    let again = |id| test.app.db.write(move |tx| outbox::try_again(tx, id)).unwrap();
    assert_eq!((again(1), again(2)), (false, true));
}

#[test]
fn a_log_of_requests_above_its_limit_is_packed_whatever_its_age() {
    let test = test_app();
    test.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO request_log (entry_id, at, request_id, method, path, status, us, caller, address, sampled)
         SELECT 1795176000000000 + i, 1795176000, i, 'GET', '/', 200, 1, '', '', 1 FROM n",
    );
    let mut report = Report::default();
    let pack_overflow = |report: &mut Report| {
        packing::pack_overflow(&test.app, &TaskContext::new(NOW, None), report).unwrap();
    };
    pack_overflow(&mut report);
    assert_eq!(test.number("SELECT count(*) FROM log_batch"), 0);
    // As if the log held that many more entries.
    test.execute("INSERT INTO request_log_count VALUES (5, '', 997500)");
    pack_overflow(&mut report);
    assert_eq!(test.number("SELECT min(entry_id) FROM request_log"), 1_795_176_000_002_501);
    assert_eq!(test.number("SELECT sum(entries) FROM request_log_count"), 1_000_000);
}
