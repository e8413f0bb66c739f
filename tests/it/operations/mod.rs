//! What the operator sees of the running service.

mod home; // The operator's home: open problems, and the verdict.
mod inside; // The service from inside: diagnostics, requests followed, figures, bundles.
mod requests; // The log of requests: who requested what, and what is never stored.
mod watchdog; // What a supervisor hears of the server.
