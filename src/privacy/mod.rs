//! What is kept about a person: all of it as a file for them, and its erasure.
//!
//! `tables.rs` says of every table what of it belongs to a person: a test fails
//! for a table that it does not name. `export.rs` writes the file, `erase.rs`
//! removes who is known by `subject.rs`: `sweeps.rs` takes them out of texts of others,
//! which `words.rs` finds, `trail.rs` out of the audit log, `logs.rs` out of the log of
//! requests. `ledger.rs` notes who was erased, also for copies of before.

pub mod erase;
pub mod export;
pub mod ledger;
pub mod logs;
pub mod pages;
pub mod retention;
mod subject;
mod sweeps;
mod tables;
#[cfg(test)]
mod tests;
mod trail;
pub mod views;
mod words;

use crate::base::UserId;
use crate::db::{ReadTx, Result};

/// The person whom an export is about.
pub struct Owner {
    pub id: UserId,
    pub email: String,
}

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
