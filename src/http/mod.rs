//! HTTP/1.1 on plain hyper: the parts that belong to no domain.
//!
//! How a request passes through these files: [`server`] accepts and counts
//! connections, [`connection`] rejects heads that [`head`] finds badly framed before
//! hyper sees them, [`addresses`] has the hosts that we answer for, [`router`]
//! finds the row, [`limit`] counts, [`request`] is what handlers read,
//! [`reply`] and [`problem`] are what they return. The order of the steps is in
//! `edge/mod.rs`.

pub mod addresses;
pub mod assets;
pub mod body;
pub mod budget;
mod check;
pub mod conditional;
pub mod connection;
pub mod cors;
pub mod envelope;
pub mod events;
mod field;
#[cfg(test)]
mod fuzz;
pub mod head;
pub mod input;
pub mod intake;
mod io;
pub mod job;
pub mod limit;
pub mod pack;
mod parameter;
pub mod policy;
pub mod problem;
mod rate_class;
pub mod reply;
pub mod request;
pub mod router;
pub mod schema;
pub mod sending;
pub mod server;
pub mod structure;
mod text_field;
pub mod tls;
pub mod upload;

pub use body::Body;
pub use input::{Check, Field, RowNumber};
pub use problem::{Code, Family, Fields, ForPeople, Problem};
pub use reply::Reply;
pub use request::Request;
