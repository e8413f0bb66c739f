//! The request log: what was requested, by whom, and the response.
//!
//! Up to a rate per second all responses are logged, above it a sample
//! (`recorder.rs`). A request that is not logged costs one or two atomic
//! operations. Entries wait in memory for about a second at most and are then
//! written together with the counters (`behind.rs`). Queries, bodies and
//! credentials are never logged.

pub mod follow;
mod masked;
pub mod pages;
mod recorder;
pub mod store;
pub mod views;

use std::net::IpAddr;

use crate::base::Instant;

pub use masked::is_secret;
pub use recorder::Recorder;

/// Most entries of the log. The oldest above this are archived early.
pub const MOST_ENTRIES: i64 = 1_000_000;
/// At this size the log takes no more entries, in case archiving does not run.
pub const FULL: i64 = MOST_ENTRIES + MOST_ENTRIES / 4;

/// An entry of the log: one response.
#[derive(Clone, Debug)]
pub struct RequestEntry {
    pub at: Instant,
    pub request_id: String,
    /// Empty when what arrived was not a valid request.
    pub method: String,
    /// Without the query, shortened; the route's pattern when a part is secret, and
    /// without segments that look secret (`masked.rs`).
    pub path: String,
    pub status: u16,
    /// Time until the headers of the response, in microseconds.
    pub us: i64,
    pub caller: Caller,
    pub address: Option<IpAddr>,
    /// How many responses the entry represents.
    pub sampled: u32,
}

/// The caller, as far as the guard identified it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The stored word; empty for an unknown caller.
    pub kind: &'static str,
    /// Number of the person or the key.
    pub id: Option<i64>,
}

impl Caller {
    /// Converts the result of a guard to the stored form.
    pub fn of(who: Option<(&'static str, i64)>) -> Self {
        let Some((guard, id)) = who else {
            return Self::default();
        };
        let kind = match guard {
            "session" => "sessao",
            "extension" => "extensao",
            "partner" => "parceiro",
            "key" => "chave",
            _ => "segredo",
        };
        Self { kind, id: (id != 0).then_some(id) }
    }
}
