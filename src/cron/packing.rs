//! Old entries of logs are packed into batches, piece by piece. They are read and
//! compressed outside the writer.

use super::archive::{Batch, LOGS, Log, is_full, oldest};
use super::{Report, TaskContext, TaskResult, rules};
use crate::app::App;
use crate::base::Instant;
use crate::db::{Lane, ReadTx, Result};

/// The periodic task `arquivamento`: packs entries that are old enough.
pub fn pack(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    // Entries still in memory may belong to a day that is over.
    app.health.requests.flush(&app.db)?;
    for log in LOGS {
        let old = rules::old_before(app.zone(), context.now, log.keep.days);
        pack_while(app, log, context, report, |_| Ok(Some(old)))?;
    }
    Ok(())
}

/// The periodic task `limite_registros`: packs the entries above a log's limit,
/// whatever their age.
pub fn pack_overflow(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    for log in LOGS.iter().filter(|log| log.most.is_some()) {
        pack_while(app, log, context, report, |tx| {
            Ok(is_full(tx, log)?.then_some(Instant(i64::MAX)))
        })?;
    }
    Ok(())
}

/// Packs the oldest entries of a log, piece by piece. `before` returns the
/// instant before which entries are packed, or `None` to stop.
fn pack_while(
    app: &App,
    log: &'static Log,
    context: &TaskContext<'_>,
    report: &mut Report,
    before: impl Fn(&ReadTx<'_>) -> Result<Option<Instant>>,
) -> TaskResult {
    while !context.is_time_over() {
        let zone = app.zone();
        let piece = app.db.read(Lane::Slow, |tx| match before(tx)? {
            Some(before) => oldest(tx, log, before, zone),
            None => Ok(None),
        })?;
        let Some(piece) = piece else { break };
        let (entries, batch) = (piece.entries.len(), Batch::of(log, piece)?);
        app.db.write_piece(move |tx| batch.store(tx))?;
        report.add_archived(entries);
    }
    Ok(())
}
