//! A call of the cron endpoint on a file with a hundred thousand students: when
//! no message is due, and when ten thousand of them get an alert, while another
//! client wants to write.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::ensure;
use rusqlite::params;

use crate::answer;
use crate::lab::{Lab, say};
use crate::report::{Figure, Target};
use crate::requests::{get_bytes, unix_now};
use crate::rounds::median;
use crate::seed;
use crate::server::Server;
use crate::students;

const SECRET: &str = "cron-secret-of-the-harness";
const CRON: &str = "/api/v1/cron";
const ALERTS: i64 = 10_000;
const DAY_S: i64 = 86_400;

/// Milliseconds of calls, and of the longest wait for the writer meanwhile.
pub fn cron(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let copy = lab.copy(lab.small())?;
    say("adding 100000 students");
    students::fill(&copy.file)?;
    let away = "UPDATE user SET last_access_at = ?1, created_at = min(created_at, ?1)";
    change(&copy.file, away, unix_now())?;
    let mut figures = Vec::new();
    let server = lab.serve(&copy.file, &[("CRON__SECRET", SECRET)])?;
    let (first, _) = call(&server, "inativos", Some(0))?;
    figures.push(at_most("ms, first call of a day, nothing to say", first, 300.0));
    let rounds = lab.args.rounds.max(5);
    let later = (0..rounds).map(|_| Ok(call(&server, "inativos", Some(0))?.0));
    let later: anyhow::Result<Vec<f64>> = later.collect();
    figures.push(at_most("ms, later calls", median(later?), 300.0));
    server.stop()?;

    // Ten thousand students with a number who were away, among others without one.
    let away = "UPDATE user SET last_access_at = ?1, created_at = ?1, chat_number = '5511987654321'
                WHERE user_id IN (SELECT user_id FROM user
                    WHERE role NOT IN ('drop', 'admin') AND suspended_at IS NULL AND removed_at IS NULL
                    ORDER BY user_id % 97, user_id LIMIT 10000)";
    change(&copy.file, away, unix_now() - 10 * DAY_S)?;
    let server = lab.serve(&copy.file, &[("CRON__SECRET", SECRET)])?;
    let (took, waited) = call(&server, "inativos", Some(ALERTS))?;
    figures.push(at_most("ms, 10,000 alerts queued", took, 2_000.0));
    figures.push(at_most("ms, longest wait for the writer meanwhile", waited, 50.0));
    server.stop()?;

    everybody(lab, &copy.file, &mut figures)?;
    Ok(figures)
}

/// Everybody has a number, was away and got the alert; a meet is near.
fn everybody(lab: &Lab, file: &Path, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let away =
        "UPDATE user SET last_access_at = ?1, created_at = ?1, chat_number = '5511987654321'";
    change(file, away, unix_now() - 10 * DAY_S)?;
    let server = lab.serve(file, &[("CRON__SECRET", SECRET)])?;
    let (_, waited) = call(&server, "inativos", None)?;
    figures.push(at_most("ms, longest wait, everybody alerted", waited, 50.0));
    server.stop()?;
    let meet = "INSERT INTO meet (title, starts_at, minutes, created_at, updated_at)
                VALUES ('Encontro', ?1 + 84600, 60, ?1, ?1)";
    change(file, meet, unix_now())?;
    let server = lab.serve(file, &[("CRON__SECRET", SECRET)])?;
    let (took, waited) = call(&server, "meets_notif", None)?;
    figures.push(Figure::new("cron", "ms, everybody reminded of a meet", took));
    figures.push(at_most("ms, longest wait for the writer meanwhile", waited, 50.0));
    let (took, _) = call(&server, "meets_notif", Some(0))?;
    figures.push(at_most("ms, call after that", took, 300.0));
    server.stop()?;
    change(file, "UPDATE meet SET title = title WHERE ?1 > 0", unix_now())?;
    let server = lab.serve(file, &[("CRON__SECRET", SECRET)])?;
    let (took, _) = call(&server, "inativos", Some(0))?;
    figures.push(at_most("ms, first call of a day, everybody alerted before", took, 300.0));
    server.stop()?;
    Ok(())
}

fn at_most(measure: &str, value: f64, limit: f64) -> Figure {
    Figure::new("cron", measure, value).target(Target::AtMost(limit))
}

/// One call whose answer has this count (more than zero if not given); returns
/// its milliseconds, and those of the longest write meanwhile.
fn call(server: &Server, name: &str, count: Option<i64>) -> anyhow::Result<(f64, f64)> {
    let request = get_bytes(CRON, Some(SECRET), "");
    let probe = get_bytes("/readyz", None, "");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let probing = scope.spawn(|| {
            let mut longest = 0.0_f64;
            while !done.load(Ordering::Relaxed) {
                let began = Instant::now();
                answer::ask(server.address(), &probe)?.json(200)?;
                longest = longest.max(began.elapsed().as_secs_f64() * 1000.0);
            }
            anyhow::Ok(longest)
        });
        let began = Instant::now();
        let answer = answer::ask(server.address(), &request);
        let took = began.elapsed().as_secs_f64() * 1000.0;
        done.store(true, Ordering::Relaxed);
        let longest = probing.join().expect("the probe ends")?;
        let json = answer?.json(200)?;
        let counted = json[name].as_i64().unwrap_or(-1);
        let right = count.map_or(counted > 50_000, |count| counted == count);
        ensure!(json["ok"] == true && right, "not as it should be: {json}");
        Ok((took, longest))
    })
}

/// Changes people as of an instant, and removes the mark that today was checked.
fn change(file: &Path, sql: &str, at: i64) -> anyhow::Result<()> {
    let connection = seed::open(file)?;
    connection.execute(sql, params![at])?;
    connection.execute("DELETE FROM cron_mark WHERE name LIKE 'inativos:%'", [])?;
    connection.close().map_err(|(_, error)| error.into())
}
