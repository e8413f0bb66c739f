//! Tasks whose rules are in other rooms: who has not paid (`checkout/sweep.rs`), what
//! waits to be sent, what changed at the marketplace (`marketplace/sync/`), and the
//! accounts of the agency.

use super::mark::{self, Mark};
use super::{Report, TaskContext, TaskResult};
use crate::accounts::students::AccountServices;
use crate::agency::checkup::EVERY_S;
use crate::agency::cycle::{self, ClientSelection};
use crate::agency::overhaul;
use crate::app::App;
use crate::base::{DAY_S, Instant};
use crate::checkout::sweep::sweep;
use crate::db::{DbError, Lane};
use crate::marketplace::sync::{self, missed};
use crate::messages::delivery::send_due;
use crate::outbox::Channel;

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
pub fn read_marketplace(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
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
    // back. Then do not wait.
    if (1..=REFUSED_S).contains(&(next_at - context.now.0)) {
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

/// The periodic task `pagamentos`.
pub fn end_unpaid(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let grace_days = app.config.checkout.late_grace_days;
    while !context.is_time_over() {
        let services = AccountServices::of(app);
        let ended = app.db.write_piece(move |tx| sweep(tx, &services, grace_days))?;
        report.suspended += ended;
        if ended == 0 {
            break;
        }
    }
    Ok(())
}

/// The periodic task `mensagens`.
pub fn send_messages(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    for (channel, counts) in send_due(app, || context.is_time_over()) {
        if channel == Channel::Chat {
            report.chat_enviados += counts.sent;
            report.chat_erros += counts.failed;
            report.chat_ignorados += counts.dropped;
        }
    }
    Ok(())
}

/// Reads five clients. A run by the internal tick takes only clients that are
/// due; a requested run takes those that have waited longest.
pub fn read_agency(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let selection = if context.is_asked { ClientSelection::Oldest } else { ClientSelection::Due };
    if let Some(cycle) = cycle::run(app, selection)? {
        report.agencia_sync.sincronizados += cycle.synced;
        report.agencia_sync.erros += cycle.errors;
    }
    Ok(())
}

/// Checks the accounts whose last check was at least six hours ago.
pub fn check_agency(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let tally = overhaul::run(app, context.now.minus(EVERY_S), &|| context.is_time_over())?;
    let counts = &mut report.checkup_agencia;
    counts.verificados += tally.looked_at;
    counts.prontos += tally.ready;
    counts.pendentes += tally.looked_at - tally.ready;
    Ok(())
}
