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
mod store;
mod subject;
mod sweeps;
mod tables;
#[cfg(test)]
mod tests;
mod trail;
pub mod views;
mod words;

pub use store::{by_email, by_id};

use crate::base::UserId;

/// The person whom an export is about.
pub struct Owner {
    pub id: UserId,
    pub email: String,
}
