//! Ends access that was not paid for (`checkout/sweep.rs` decides whose).

use super::{Report, TaskContext, TaskResult};
use crate::accounts::students::AccountServices;
use crate::app::App;
use crate::checkout::sweep::sweep;

/// The periodic task `pagamentos`.
pub fn end(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let grace_days = app.config.checkout.late_grace_days;
    while !context.is_time_over() {
        let services = AccountServices::of(app);
        let ended = app.db.write_piece(move |tx| sweep(tx, &services, grace_days))?;
        report.add_suspended(ended);
        if ended == 0 {
            break;
        }
    }
    Ok(())
}
