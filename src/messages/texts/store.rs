//! Texts that staff has changed, in the database.

use super::Template;
use crate::base::clock::Instant;
use crate::db::{ReadTx, Result, WriteTx};
use crate::outbox::MessageKind;

/// What staff wrote for a kind of message, and when.
pub fn changed(tx: &ReadTx<'_>, kind: MessageKind) -> Result<Option<(Template, Instant)>> {
    tx.optional(
        "SELECT subject, body, changed_at FROM message_text WHERE kind = ?1",
        [kind.name()],
        |row| {
            let template = Template { subject: row.get(0)?, body: row.get(1)? };
            Ok((template, row.get(2)?))
        },
    )
}

/// Puts a text in the place of the one that ships.
pub fn set(tx: &WriteTx<'_>, kind: MessageKind, template: &Template) -> Result<()> {
    tx.execute(
        "INSERT INTO message_text (kind, subject, body, changed_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind) DO UPDATE SET subject = ?2, body = ?3, changed_at = ?4",
        (kind.name(), &template.subject, &template.body, tx.now().0),
    )?;
    Ok(())
}

/// Goes back to the text that ships; false when it was not changed.
pub fn reset(tx: &WriteTx<'_>, kind: MessageKind) -> Result<bool> {
    let removed = tx.execute("DELETE FROM message_text WHERE kind = ?1", [kind.name()])?;
    Ok(removed == 1)
}
