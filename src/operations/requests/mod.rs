//! The log of requests: what was asked, by whom, how it was answered.
//!
//! Every answer is kept up to a rate a second, and a sample above it
//! (`recorder.rs`); a request that is not kept costs an atomic or two. What is
//! kept waits in memory for at most about a second and is then written with
//! the counters (`behind.rs`). Queries, bodies and credentials are never kept.

pub mod pages;
mod recorder;
pub mod store;
pub mod views;

use std::net::IpAddr;

use crate::base::Instant;

pub use recorder::Recorder;

/// Entries that the log holds; what is above is packed before its time.
pub const MOST_ENTRIES: i64 = 1_000_000;
/// Entries at which nothing more is taken, for when nobody packs.
pub const FULL: i64 = MOST_ENTRIES + MOST_ENTRIES / 4;

/// An answer that is kept.
#[derive(Clone, Debug)]
pub struct Entry {
    pub at: Instant,
    pub request_id: String,
    /// Empty for what was no request.
    pub method: String,
    /// Without the query, cut; the pattern of its row where a part is secret.
    pub path: String,
    pub status: u16,
    /// Until the headers of the answer, in microseconds.
    pub us: i64,
    pub caller: Caller,
    pub address: Option<IpAddr>,
    /// How many answers it stands for.
    pub sampled: u32,
}

/// Who asked, as far as the guard could tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// As it is stored; empty when nobody was known.
    pub kind: &'static str,
    /// Number of the person or the key.
    pub id: Option<i64>,
}

impl Caller {
    /// What a guard says of the caller, as it is stored.
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
