//! API keys and what they open.

pub mod allowed; // API keys: what they allow, from where, how often and until when.
pub mod integration; // What integrations do with a key, and what suspension ends.
pub mod pages; // API keys in the panel: made, shown once, exchanged, revoked.
pub mod upkeep; // What a key of the operator allows: copies and metrics.
