//! Periodic tasks of the program: the evening's reminder, the end of streaks,
//! and challenges whose goal was reached before they were created.
//!
//! Each task goes through the students in pieces, once per occasion (such as a
//! day), and stores how far it came.

use jiff::civil::Time;
use serde_json::json;

use super::mark::{self, Mark, Marked, PIECE};
use super::{Report, TaskContext, TaskResult};
use crate::app::App;
use crate::base::{DAY_S, Day, Instant, UserId};
use crate::db::{Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::MessageKind;
use crate::program::ledger::LedgerAccount;
use crate::program::{ProgramSettings, challenges, store};

/// The prefixes of the names of the marks.
const REMINDED: &str = "lembrete_checkin";
const ENDED: &str = "sequencias";
const SETTLED: &str = "desafio";

/// Reminds those who have not checked in today, from the configured hour on,
/// once a day.
pub fn remind(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let (zone, today) = (app.zone(), app.day(context.now));
    let hour = i8::try_from(app.config.program.reminder_hour).unwrap_or_default();
    let from = Time::constant(hour, 0, 0, 0);
    if context.now < zone.at(today, from) {
        return Ok(());
    }
    let name = format!("{REMINDED}:{}", today.0);
    let channel_set = ChannelSet::of(&app.config);
    let midnight = zone.start_of(today.plus(1));
    mark::for_each(
        Marked { app, context, name: &name, over: midnight.plus(DAY_S) },
        |tx, after| waiting(tx, after, today),
        |_| Ok(true),
        move |tx, student| remind_one(tx, channel_set, student, today, midnight),
        &mut report.alertas_20h,
    )?;
    Ok(mark::forget_expired(app, REMINDED)?)
}

/// Those of the next students who have not checked in today.
fn waiting(tx: &ReadTx<'_>, after: UserId, today: Day) -> Result<(Vec<UserId>, Mark)> {
    let rows: Vec<(UserId, bool)> = tx.tuples(
        "SELECT student_id, ranked = 1 AND coalesce(last_checkin, 0) < ?2 FROM program_student
         WHERE student_id > ?1 ORDER BY student_id LIMIT ?3",
        (after, today, PIECE),
    )?;
    Ok(split(rows, after))
}

/// Those who need work, and the mark behind all that were read.
fn split(rows: Vec<(UserId, bool)>, after: UserId) -> (Vec<UserId>, Mark) {
    let end = behind(after, rows.last().map(|(student, _)| *student));
    let wanted = rows.into_iter().filter(|(_, is_wanted)| *is_wanted);
    (wanted.map(|(student, _)| student).collect(), end)
}

/// The mark behind the last student that was read; without one all were.
fn behind(after: UserId, last: Option<UserId>) -> Mark {
    Mark { position: last.unwrap_or(after).0, done: last.is_none() }
}

/// Queues the reminder of a student who still has not checked in.
fn remind_one(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    student: UserId,
    today: Day,
    midnight: Instant,
) -> Result<bool> {
    let Some(totals) = store::ledger_totals(tx, student)? else { return Ok(false) };
    if totals.last_checkin >= Some(today) {
        return Ok(false);
    }
    let day = today.0.to_string();
    let news = News {
        params: json!({ "streak": totals.streak_on(today), "day": today.0 }),
        expires_at: Some(midnight),
        ..News::message(MessageKind::CheckIn, channel_set, &day)
    };
    Ok(!messages::tell(tx, student, news)?.is_empty())
}

/// Ends the streaks of those who did not check in yesterday, once a day.
pub fn end_streaks(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let today = app.day(context.now);
    let name = format!("{ENDED}:{}", today.0);
    let over = app.zone().start_of(today.plus(1)).plus(DAY_S);
    mark::for_each(
        Marked { app, context, name: &name, over },
        |tx, after| missed(tx, after, today),
        |_| Ok(true),
        move |tx, student| end_one(tx, student, today),
        &mut report.furados,
    )?;
    Ok(mark::forget_expired(app, ENDED)?)
}

/// Those of the next students whose streak ended by a missed day.
fn missed(tx: &ReadTx<'_>, after: UserId, today: Day) -> Result<(Vec<UserId>, Mark)> {
    let rows: Vec<(UserId, bool)> = tx.tuples(
        "SELECT student_id, streak > 0 AND last_checkin < ?2 FROM program_student
         WHERE student_id > ?1 ORDER BY student_id LIMIT ?3",
        (after, today.plus(-1), PIECE),
    )?;
    Ok(split(rows, after))
}

fn end_one(tx: &WriteTx<'_>, student: UserId, today: Day) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE program_student SET streak = 0
         WHERE student_id = ?1 AND streak > 0 AND last_checkin < ?2",
        (student, today.plus(-1)),
    )?;
    if ended > 0 {
        store::count(tx, today.plus(-1), store::ENDED_STREAKS, 1, 0)?;
    }
    Ok(ended > 0)
}

/// Gives the rewards of challenges that were created or changed after their
/// period began, to students who have reached the goal already.
pub fn settle_challenges(app: &App, context: &TaskContext<'_>, _: &mut Report) -> TaskResult {
    let (zone, today) = (app.zone(), app.day(context.now));
    let settings = ProgramSettings::of(&app.config);
    for (challenge, changed_at) in app.db.read(Lane::Slow, |tx| challenges::unsettled(tx, today))? {
        let name = format!("{SETTLED}:{}:{}", challenge.id, changed_at.0);
        let over = zone.start_of(challenge.entry.ends_on.plus(1)).max(context.now).plus(DAY_S);
        let id = challenge.id;
        mark::for_each(
            Marked { app, context, name: &name, over },
            |tx, after| {
                let (owed, last) = challenges::owed(tx, &challenge, after, PIECE)?;
                Ok((owed, behind(after, last)))
            },
            |_| Ok(true),
            move |tx, student| settle_one(tx, settings, student, id),
            &mut 0,
        )?;
        if app.db.read(Lane::Slow, |tx| mark::of(tx, &name))?.done {
            app.db.write(move |tx| challenges::note_settled(tx, id, changed_at))?;
        }
    }
    Ok(mark::forget_expired(app, SETTLED)?)
}

fn settle_one(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
    challenge: i64,
) -> Result<bool> {
    let Some(challenge) = challenges::one(tx, challenge)? else { return Ok(false) };
    let Some(mut account) = LedgerAccount::open(tx, settings, student)? else { return Ok(false) };
    account.meet(challenge)?;
    Ok(account.close()?.xp > 0)
}
