//! The program with a hundred thousand students and ten million entries:
//! check-ins, pages of the rankings, and the comparison of all with the ledger.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use crate::answer;
use crate::lab::{Lab, pause, say};
use crate::load::{self, Load};
use crate::people::Seller;
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, in_turns, post_bytes, unix_now};
use crate::rounds::{Subject, alternate, median};
use crate::seed;
use crate::server::Server;
use crate::students;

const STUDENTS: i64 = 100_000;
/// Entries of each student: a check-in a day.
const ENTRIES: i64 = 100;
const DAY_S: i64 = 86_400;
/// Students who are requested and check in, out of all of them.
const SIGNED_IN: i64 = 60_000;
/// The administrator that `students::fill` signs in.
const ADMINISTRATOR: Seller = Seller(-1);
const RANKINGS: [&str; 5] = ["geral", "mensal", "semanal", "streak", "vendas"];

/// All figures of the program.
pub fn program(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    say("adding 100000 students with ten million entries");
    students::fill(&copy.file)?;
    let students = fill(&copy.file)?;
    let server = lab.serve(&copy.file, &[("SERVER__TIMEZONE", "UTC")])?;
    let mut figures = rankings(lab, &server)?;
    let check_ins: Vec<_> = (0..SIGNED_IN).map(check_in).collect();
    let series = alternate(lab, &[Subject::new(&server, in_turns(check_ins))])?;
    figures.push(series[0].figure("program", "check-in, of ceiling").target(Target::AtLeast(0.1)));
    figures.extend(recount(lab, &server, students)?);
    server.stop()?;
    Ok(figures)
}

fn session(number: i64) -> String {
    Seller(1_000_000 + number).session()
}

fn check_in(number: i64) -> Vec<u8> {
    let head = format!(
        "Cookie: sessao={}\r\nAccept: application/json\r\nContent-Type: application/json\r\n",
        session(number)
    );
    post_bytes("/painel/checkin", &head, b"{}")
}

/// The slowest page of all rankings, as JSON and as page.
fn rankings(lab: &Lab, server: &Server) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (path, accept, measure) in [
        (
            "/painel/competicao/ranking-json",
            "application/json",
            "ms, slowest page of a ranking, JSON",
        ),
        ("/painel/competicao", "text/html", "ms, slowest page of the competition"),
    ] {
        let mut slowest = 0.0_f64;
        for kind in RANKINGS {
            for page in [1, 2, 1_250, 2_400, 2_500, 3_750, 4_800] {
                let head = format!("Cookie: sessao={}\r\nAccept: {accept}\r\n", session(7));
                let target = format!("{path}?tipo={kind}&pagina={page}");
                let request = get_bytes(&target, None, &head);
                let mut times = Vec::new();
                for round in 0..=lab.args.rounds.max(5) {
                    let began = Instant::now();
                    let answer = answer::ask(server.address(), &request)?;
                    ensure!(answer.status == 200, "{target}: {}", answer.status);
                    if round > 0 {
                        times.push(began.elapsed().as_secs_f64() * 1000.0);
                    }
                }
                slowest = slowest.max(median(times));
            }
        }
        figures.push(Figure::new("program", measure, slowest).target(Target::AtMost(20.0)));
    }
    Ok(figures)
}

/// Entries a second of a comparison of all students, and p99 of check-ins and
/// reads meanwhile.
fn recount(lab: &Lab, server: &Server, students: i64) -> anyhow::Result<Vec<Figure>> {
    let head = format!(
        "Cookie: sessao={}\r\nAccept: application/json\r\nContent-Type: application/json\r\n",
        ADMINISTRATOR.session()
    );
    let begin = post_bytes("/admin/gamificacao/recalcular", &head, b"{}");
    let look = get_bytes("/admin/gamificacao", None, &head);
    let others: Vec<_> = (0..2_000)
        .map(|number| {
            let head =
                format!("Cookie: sessao={}\r\nAccept: application/json\r\n", session(number));
            get_bytes("/painel/competicao/ranking-json", None, &head)
        })
        .chain((SIGNED_IN - 2_000..SIGNED_IN).map(check_in))
        .collect();
    let mut load = Load::new(server.address(), in_turns(others), &[200]);
    load.connections = lab.args.connections.div_ceil(16);
    let (outcome, took) = load::during(load, || {
        let began = Instant::now();
        answer::ask(server.address(), &begin)?.json(200)?;
        let deadline = began + Duration::from_mins(5);
        loop {
            let json = answer::ask(server.address(), &look)?.json(200)?;
            if json["recalculo"]["concluido"] == true {
                ensure!(json["recalculo"]["corrigidos"] == 0, "healthy data was changed: {json}");
                return Ok(began.elapsed());
            }
            ensure!(Instant::now() < deadline, "the comparison did not end: {json}");
            pause(Duration::from_millis(50));
        }
    })?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let rate = (students * ENTRIES) as f64 / took.as_secs_f64();
    Ok(vec![
        Figure::new("program", "entries a second of recalcular", rate)
            .target(Target::AtLeast(200_000.0)),
        Figure::new("program", "ms, p99 of others meanwhile", outcome.latencies.percentile_ms(99))
            .target(Target::AtMost(30.0)),
    ])
}

/// Adds a session for most students, and a check-in of each student on each of
/// the last days, with the resulting totals; returns the number of students.
fn fill(file: &Path) -> anyhow::Result<i64> {
    let mut connection = seed::open(file)?;
    let now = unix_now();
    let today = now / DAY_S;
    let tx = connection.transaction()?;
    let mut who = tx.prepare(
        "SELECT user_id FROM user WHERE kind = 0 AND suspended_at IS NULL ORDER BY user_id LIMIT ?",
    )?;
    let students: Vec<i64> =
        who.query_map([STUDENTS], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut entry = tx.prepare(
        "INSERT INTO program_entry (student_id, day, at, action, cause, turn, xp) VALUES (?, ?, ?, 1, ?, 0, ?)",
    )?;
    let mut session_row = tx.prepare(
        "INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
         VALUES (?, ?, ?, ?, '127.0.0.1', 'harness')",
    )?;
    let mut standing = tx.prepare(
        "INSERT INTO program_student
             (student_id, joined_at, ranked, entries, xp, xp_at, month, month_xp, month_at, week, week_xp, week_at,
              checkins, last_checkin, checked_at, streak, best_streak, sales, sales_at)
         VALUES (?1, 0, 1, ?2, ?3, ?4, ?5, ?6, ?4, ?7, ?8, ?4, ?2, ?9, ?4, ?2, ?2, 0, 0)",
    )?;
    for (number, student) in (0_i64..).zip(&students) {
        let (mut xp, mut month_xp, mut week_xp, mut at) = (0, 0, 0, 0);
        for ago in (1..=ENTRIES).rev() {
            let day = today - ago;
            at = day * DAY_S + number % 80_000;
            let points = 5 + (number * 31 + day) % 11;
            entry.execute(params![student, day, at, day, points])?;
            xp += points;
            // The sums of the newest month and week with an entry.
            if day >= first_of_month(today - 1) {
                month_xp += points;
            }
            if day >= week_of(today - 1) {
                week_xp += points;
            }
        }
        let newest = today - 1;
        let of = (first_of_month(newest), week_of(newest));
        standing
            .execute(params![student, ENTRIES, xp, at, of.0, month_xp, of.1, week_xp, newest])?;
        if number < SIGNED_IN {
            let hash = Sha256::digest(session(number));
            session_row.execute(params![hash.to_vec(), student, now, now])?;
        }
    }
    drop((who, entry, session_row, standing));
    ensure!(!students.is_empty(), "no student was seeded");
    tx.commit().context("seeding the program")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(i64::try_from(students.len())?)
}

fn week_of(day: i64) -> i64 {
    day - (day + 3).rem_euclid(7)
}

/// First day of a day's month (Howard Hinnant's civil-from-days).
fn first_of_month(day: i64) -> i64 {
    let shifted = day + 719_468;
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    day - (of_year - (153 * month + 2) / 5)
}
