//! People in the operator's panel: students on one list, suppliers and staff
//! on another.
//!
//! What happens to a person is in `accounts::students`, for all callers; here
//! is what the panel shows and reads. At least one person must always be able
//! to administer: the last administrator who can sign in is neither suspended
//! nor demoted nor removed.

pub mod entry;
mod granting;
pub mod import;
pub mod pages;
pub mod store;
mod timeline;
pub mod told;
pub mod views;

use crate::accounts::person::{Group, Listed};
use crate::base::UserId;
use crate::db::ReadTx;
use crate::http::Problem;

/// The person that an address names; not found when the person is of the other
/// group.
pub fn find(tx: &ReadTx<'_>, group: Group, id: UserId) -> Result<Listed, Problem> {
    store::person(tx, id)?
        .filter(|person| Group::of(person.entry.papel) == group)
        .ok_or_else(Problem::not_found)
}
