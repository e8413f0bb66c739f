//! The agency: a team that looks after many sellers' accounts from one place.
//!
//! A **client** has accounts. An account stays its owner's, whose books hold
//! what is read of it; `agency_account` says that the agency looks after it,
//! and for whom. It leaves with its link, and everything that the agency knew
//! of it goes with it. A client that is no student links accounts through an
//! invitation; they belong to an empty shell of `user`, which nobody can enter.
//!
//! Whoever may use the agency's pages sees all clients: each query asks
//! whether an account is the agency's, and nothing else of the platform can be
//! reached from here.

pub mod charts;
pub mod checkup;
pub mod clients;
pub mod cycle;
pub mod days;
pub mod invites;
pub mod labels;
pub mod leaving;
pub mod overhaul;
pub mod pages;
pub mod questions;
pub mod report;
#[cfg(test)]
pub mod samples;
pub mod store;
pub mod told;
pub mod views;

use crate::audit::Act;

/// The page of the clients.
pub const CLIENTS: &str = "/admin/agencia/clientes";

/// The page of one client.
pub fn page_of(client: i64) -> String {
    format!("{CLIENTS}/{client}")
}

/// What was done to a client, by number and name.
pub fn act<'n>(action: &'static str, (client, name): (i64, &'n str)) -> Act<'n> {
    Act { action, object: "cliente", object_id: client.to_string(), object_name: name }
}
