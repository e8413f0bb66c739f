//! API keys and what they open.

mod allowed; // API keys: what they allow, from where, how often and until when.
mod integration; // What integrations do with a key, and what suspension ends.
mod pages; // API keys in the panel: made, shown once, exchanged, revoked.
mod upkeep; // What a key of the operator allows: copies and metrics.
