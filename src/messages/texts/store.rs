//! Texts that staff has changed, in the database.

use super::Template;
use crate::base::Instant;
use crate::db::{ReadTx, Result, WriteTx};
use crate::outbox::MessageKind;

/// What staff wrote for a kind of message, and when.
pub fn changed(tx: &ReadTx<'_>, kind: MessageKind) -> Result<Option<(Template, Instant)>> {
    let sql = "SELECT subject, body, changed_at FROM message_text WHERE kind = ?1";
    let found: Option<(String, String, Instant)> = tx.tuple(sql, [kind.name()])?;
    Ok(found.map(|(subject, body, changed_at)| (Template { subject, body }, changed_at)))
}

/// Stores a text that replaces the default.
pub fn set(tx: &WriteTx<'_>, kind: MessageKind, template: &Template) -> Result<()> {
    tx.run(
        "INSERT INTO message_text (kind, subject, body, changed_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind) DO UPDATE SET subject = ?2, body = ?3, changed_at = ?4",
        (kind.name(), &template.subject, &template.body, tx.now().0),
    )
}

/// Resets a text to the default; false when it was not changed.
pub fn reset(tx: &WriteTx<'_>, kind: MessageKind) -> Result<bool> {
    let removed = tx.execute("DELETE FROM message_text WHERE kind = ?1", [kind.name()])?;
    Ok(removed == 1)
}
