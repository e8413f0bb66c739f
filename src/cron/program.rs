//! Periodic tasks of the program: the evening's reminder, the end of streaks,
//! and challenges whose goal was reached before they were created.
//!
//! Each task goes through the students in pieces, once per occasion (such as a
//! day), and stores how far it came.

use jiff::civil::Time;
use serde_json::json;

use super::mark::{self, Mark};
use super::{Report, TaskContext, TaskResult};
use crate::app::App;
use crate::base::{DAY_S, Day, Instant, UserId};
use crate::db::{DbError, Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::MessageKind;
use crate::program::ledger::LedgerAccount;
use crate::program::{ProgramSettings, challenges, store};
use crate::services::Services;

/// People that are read at a time.
const PIECE: u32 = 250;
/// The prefixes of the names of the marks.
const REMINDED: &str = "lembrete_checkin";
const ENDED: &str = "sequencias";
const SETTLED: &str = "desafio";

/// Goes through people in pieces, once for each name of a mark. `next` returns
/// the people after an id who need work, and the last id that it read. `work`
/// handles one person and returns whether it did anything. Returns how often it
/// did.
fn for_each_student(
    app: &App,
    context: &TaskContext<'_>,
    (name, over): (&str, Instant),
    next: impl Fn(&ReadTx<'_>, UserId) -> Result<(Vec<UserId>, Option<UserId>)>,
    work: impl Fn(&WriteTx<'_>, UserId) -> Result<bool> + Send + Copy + 'static,
) -> std::result::Result<usize, DbError> {
    let mut at = app.db.read(Lane::Slow, |tx| mark::of(tx, name))?;
    let mut worked = 0;
    while !at.done && !context.is_time_over() {
        let (people, last) = app.db.read(Lane::Slow, |tx| next(tx, UserId(at.position)))?;
        let to = Mark { position: last.map_or(at.position, |last| last.0), done: last.is_none() };
        let name = name.to_owned();
        let (reached, some) =
            app.db.write_piece(move |tx| mark::work_for(tx, (&name, over), (people, to), work))?;
        worked += some;
        at = reached;
    }
    Ok(worked)
}

/// Deletes the marks of occasions that are over.
fn forget_earlier(services: &Services, kind: &str) -> TaskResult {
    let marks = services.db.read(Lane::Slow, |tx| mark::of_kind(tx, kind))?;
    for (name, _) in marks.into_iter().filter(|(_, is_over)| *is_over) {
        services.db.write(move |tx| mark::forget(tx, &name))?;
    }
    Ok(())
}

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
    let reminded = for_each_student(
        app,
        context,
        (&name, midnight.plus(DAY_S)),
        |tx, after| waiting(tx, after, today),
        move |tx, student| remind_one(tx, channel_set, student, (today, midnight)),
    )?;
    report.add_reminded(reminded);
    forget_earlier(app, REMINDED)
}

/// Those of the next students who have not checked in today, and the last
/// student that was read.
fn waiting(tx: &ReadTx<'_>, after: UserId, today: Day) -> Result<(Vec<UserId>, Option<UserId>)> {
    let rows: Vec<(UserId, bool)> = tx.tuples(
        "SELECT student_id, ranked = 1 AND coalesce(last_checkin, 0) < ?2 FROM program_student
         WHERE student_id > ?1 ORDER BY student_id LIMIT ?3",
        (after, today, PIECE),
    )?;
    Ok(split(rows))
}

fn split(rows: Vec<(UserId, bool)>) -> (Vec<UserId>, Option<UserId>) {
    let last = rows.last().map(|(student, _)| *student);
    let wanted = rows.into_iter().filter(|(_, is_wanted)| *is_wanted);
    (wanted.map(|(student, _)| student).collect(), last)
}

/// Queues the reminder of a student who still has not checked in.
fn remind_one(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    student: UserId,
    (today, midnight): (Day, Instant),
) -> Result<bool> {
    let Some(standing) = store::standing(tx, student)? else { return Ok(false) };
    if standing.last_checkin >= Some(today) {
        return Ok(false);
    }
    let day = today.0.to_string();
    let news = News {
        params: json!({ "streak": standing.streak_on(today), "day": today.0 }),
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
    let ended = for_each_student(
        app,
        context,
        (&name, over),
        |tx, after| missed(tx, after, today),
        move |tx, student| end_one(tx, student, today),
    )?;
    report.add_missed(ended);
    forget_earlier(app, ENDED)
}

/// Those of the next students whose streak ended by a missed day, and the last
/// student that was read.
fn missed(tx: &ReadTx<'_>, after: UserId, today: Day) -> Result<(Vec<UserId>, Option<UserId>)> {
    let rows: Vec<(UserId, bool)> = tx.tuples(
        "SELECT student_id, streak > 0 AND last_checkin < ?2 FROM program_student
         WHERE student_id > ?1 ORDER BY student_id LIMIT ?3",
        (after, today.plus(-1), PIECE),
    )?;
    Ok(split(rows))
}

fn end_one(tx: &WriteTx<'_>, student: UserId, today: Day) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE program_student SET streak = 0
         WHERE student_id = ?1 AND streak > 0 AND last_checkin < ?2",
        (student, today.plus(-1)),
    )?;
    if ended > 0 {
        store::count(tx, today.plus(-1), store::ENDED_STREAKS, (1, 0))?;
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
        for_each_student(
            app,
            context,
            (&name, over),
            |tx, after| challenges::owed(tx, &challenge, after, PIECE),
            move |tx, student| settle_one(tx, settings, student, id),
        )?;
        if app.db.read(Lane::Slow, |tx| mark::of(tx, &name))?.done {
            app.db.write(move |tx| challenges::note_settled(tx, id, changed_at))?;
        }
    }
    forget_earlier(app, SETTLED)
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
