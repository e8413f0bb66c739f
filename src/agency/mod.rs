//! The agency: a team that looks after many sellers' accounts from one place.
//!
//! A **client** has accounts. An account still belongs to its owner, and what
//! is read from it is stored in the owner's books. A row of `agency_account`
//! says that the agency looks after the account, and for which client. When the
//! account is unlinked, this row is deleted with everything that the agency
//! stored about the account. A client that is not a student links accounts
//! through an invitation. They belong to the client's **shell**, an empty row
//! of `user` that nobody can sign in to.
//!
//! Everybody who may use the agency's pages sees all clients. Each query checks
//! that an account is the agency's, and nothing else of the platform can be
//! reached from here.

pub mod charts;
pub mod checkup;
pub mod clients;
pub mod cycle;
pub mod days;
pub mod invites;
pub mod notifications;
pub mod open;
pub mod overhaul;
pub mod pages;
pub mod questions;
pub mod store;
pub mod things;
pub mod views;

use crate::audit::Act;
use crate::audit::objects::CLIENT;

/// The page of the clients.
pub const CLIENTS: &str = CLIENT.list;

pub fn page_of(client: i64) -> String {
    format!("{CLIENTS}/{client}")
}

pub fn claim_page(client: i64, claim: i64) -> String {
    format!("{CLIENTS}/{client}/reclamacoes/{claim}")
}

/// The audit log entry for an action on a client, given by number and name.
pub fn act<'n>(action: &'static str, client: i64, name: &'n str) -> Act<'n> {
    CLIENT.act(action, client, name)
}
