//! Whom an export is about, in the database.

use super::Owner;
use crate::base::UserId;
use crate::db::{ReadTx, Result};

/// A person, unless they are removed.
pub fn by_id(tx: &ReadTx<'_>, id: UserId) -> Result<Option<Owner>> {
    let email =
        tx.maybe("SELECT email FROM user WHERE user_id = ?1 AND removed_at IS NULL", [id])?;
    Ok(email.map(|email| Owner { id, email }))
}

/// The person of an e-mail address, unless they are removed.
pub fn by_email(tx: &ReadTx<'_>, email: &str) -> Result<Option<Owner>> {
    let id =
        tx.maybe("SELECT user_id FROM user WHERE email = ?1 AND removed_at IS NULL", [email])?;
    Ok(id.map(|id| Owner { id: UserId(id), email: email.to_owned() }))
}
