//! What changed at the marketplace is read (`marketplace/sync/` says how).

use super::{Outcome, Report, Turn};
use crate::app::App;
use crate::marketplace::sync;

/// The task.
pub fn read(app: &App, turn: &Turn<'_>, report: &mut Report) -> Outcome {
    report.add_sync(sync::sweep(app, &|| turn.is_over())?);
    Ok(())
}
