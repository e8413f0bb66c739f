//! What the operator sees of the running service.

pub mod home; // The operator's home: open problems, and the verdict.
pub mod inside; // The service from inside: diagnostics, requests followed, figures, bundles.
pub mod requests; // The log of requests: who requested what, and what is never stored.
pub mod watchdog; // What a supervisor hears of the server.
