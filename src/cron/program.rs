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
use crate::db::{Lane, Result, WriteTx};
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
        |tx, after| Ok(split(store::who_lacks_today(tx, after, today, PIECE)?, after)),
        |_| Ok(true),
        move |tx, student| remind_one(tx, channel_set, student, today, midnight),
        &mut report.alertas_20h,
    )?;
    Ok(mark::forget_expired(app, REMINDED)?)
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
    let yesterday = today.plus(-1);
    let name = format!("{ENDED}:{}", today.0);
    let over = app.zone().start_of(today.plus(1)).plus(DAY_S);
    mark::for_each(
        Marked { app, context, name: &name, over },
        |tx, after| Ok(split(store::who_missed(tx, after, yesterday, PIECE)?, after)),
        |_| Ok(true),
        move |tx, student| store::end_streak(tx, student, yesterday),
        &mut report.furados,
    )?;
    Ok(mark::forget_expired(app, ENDED)?)
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
