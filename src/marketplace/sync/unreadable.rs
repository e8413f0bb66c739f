//! Unreadable records in lists. They are skipped, so that the others are still
//! read, and put into the inbox under their id. There they are fetched alone,
//! for days, and the operator sees them. Decisions sync-7, sync-8.

use super::StepContext;
use crate::db::DbError;
use crate::marketplace::books::document::UnreadableRecord;
use crate::marketplace::inbox::store::store_unreadable;
use crate::marketplace::kinds::RecordKind;

/// The records that can be read. Numbers of the others are added to
/// `unreadable`.
pub fn take_readable<T>(
    reading: &StepContext<'_>,
    kind: RecordKind,
    records: Vec<Result<T, UnreadableRecord>>,
    unreadable: &mut Vec<i64>,
) -> Vec<T> {
    let account = reading.account.ml_user_id;
    let mut found = Vec::with_capacity(records.len());
    for record in records {
        match record {
            Ok(record) => found.push(record),
            Err(error) => {
                tracing::warn!(ml_user_id = account.0, kind = kind.name(), id = error.id, %error, "a record was passed over");
                unreadable.extend(error.id);
            }
        }
    }
    found
}

/// Has records fetched alone.
pub fn queue_unreadable(
    reading: &StepContext<'_>,
    kind: RecordKind,
    unreadable: Vec<i64>,
) -> Result<(), DbError> {
    if unreadable.is_empty() {
        return Ok(());
    }
    let bell = reading.app.marketplace.bell.clone();
    reading.write(move |tx, account, _| {
        for id in unreadable {
            store_unreadable(tx, account.ml_user_id, kind, id)?;
        }
        tx.after_commit(move || bell.ring());
        Ok(())
    })
}
