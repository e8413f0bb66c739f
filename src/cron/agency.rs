//! Periodic tasks of the agency: its clients are read in cycles of five, and
//! each account is checked every six hours.

use super::{Outcome, Report, Turn};
use crate::agency::checkup::EVERY_S;
use crate::agency::cycle::{self, ClientSelection};
use crate::agency::overhaul;
use crate::app::App;

/// Reads five clients. A run by the internal tick takes only clients that are
/// due; a requested run takes those that have waited longest.
pub fn read(app: &App, turn: &Turn<'_>, report: &mut Report) -> Outcome {
    let selection = if turn.is_asked { ClientSelection::Oldest } else { ClientSelection::Due };
    if let Some(cycle) = cycle::run(app, selection)? {
        report.add_agency(cycle.synced, cycle.errors);
    }
    Ok(())
}

/// Checks the accounts whose last check was at least six hours ago.
pub fn check(app: &App, turn: &Turn<'_>, report: &mut Report) -> Outcome {
    let tally = overhaul::run(app, turn.now.minus(EVERY_S), &|| turn.is_over())?;
    report.add_checkup(tally.looked_at, tally.ready);
    Ok(())
}
