//! Periodic tasks of the agency: its clients are read in cycles of five, and
//! each account is checked every six hours.

use super::{Report, TaskContext, TaskResult};
use crate::agency::checkup::EVERY_S;
use crate::agency::cycle::{self, ClientSelection};
use crate::agency::overhaul;
use crate::app::App;

/// Reads five clients. A run by the internal tick takes only clients that are
/// due; a requested run takes those that have waited longest.
pub fn read(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let selection = if context.is_asked { ClientSelection::Oldest } else { ClientSelection::Due };
    if let Some(cycle) = cycle::run(app, selection)? {
        report.add_agency(cycle.synced, cycle.errors);
    }
    Ok(())
}

/// Checks the accounts whose last check was at least six hours ago.
pub fn check(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    let tally = overhaul::run(app, context.now.minus(EVERY_S), &|| context.is_time_over())?;
    report.add_checkup(tally.looked_at, tally.ready);
    Ok(())
}
