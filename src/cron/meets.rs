//! Reminders of meets: a day before and minutes before, to everybody whose
//! plan or exception includes meets.
//!
//! A reminder is useless once the meet starts. When a meet is moved or removed,
//! queued reminders of its old start are dropped. A meet at a new time gets its
//! own reminders.

use serde_json::json;

use super::mark::{self, Mark};
use super::rules::Moment;
use super::{Report, TaskContext, TaskResult};
use crate::accounts::person::Group;
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::content::agenda::PERMISSION;
use crate::content::meets::{Meet, store as meets};
use crate::db::{DbError, Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::{self, ChannelSet};
use crate::messages::{self, News};
use crate::noun::Noun as _;
use crate::outbox::{self, Channel, MessageKind};

/// People that are read at a time.
const PIECE: usize = 250;
/// Most meets of the next day.
const MOST_MEETS: u32 = 500;
/// The prefix of the names of this task's marks.
const MARKS: &str = "encontro";
const MOVED: &str = "o encontro mudou de horário ou foi excluído";

/// The periodic task `lembretes_encontros`.
pub fn remind(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    withdraw(app, context)?;
    let now = context.now;
    let ahead = app.db.read(Lane::Slow, |tx| meets::upcoming(tx, now, MOST_MEETS))?;
    for meet in &ahead {
        for moment in Moment::ALL {
            if moment.is_now(meet.entry.starts_at, now) {
                remind_of(app, context, report, meet, moment)?;
            }
        }
    }
    Ok(())
}

/// One reminder: a meet with its start, and the moment before the start at
/// which people are reminded once.
#[derive(Clone)]
struct Reminder {
    meet_id: i64,
    title: String,
    starts_at: Instant,
    moment: Moment,
    channel_set: ChannelSet,
}

impl Reminder {
    /// Part of the keys of its messages and of its mark.
    fn name(&self) -> String {
        let (meet, moment, start) = (self.meet_id, self.moment.name(), self.starts_at.0);
        format!("{meet}:{moment}:{start}")
    }

    fn mark(&self) -> String {
        format!("{MARKS}:{}", self.name())
    }

    /// Whether the reminder is still valid: its moment lasts and the meet was
    /// not moved.
    fn holds(&self, tx: &ReadTx<'_>) -> Result<bool> {
        Ok(self.moment.is_now(self.starts_at, tx.now())
            && starts_at(tx, self.meet_id)? == Some(self.starts_at))
    }

    fn queue(&self, tx: &WriteTx<'_>, user: UserId) -> Result<bool> {
        let name = self.name();
        let news = News {
            params: json!({
                "meet_id": self.meet_id,
                "title": self.title,
                "starts_at": self.starts_at.0,
                "moment": self.moment.name(),
            }),
            expires_at: Some(self.starts_at),
            ..News::message(MessageKind::MeetReminder, self.channel_set, &name)
        };
        Ok(!messages::tell(tx, user, news)?.is_empty())
    }
}

fn remind_of(
    app: &App,
    context: &TaskContext<'_>,
    report: &mut Report,
    meet: &Meet,
    moment: Moment,
) -> TaskResult {
    let reminder = Reminder {
        meet_id: meet.id,
        title: meet.entry.title.clone(),
        starts_at: meet.entry.starts_at,
        moment,
        channel_set: ChannelSet::of(&app.config),
    };
    let name = reminder.mark();
    let mut at = app.db.read(Lane::Slow, |tx| mark::of(tx, &name))?;
    while !at.done && !context.is_time_over() {
        let channel_set = reminder.channel_set;
        let people =
            app.db.read(Lane::Slow, |tx| people_after(tx, UserId(at.position), channel_set))?;
        let (reminder, name) = (reminder.clone(), name.clone());
        let next = Mark {
            position: people.last().map_or(at.position, |last| last.0),
            done: people.len() < PIECE,
        };
        let told = app.db.write_piece(move |tx| {
            if !reminder.holds(tx)? {
                return Ok::<_, DbError>(None);
            }
            let mark = (&*name, reminder.starts_at);
            let told = mark::work_for(tx, mark, (people, next), |tx, user| {
                Ok(may_join(tx, user)? && reminder.queue(tx, user)?)
            })?;
            Ok(Some(told))
        })?;
        let Some((next, told)) = told else {
            return Ok(());
        };
        report.add_meets(told);
        at = next;
    }
    Ok(())
}

/// Students who may join every meet and are not suspended. The plus signs make
/// SQLite search by `user_id`.
const WHO: &str = "+u.kind = :students AND u.suspended_at IS NULL AND coalesce(
    (SELECT p.granted FROM user_permission p WHERE p.user_id = u.user_id AND p.permission = :permission),
    EXISTS (SELECT 1 FROM role_permission r WHERE r.role = u.role AND r.permission = :permission))";

/// The next people to be reminded, after an id.
fn people_after(tx: &ReadTx<'_>, after: UserId, channel_set: ChannelSet) -> Result<Vec<UserId>> {
    tx.values(
        &format!(
            "SELECT u.user_id FROM user u
             WHERE u.user_id > :after AND {REACHED} AND {WHO}
             ORDER BY u.user_id LIMIT :most",
            REACHED = choices::REACHED
        ),
        rusqlite::named_params! {
            ":after": after, ":email": channel_set.has(Channel::Email), ":permission": PERMISSION,
            ":most": i64::try_from(PIECE).unwrap_or(1), ":students": Group::Students,
        },
    )
}

/// Whether a student still matches `WHO`.
fn may_join(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    tx.value(
        &format!("SELECT EXISTS (SELECT 1 FROM user u WHERE u.user_id = :user AND {WHO})"),
        rusqlite::named_params! { ":user": user, ":permission": PERMISSION, ":students": Group::Students },
    )
}

fn starts_at(tx: &ReadTx<'_>, meet: i64) -> Result<Option<Instant>> {
    Ok(Meet::one(tx, meet)?.map(|meet| meet.entry.starts_at))
}

/// Drops queued reminders of meets that were moved or removed, and deletes the
/// marks of meets that have started.
fn withdraw(app: &App, context: &TaskContext<'_>) -> TaskResult {
    let marks = app.db.read(Lane::Slow, |tx| mark::of_kind(tx, MARKS))?;
    for (name, is_over) in marks {
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
