//! The partner hub of a person's panel: the person's tokens and connected apps,
//! their usage, and first calls to try.

mod pages;
pub mod views;

pub use pages::{create, disconnect, hub, narrow, reset, revoke, widen};

/// Most tokens of an account that are not revoked.
pub const MOST_TOKENS: u64 = 20;
