//! Tasks whose rules are in other rooms: who has not paid (`checkout/sweep.rs`), what
//! waits to be sent, and the accounts of the agency.

use super::{Report, TaskContext, TaskResult};
use crate::agency::checkup::EVERY_S;
use crate::agency::cycle::{self, ClientSelection};
use crate::agency::overhaul;
use crate::app::App;
use crate::checkout::sweep::sweep;
use crate::messages::delivery::send_due;
use crate::outbox::Channel;

/// The periodic task `pagamentos`.
pub fn end_unpaid(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let grace_days = app.config.checkout.late_grace_days;
    while !context.is_time_over() {
        let ended = app.db.write_piece(move |tx| sweep(tx, grace_days))?;
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
