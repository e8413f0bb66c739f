//! Alerts to inactive students: one alert for each period without activity,
//! after some full civil days.
//!
//! Days are civil days, so a student becomes inactive only at midnight, and
//! students are checked once a day.

use jiff::civil::Time;
use serde_json::json;

use super::mark::{self, Mark, Marked};
use super::{Report, TaskContext, TaskResult, rules, store};
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
        |tx, after| mark::students(tx, after, channel_set, store::INACTIVE, (":before", &before)),
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

/// Queues the alert of one student, if it is still due.
fn alert_one(tx: &WriteTx<'_>, terms: &Terms, user: UserId) -> Result<bool> {
    let now = tx.now();
    let Some(active_at) = store::active_at(tx, user, terms.away_since_before(now))? else {
        return Ok(false);
    };
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
        store::note_inactive(tx, user, active_at)?;
    }
    Ok(queued)
}
