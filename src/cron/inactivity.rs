//! Alerts to inactive students: one alert for each period without activity,
//! after some full civil days.
//!
//! Days are civil days, so a student becomes inactive only at midnight, and
//! students are checked once a day.

use jiff::civil::Time;
use serde_json::json;

use super::mark::{self, Mark, Marked};
use super::{Report, TaskContext, TaskResult, rules};
use crate::accounts::person::Group;
use crate::app::App;
use crate::base::{DAY_S, Instant, UserId, Zone};
use crate::config::Config;
use crate::db::{Lane, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::MessageKind;

/// The prefix of the names of this task's marks.
const MARKS: &str = "inativos";

/// The periodic task `inatividade`.
pub fn alert(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let terms = Terms::of(&app.config, app.zone());
    let today = app.day(context.now);
    let name = format!("{MARKS}:{}", today.0);
    let over = app.zone().start_of(today.plus(1)).plus(DAY_S);
    if app.db.read(Lane::Slow, |tx| mark::of(tx, &name))? == Mark::default() {
        mark::forget_expired(app, MARKS)?;
    }
    let (before, channel_set) = (terms.away_since_before(context.now), terms.channel_set);
    mark::for_each(
        Marked { app, context, name: &name, over },
        |tx, after| mark::students(tx, after, channel_set, WHO, (":before", &before)),
        |_| Ok(true),
        move |tx, user| alert_one(tx, &terms, user),
        &mut report.inativos,
    )
    .map_err(Into::into)
}

/// When a student counts as inactive, and how the alert is sent.
#[derive(Clone)]
struct Terms {
    zone: Zone,
    full_days: u32,
    quiet: (Time, Time),
    channel_set: ChannelSet,
}

impl Terms {
    fn of(config: &Config, zone: Zone) -> Self {
        Self {
            zone,
            full_days: config.program.inactive_days,
            quiet: (config.messages.quiet_from, config.messages.quiet_until),
            channel_set: ChannelSet::of(config),
        }
    }

    fn away_since_before(&self, now: Instant) -> Instant {
        rules::away_since_before(self.zone, now, self.full_days)
    }
}

/// The last activity of a student, from the `user` row alone: logins and pages
/// of the panel, where students check in and finish lessons. Calls of programs
/// are not in this row.
const ACTIVE: &str = "max(u.created_at, coalesce(u.last_access_at, 0))";

/// Students whose last activity was before `:before` and who got no alert for
/// it. The plus sign makes SQLite search by `user_id`.
const WHO: &str = "+u.kind = :students AND u.suspended_at IS NULL
    AND u.created_at < :before AND coalesce(u.last_access_at, 0) < :before
    AND NOT EXISTS (SELECT 1 FROM inactivity_alert a
                    WHERE a.user_id = u.user_id
                        AND a.active_at >= max(u.created_at, coalesce(u.last_access_at, 0)))
    AND NOT EXISTS (SELECT 1 FROM lesson_done d
                    WHERE d.user_id = u.user_id AND d.done_at >= :before)";

/// Queues the alert of one student, if it is still due.
fn alert_one(tx: &WriteTx<'_>, terms: &Terms, user: UserId) -> Result<bool> {
    let now = tx.now();
    let found: Option<(i64, Option<i64>)> = tx.tuple(
        &format!(
            "SELECT {ACTIVE},
                    (SELECT max(d.done_at) FROM lesson_done d WHERE d.user_id = u.user_id)
             FROM user u WHERE u.user_id = :user AND {WHO}"
        ),
        rusqlite::named_params! {
            ":user": user, ":before": terms.away_since_before(now).0, ":students": Group::Students,
        },
    )?;
    let Some((seen_at, lesson_at)) = found else {
        return Ok(false);
    };
    let active_at = Instant(seen_at.max(lesson_at.unwrap_or(seen_at)));
    let cause = active_at.0.to_string();
    let news = News {
        params: json!({
            "days": rules::full_days_away(terms.zone, active_at, now),
            "active_at": active_at.0,
        }),
        run_at: Some(rules::leaves_at(terms.zone, now, terms.quiet, user)),
        ..News::message(MessageKind::Inactivity, terms.channel_set, &cause)
    };
    let queued = !messages::tell(tx, user, news)?.is_empty();
    if queued {
        tx.execute(
            "INSERT INTO inactivity_alert (user_id, active_at, queued_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id) DO UPDATE SET active_at = ?2, queued_at = ?3",
            (user, active_at.0, now.0),
        )?;
    }
    Ok(queued)
}
