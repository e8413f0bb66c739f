//! What changed at the marketplace (`marketplace/sync/`), and the notifications of it that
//! did not arrive.

use super::mark::{self, Mark};
use super::{Report, TaskContext, TaskResult};
use crate::app::App;
use crate::base::{DAY_S, Instant};
use crate::db::{DbError, Lane};
use crate::marketplace::sync::{self, missed};

/// The position of this mark is the time of the next request for missed
/// notifications.
const MARK: &str = "ml_perdidas";
/// Accounts whose orders a requested run reads before their turn. The number is
/// fixed, because a scheduler may request a run every minute.
const HURRIED: u32 = 5;
/// Seconds between two requests for missed notifications, and after no account
/// was allowed to ask.
const LOOK_S: i64 = 900;
const REFUSED_S: i64 = 6 * 3600;

/// The periodic task `ml_sync`.
pub fn read(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let missed = receive_missed(app, context);
    if context.is_asked {
        sync::hurry(app, HURRIED)?;
    }
    let counts = sync::sweep(app, &|| context.is_time_over())?;
    report.ml_sync.contas += counts.accounts;
    report.ml_sync.vendas_novas += counts.sales;
    report.ml_sync.erros += counts.errors;
    Ok(missed?)
}

fn receive_missed(app: &App, context: &TaskContext<'_>) -> Result<(), DbError> {
    let next_at = app.db.read(Lane::Slow, |tx| mark::of(tx, MARK))?.position;
    // A time further ahead than the longest pause means that the clock was set
    // back. Then do not wait, nor for the long pause of before a start: the pages say
    // whether an account may ask.
    let longest_s = app.marketplace.last_missed.get().map_or(LOOK_S, |_| REFUSED_S);
    if (1..=longest_s).contains(&(next_at - context.now.0)) {
        return Ok(());
    }
    let pause_s = match missed::receive(app, &|| context.is_time_over())? {
        missed::MissedOutcome::Received(new) => {
            if new > 0 {
                tracing::info!(new, "notifications that were missed are received");
            }
            LOOK_S
        }
        missed::MissedOutcome::NobodyLinked => return Ok(()),
        missed::MissedOutcome::Unavailable => LOOK_S,
        missed::MissedOutcome::Refused => REFUSED_S,
    };
    let next: Instant = context.now.plus(pause_s);
    let mark = Mark { position: next.0, done: false };
    app.db.write(move |tx| mark::set(tx, MARK, mark, next.plus(DAY_S)))
}
