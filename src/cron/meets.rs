//! Reminders of meets: a day before and minutes before, to everybody whose
//! plan or exception includes meets.
//!
//! A reminder is useless once the meet starts. When a meet is moved or removed,
//! queued reminders of its old start are dropped. A meet at a new time gets its
//! own reminders.

use serde_json::json;

use super::mark::{self, Marked};
use super::rules::Moment;
use super::{Report, TaskContext, TaskResult};
use crate::accounts::permissions::{STUDENTS_WITH, is_student_with};
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::content::agenda::PERMISSION;
use crate::content::meets::{Meet, store as meets};
use crate::db::{DbError, Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::noun::Noun as _;
use crate::outbox::{self, MessageKind};

const MOST_MEETS: u32 = 500;
/// The prefix of the names of this task's marks.
const MARKS: &str = "encontro";
const MOVED: &str = "o encontro mudou de horário ou foi excluído";

/// The periodic task `lembretes_encontros`.
pub fn remind(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    withdraw(app, context)?;
    let now = context.now;
    let channel_set = ChannelSet::of(&app.config);
    for meet in app.db.read(Lane::Slow, |tx| meets::upcoming(tx, now, MOST_MEETS))? {
        let starts_at = meet.entry.starts_at;
        for moment in Moment::ALL.into_iter().filter(|moment| moment.is_now(starts_at, now)) {
            let reminder = Reminder { meet: meet.clone(), moment, channel_set };
            let (name, told) = (format!("{MARKS}:{}", reminder.name()), reminder.clone());
            mark::for_each(
                Marked { app, context, name: &name, over: starts_at },
                |tx, after| {
                    mark::students(
                        tx,
                        after,
                        channel_set,
                        STUDENTS_WITH,
                        (":permission", &PERMISSION),
                    )
                },
                move |tx| reminder.holds(tx),
                move |tx, user| Ok(is_student_with(tx, user, PERMISSION)? && told.queue(tx, user)?),
                &mut report.meets_notif,
            )?;
        }
    }
    Ok(())
}

/// One reminder: a meet, and the moment before its start at which people are
/// reminded once.
#[derive(Clone)]
struct Reminder {
    meet: Meet,
    moment: Moment,
    channel_set: ChannelSet,
}

impl Reminder {
    /// Part of the keys of its messages and of its mark.
    fn name(&self) -> String {
        let start = self.meet.entry.starts_at.0;
        format!("{}:{}:{start}", self.meet.id, self.moment.name())
    }

    /// Whether the reminder is still valid: its moment lasts and the meet was
    /// not moved.
    fn holds(&self, tx: &ReadTx<'_>) -> Result<bool> {
        let start = self.meet.entry.starts_at;
        Ok(self.moment.is_now(start, tx.now()) && starts_at(tx, self.meet.id)? == Some(start))
    }

    fn queue(&self, tx: &WriteTx<'_>, user: UserId) -> Result<bool> {
        let name = self.name();
        let news = News {
            params: json!({
                "meet_id": self.meet.id,
                "title": self.meet.entry.title,
                "starts_at": self.meet.entry.starts_at.0,
                "moment": self.moment.name(),
            }),
            expires_at: Some(self.meet.entry.starts_at),
            ..News::message(MessageKind::MeetReminder, self.channel_set, &name)
        };
        Ok(!messages::tell(tx, user, news)?.is_empty())
    }
}

fn starts_at(tx: &ReadTx<'_>, meet: i64) -> Result<Option<Instant>> {
    Ok(Meet::one(tx, meet)?.map(|meet| meet.entry.starts_at))
}

/// Drops queued reminders of meets that were moved or removed, and deletes the
/// marks of meets that have started.
fn withdraw(app: &App, context: &TaskContext<'_>) -> TaskResult {
    for (name, is_over) in mark::of_kind(app, MARKS)? {
        let Some((meet, start)) = meet_of(&name) else {
            continue;
        };
        let stands =
            app.db.read(Lane::Slow, |tx| Ok::<_, DbError>(starts_at(tx, meet)? == Some(start)))?;
        // If the meet was not moved, messages still queued after its start have
        // expired, and the delivery marks them as such.
        let is_done = if stands { is_over } else { take_back(app, context, &name)? };
        if is_done {
            app.db.write(move |tx| mark::forget(tx, &name))?;
        }
    }
    Ok(())
}

/// The meet of a mark, and its start when the mark was made.
fn meet_of(mark: &str) -> Option<(i64, Instant)> {
    let mut parts = mark.split(':').skip(1);
    let meet = parts.next()?.parse().ok()?;
    let start = parts.nth(1)?.parse().ok()?;
    Some((meet, Instant(start)))
}

/// Drops the queued messages of a mark's reminder; false when some are left.
fn take_back(app: &App, context: &TaskContext<'_>, mark: &str) -> Result<bool> {
    let (_, told) = mark.split_once(':').unwrap_or_default();
    while !context.is_time_over() {
        let keys = MessageKind::MeetReminder.key(told, None, None);
        let drop =
            move |tx: &WriteTx<'_>| tx.work_off(|most| outbox::drop_keyed(tx, &keys, MOVED, most));
        if app.db.write_piece(drop)? {
            return Ok(true);
        }
    }
    Ok(false)
}
